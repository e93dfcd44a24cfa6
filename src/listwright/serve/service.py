"""The running service: owns all parts and defines the order in which they start and stop."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from sqlalchemy import Connection, delete, insert
from sqlalchemy.exc import SQLAlchemyError

from listwright._internal.files import read_finite
from listwright.errors import InputError
from listwright.serve import messages
from listwright.serve.guard import Lane
from listwright.serve.learning.control import CandidateTrial, Command, act, export, prepare
from listwright.serve.learning.learner import warm_up
from listwright.serve.learning.updater import Updater, learner_maker
from listwright.serve.metrics import Metrics
from listwright.serve.models import registry
from listwright.serve.models.building import Built, Gathering, Pool, Shadows, build, build_together
from listwright.serve.models.details import answered_lists, comparable_versions, compare_versions, shown_items
from listwright.serve.models.passages import Packing
from listwright.serve.models.version import BYTES_PER_CANDIDATE, BYTES_PER_NUMBER, ModelLoader
from listwright.serve.refusals import Refused, check_affordable, invalid, unavailable
from listwright.serve.settings import Settings
from listwright.serve.store.database import Database, cause_of, clock_of, opening
from listwright.serve.store.journal import BATCH, NewLists, Old, add_feedback, add_lists, each, forget, give_space_back
from listwright.serve.store.records import FeedbackEvent, PackedContext, ShownList, add_contexts
from listwright.serve.store.schema import probes
from listwright.serve.store.writer import MOST, Writer

T = TypeVar("T")
RECENT = 5_000  # lists that are remembered for their feedback
FORGET = 60.0  # seconds between two looks for old lists
SLACK = 3_600.0  # seconds by which the database's clock may run ahead of ours
DAY = 86_400.0
QUICK = 0.002  # seconds of a list that is built without another thread, which would cost more than it brings
FOLLOW = 0.5  # seconds between two looks at what other replicas did
GARBAGE = 20_000  # new objects until Python looks for cycles among them: a request has hundreds, and no cycles
GROUP_SECONDS = 0.05  # until lists are stored that were answered before
PROBE = 1.0  # seconds for which a write that succeeded is taken to hold
log = logging.getLogger("listwright.serve")


class Service:
    """All parts of one running service; what is wrong with files and store surfaces before the event loop runs."""

    writer: Writer  # group-commits all writes of this process; created by `start`
    calls: Lane  # requests being answered; set by `create_app`

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self.settings, self.metrics, self.limits = settings, metrics, settings.limits
        self.files = {messages.DEFAULT: settings.model, **settings.models} if settings.model else dict(settings.models)
        self.contents = {name: _read(path) for name, path in self.files.items()}
        self.database = Database.of(settings.store, password=_password(settings), seconds=self.limits.store_seconds)
        mixes_slots = settings.candidate is not None and settings.candidate_by == "slots"
        self.registry = registry.ModelRegistry(self.database.reading, _loader(settings), mixes_slots=mixes_slots)
        for name, file in self.contents.items():
            self.registry.check_file(name, file)
        self.packing = Packing(settings.packer, settings.tokens, self.limits)
        self.database.open()  # last of what can fail, so that nothing is left open
        if settings.version is not None:
            self._check_version(settings.version)
        cores = os.cpu_count() or 1
        self.building, self.reads = Pool("building", cores, 64), Pool("reading", 4, 64)
        self.background, self.following = Pool("background", 2, 16), Pool("following", 1, 4)
        self.gathering = Gathering(self.building, lambda some: build_together(some, self.registry, self.limits))
        self.updater: Updater | None = None
        self.shadows = Shadows(self)
        self.recent: OrderedDict[str, ShownList] = OrderedDict()
        self.replica = 1 + secrets.randbelow(2**31 - 1)  # whose rows count the lists of this process
        self.tasks: list[asyncio.Task[None]] = []
        self.deploying = asyncio.Lock()
        self.draining = False
        self.failure: str | None = None  # why it could not start
        self.probed = -PROBE

    async def start(self) -> None:
        """Deploy the models given, load what serves, compile kernels and begin the background tasks."""
        self.writer = Writer(self.database.writing, self.metrics.of_group, self.metrics.store_failures.inc)
        for start in self._starts():
            with opening():
                self._log_start(start, await self.writer.write(registry.start_models, start))
        with opening():
            await self.background.run(self.registry.follow)
        if not self.registry.traffic and self.settings.packer is None:
            raise InputError("The store has no model yet. Pass a model file.")
        for version in tuple(self.registry.loaded.values()):
            await self.background.run(warm_up, version, self.registry, self.limits)
        await self.background.run(self.packing.warm_up)
        gc.collect()
        gc.freeze()  # what is there now stays: looking through it again and again would hold up requests
        gc.set_threshold(GARBAGE)
        self.tasks.append(asyncio.create_task(self._follow()))
        if self.settings.learn:
            self.updater = Updater(self.database.reading, self.writer, self.registry, self.metrics, self.settings)
        if self.settings.candidate is not None:
            trial = CandidateTrial(self, self.contents[self.settings.candidate])
            self.tasks.append(asyncio.create_task(trial.run()))
        if self.settings.keep_days is not None or self.settings.keep_gb is not None:
            self.tasks.append(asyncio.create_task(self._forget()))

    def _check_version(self, number: int) -> None:
        with opening(), self.database.reading.connect() as connection:
            refused = registry.check_stored(connection, number, messages.DEFAULT)
        if refused is not None:
            self.database.close()
            raise InputError(refused.message)

    def _starts(self) -> list[registry.ModelStart]:
        version, deploying = self.settings.version, self.settings.deploy
        starts = [registry.ModelStart(name, file, None, deploying) for name, file in self.contents.items()]
        if version is not None:
            default = registry.ModelStart(messages.DEFAULT, self.contents.get(messages.DEFAULT), version, deploying)
            starts = [*(start for start in starts if start.name != messages.DEFAULT), default]
        return starts

    def _log_start(self, start: registry.ModelStart, result: registry.StartResult) -> None:
        current = result.traffic.current
        if result.deployed:
            log.info("deployed", extra={"model": start.name, "version": current})
        elif result.given is not None and result.given != current:
            advice = "Pass --deploy to serve the file."
            log.warning(
                "serving stored version %d, not the file, which is version %d. %s", current, result.given, advice
            )

    async def stop(self) -> None:
        for task in self.tasks:
            task.cancel()
        if self.updater is not None:
            await asyncio.to_thread(self.updater.stop)
        if hasattr(self, "writer"):
            await asyncio.to_thread(self.writer.stop)
        for pool in (self.building, self.reads, self.background, self.following):
            pool.stop()
        self.database.close()

    async def lists(self, queries: list[messages.ListQuery], *, batch: bool) -> list[messages.ListAnswer]:
        try:
            built = await self._build(queries, batch=batch)
        except Refused as refused:
            if refused.code == "out_of_range":
                self.metrics.out_of_range.labels("", "refused").inc()
            raise
        del queries  # which may be large, and are not needed while the list is being stored
        await self._store(NewLists([new.served for new in built], self.replica))
        for new in built:
            self._note(new)
        return [new.answer for new in built]

    async def _store(self, new: NewLists) -> None:
        """Store lists, at once or with others; while others wait long or fail, each is stored before its answer."""
        writer = self.writer
        if self.settings.commit == "each" or writer.failure is not None or len(writer.jobs) >= MOST:
            await writer.write(add_lists, new)
        else:
            writer.submit(add_lists, new, within=GROUP_SECONDS).add_done_callback(_log_loss)

    async def _build(self, queries: list[messages.ListQuery], *, batch: bool) -> list[Built]:
        seconds = self._check_budget(queries)
        if batch:
            return await self.building.run(self._build_all, queries, monotonic() + self.limits.seconds)
        return [await self.gathering.build(queries[0], here=seconds < QUICK)]

    def _check_budget(self, queries: list[messages.ListQuery]) -> float:
        """Return the seconds that lists are expected to take; refuses what takes more than one request may."""
        seconds = 0.0
        for query in queries:
            version = self.registry.loaded[self.registry.of(query.model).current]
            seconds += version.cost.expected_seconds(version.work(query))
        memory = sum(BYTES_PER_NUMBER * query.numbers + BYTES_PER_CANDIDATE * len(query.ids) for query in queries)
        check_affordable(seconds, memory, self.limits, "Send fewer candidates, or ask for shorter lists.")
        return seconds

    def _build_all(self, queries: list[messages.ListQuery], deadline: float) -> list[Built]:
        built = []
        for i, query in enumerate(queries):
            if monotonic() > deadline:  # nobody waits any more
                raise unavailable("The request took too long. Send a smaller one.")
            built.append(build(query, self.registry, self.limits, f"lists.{i}."))
        return built

    def _note(self, built: Built) -> None:
        served = built.served
        self._remember(served.id, ShownList(served.version, served.created, served.items))
        self.metrics.lists.labels(served.version).inc()
        if built.answer.clipped:
            self.metrics.out_of_range.labels(served.version, "clipped").inc()
        if built.fell_back:
            self.metrics.fallbacks.labels(served.version).inc()
        self.shadows.offer(built)

    def _remember(self, list_id: str, shown: ShownList) -> None:
        self.recent[list_id] = shown
        if len(self.recent) > RECENT:
            self.recent.popitem(last=False)

    async def pack(self, work: Callable[[T], tuple[Any, PackedContext]], request: T) -> Any:
        """Pack or rank passages, and store them unless the settings say otherwise; return once they are durable."""
        answer, context = await self.building.run(work, request)
        if not self.settings.forget_passages:
            await self.writer.write(add_contexts, context)
            self._remember(context.id, context.shown_items())
        return answer

    async def feedback(self, sent: messages.FeedbackRequest, source: str = "") -> FeedbackEvent:
        shown = self.recent.get(sent.list_id) or await self.read(shown_items, sent.list_id)
        key, gains = sent.idempotency_key or sent.list_id, _gains(sent, shown.items)
        new = FeedbackEvent(sent.list_id, key, gains, shown.version, source, shown.created)
        event: FeedbackEvent = await self.writer.write(add_feedback, new)
        if not event.duplicate:
            outcome = "success" if any(event.outcome) else "failure"
            self.metrics.feedback.labels(shown.version, outcome).inc()
            self.metrics.events.set(event.number)
        return event

    async def add_model(self, name: str, file: bytes) -> int:
        # The file is opened first, so that one that cannot be served is refused with 422.
        try:
            await self.background.run(self.registry.check_file, name, file)
        except InputError as error:
            raise invalid("body", str(error)) from None
        number: int = await self.writer.write(registry.add_models, registry.NewModel(name, file))
        version = await self.background.run(self.registry.get, number)
        await self.background.run(warm_up, version, self.registry, self.limits)
        return number

    async def delete_model(self, number: int) -> None:
        await self.writer.write(registry.delete_models, number)
        await self.background.run(self.registry.follow)

    async def deploy(self, traffic: messages.Traffic) -> messages.Traffic:
        async with self.deploying:
            await self.background.run(self.registry.check, traffic)
            await self.writer.write(registry.deploy, traffic)
            await self.background.run(self.registry.follow)
        return traffic

    async def roll_back(self, name: str | None) -> messages.Traffic:
        current = self.registry.default() if name is None else self.registry.of(name)
        return await self.deploy(await self.read(registry.traffic_before, current))

    async def control(self, wanted: messages.LearningRequest) -> None:
        # The policy of a snapshot is prepared before the transaction, so that replicas serve it at once.
        command = Command(wanted.action, wanted.version or self.registry.default().current, wanted.snapshot)
        await self.writer.write(act, await self.read(prepare, self.registry, command))
        await self.background.run(self.registry.follow)
        log.info("learning: %s", wanted.action, extra={"version": command.version})

    async def export(self, wanted: messages.LearningRequest) -> bytes:
        return await self.read(
            export, self.registry, wanted.version or self.registry.default().current, wanted.snapshot
        )

    async def compare(self, new: int, old: int, most: int) -> messages.VersionComparison:
        versions = await self.background.run(comparable_versions, self.registry, new, old)
        rows = await self.read(answered_lists, (new, old), most, self.limits.memory_bytes)
        return await self.background.run(compare_versions, versions, rows)

    def feature_names(self) -> tuple[str, ...] | None:
        version = self.registry.loaded.get(self.registry.default().current) if self.registry.traffic else None
        return None if version is None else version.shape.signature.feature_names

    async def read(self, question: Any, *arguments: Any) -> Any:
        return await self.reads.run(self._read, question, *arguments)

    def _read(self, question: Any, *arguments: Any) -> Any:
        try:
            with self.database.reading.connect() as connection:
                return question(connection, *arguments)
        except SQLAlchemyError as error:
            cause = cause_of(error) if hasattr(error, "orig") else type(error).__name__  # type: ignore[arg-type]
            log.warning("the store cannot be read", extra={"cause": cause})
            raise unavailable() from None

    async def check_ready(self) -> None:
        # The store is tested by a real write at most once per second, because a full disk or a read-only database still
        # answers queries.
        if self.draining:
            raise unavailable("The service is shutting down.")
        pools = (self.reads.running, self.reads), (self.building.running + len(self.gathering.waiting), self.building)
        if self.calls.is_crowded or any(running >= pool.most for running, pool in pools):
            raise unavailable("There is more to do than the limits allow.")
        if monotonic() - self.probed >= PROBE:
            await self.writer.write(_probe, secrets.token_hex(16))
            self.probed = monotonic()
        if self.updater is not None and self.updater.failure:
            raise unavailable(self.updater.failure)

    async def _follow(self) -> None:
        failed = False
        while True:
            try:
                await self.following.run(self.registry.follow)
                failed = False
            except (SQLAlchemyError, Refused, InputError) as error:
                if not failed:
                    log.warning(
                        "the store cannot be followed", extra={"cause": f"{type(error).__name__}: {error}"[:300]}
                    )
                failed = True
            await asyncio.sleep(FOLLOW)

    async def _forget(self) -> None:
        days, gb = self.settings.keep_days, self.settings.keep_gb
        old = Old(None if days is None else days * DAY, None if gb is None else gb * 1e9, self.settings.learn)
        offset: float | None = None  # of the database's clock at the start; beyond it and `SLACK`, the clock has jumped
        while True:
            deleted = BATCH
            with suppress(Refused, SQLAlchemyError):
                if offset is None:
                    offset = await self.read(clock_of) - monotonic()
                old = old._replace(latest=offset + monotonic() + SLACK)
                while deleted == BATCH:
                    deleted = await self.writer.write(forget, old)
                    if deleted:
                        await self.background.run(give_space_back, self.database)
            await asyncio.sleep(FORGET)


def _log_loss(stored: asyncio.Future[Any]) -> None:
    if not stored.cancelled() and stored.exception() is not None:
        log.error("lists that were answered are not stored", extra={"cause": str(stored.exception())})


@each
def _probe(connection: Connection, name: str) -> None:
    """Write and delete a row as large as a typical list, to test that the store accepts writes."""
    connection.execute(insert(probes), {"id": name, "data": bytes(4096)})
    connection.execute(delete(probes).where(probes.c.id == name))


def _loader(settings: Settings) -> ModelLoader:
    return ModelLoader(
        learner_maker(settings),
        settings.explores,
        settings.tolerance,
        settings.out_of_range == "refuse",
        settings.trust,
    )


def _read(path: Path) -> bytes:
    try:
        return read_finite(path)
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None


def _password(settings: Settings) -> str | None:
    """Return the password of the store, from the file in the settings or from ``LISTWRIGHT_STORE_PASSWORD``."""
    path = settings.store_password_file
    if path is None:
        return os.environ.get("LISTWRIGHT_STORE_PASSWORD")
    try:
        password = _read(path).decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise InputError(f"The password in {path} is not UTF-8 text.") from None
    if not password:
        raise InputError(f"{path} is empty. Write the password of the store into it.")
    return password


def _gains(sent: messages.FeedbackRequest, items: Sequence[str | int]) -> tuple[float, ...]:
    """Return the gain of each item of a list; refuses feedback that does not fit the list."""
    if (sent.clicks is None) == (sent.gains is None):
        raise invalid("body", "Give either clicks or gains.")
    count = len(items)
    if sent.gains is not None:
        if len(sent.gains) != count:
            raise invalid("gains", f"The list has {count} items, so it takes {count} gains.")
        return tuple(sent.gains)
    clicks = sent.clicks or []
    if len(clicks) > count:
        raise invalid("clicks", f"The list has {count} items. Got {len(clicks)} clicks.")
    places = {item: place for place, item in enumerate(items)}
    gains = [0.0] * count
    for i, item in enumerate(clicks):
        if item not in places:
            raise invalid(f"clicks.{i}", "This item is not in the list.")
        gains[places[item]] = 1.0
    return tuple(gains)
