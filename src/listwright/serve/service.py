"""The running service: owns all parts and defines the order in which they start and stop.

Route handlers call `Service` for everything. It builds lists in a thread pool, stores them through the single writer,
reads the store through a pool of readers, and runs the background tasks: following other replicas, learning, and
deleting old lists.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

from sqlalchemy import Connection, delete, insert
from sqlalchemy.exc import SQLAlchemyError

from listwright.errors import InputError
from listwright.serve.learning.control import Command, act, export, prepared
from listwright.serve.learning.updater import Updater, learner_maker
from listwright.serve.learning.warming import warm_up
from listwright.serve.metrics import Metrics
from listwright.serve.models.building import Built, build
from listwright.serve.models.comparing import answered, comparable, compared
from listwright.serve.models.details import Shown, shown
from listwright.serve.models.fleet import ModelRegistry
from listwright.serve.models.opened import Opening
from listwright.serve.models.passages import Packing
from listwright.serve.models.requests import DEFAULT, Asked, FeedbackRequest, LearningRequest, Traffic
from listwright.serve.models.shadow import Shadows
from listwright.serve.models.told import Recent, gains_of
from listwright.serve.models.versions import (
    Begun,
    NewModel,
    Start,
    add_models,
    before,
    begin,
    delete_models,
    deploy,
)
from listwright.serve.pools import Pool
from listwright.serve.refusals import Refused, invalid, unavailable
from listwright.serve.settings import Settings
from listwright.serve.store.database import Database, cause_of, opening
from listwright.serve.store.journal import Noted, Told, add_feedback, add_lists
from listwright.serve.store.retention import EVERY, MOST, Old, forget, give_space_back
from listwright.serve.store.schema import probes
from listwright.serve.store.writer import Writer

DAY = 86_400.0
QUICK = 0.002  # seconds of a list that is built at once: another thread would cost more than it brings
FOLLOW = 0.5  # seconds between two looks at what other replicas did
PROBE = 1.0  # seconds for which a write that succeeded is taken to hold
log = logging.getLogger("listwright.serve")


class Service:
    """All parts of one running service.

    Construction reads the model files and opens the store, so that configuration errors surface before the event loop
    runs. `start` must be awaited before any other method.
    """

    writer: Writer  # group-commits all writes of this process; created by `start`

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        """Read the model files, check that they can be served, and open the store."""
        self.settings, self.metrics, self.limits = settings, metrics, settings.limits
        self.files = {DEFAULT: settings.model, **settings.models} if settings.model else dict(settings.models)
        self.contents = {name: _read(path) for name, path in self.files.items()}
        self.database = Database.of(settings.store, password=_password(settings), seconds=self.limits.store_seconds)
        self.fleet = ModelRegistry(self.database.reading, _opening(settings))
        for name, file in self.contents.items():
            self.fleet.opening.opened(0, name, file)  # an error where it cannot be served
        self.database.open()
        cores = os.cpu_count() or 1
        self.building, self.reads = Pool("building", cores, 64), Pool("reading", 4, 64)
        self.background, self.following = Pool("background", 2, 16), Pool("following", 1, 4)
        self.updater: Updater | None = None
        self.shadows = Shadows(self)
        self.packing = Packing(settings.packer, self.limits)
        self.recent = Recent()
        self.tasks: list[asyncio.Task[None]] = []
        self.deploying = asyncio.Lock()
        self.draining = False
        self.probed = -PROBE

    async def start(self) -> None:
        """Deploy the models given, load what serves, compile kernels and begin the background tasks."""
        self.writer = Writer(self.database.writing, self.metrics.of_group, self.metrics.store_failures.inc)
        for start in self._starts():
            with opening():
                self._tell(start, await self.writer.write(begin, start))
        with opening():
            await self.background.run(self.fleet.follow)
        if not self.fleet.traffic:
            raise InputError("The store has no model yet. Pass a model file.")
        for version in tuple(self.fleet.loaded.values()):
            await self.background.run(warm_up, version, self.fleet, self.settings)
        await self.background.run(self.packing.warm_up)
        gc.collect()
        gc.freeze()  # what is there now stays: looking through it again and again would hold up requests
        self.tasks.append(asyncio.create_task(self._follow()))
        if self.settings.learn:
            self.updater = Updater(
                self.database.reading, self.writer, self.fleet, self.metrics, every=self.settings.snapshot_every
            )
        if self.settings.keep_days is not None or self.settings.keep_gb is not None:
            self.tasks.append(asyncio.create_task(self._forget()))

    def _starts(self) -> list[Start]:
        """Return what to deploy at the start: one entry per model given, and the stored version if one was chosen."""
        version, deploying = self.settings.version, self.settings.deploy
        starts = [Start(name, file, None, deploying) for name, file in self.contents.items()]
        if version is not None:
            starts = [start for start in starts if start.name != DEFAULT]
            starts.append(Start(DEFAULT, self.contents.get(DEFAULT), version, deploying))
        return starts

    def _tell(self, start: Start, begun: Begun) -> None:
        """Log which version a model serves, with a warning where the file given is not the one deployed."""
        current = begun.traffic.current
        told = {"model": start.name, "version": current}
        if begun.deployed:
            log.info("deployed", extra=told)
        elif begun.given is not None and begun.given != current:
            advice = "Pass --deploy to serve the file."
            log.warning(
                "serving stored version %d, not the file, which is version %d. %s", current, begun.given, advice
            )

    async def stop(self) -> None:
        """Stop background tasks, finish learning and writing, then close the store."""
        for task in self.tasks:
            task.cancel()
        if self.updater is not None:
            await asyncio.to_thread(self.updater.stop)
        if hasattr(self, "writer"):
            await asyncio.to_thread(self.writer.stop)
        for pool in (self.building, self.reads, self.background, self.following):
            pool.stop()
        self.database.close()

    async def lists(self, asked: list[Asked], *, batch: bool) -> list[Built]:
        """Build lists and store them; return once they are durable."""
        try:
            built = await self._built(asked, batch=batch)
        except Refused as refused:
            if refused.code == "out_of_range":
                self.metrics.out_of_range.labels("", "refused").inc()
            raise
        del asked  # which may be large, and is not needed while the list is being stored
        await self.writer.write(add_lists, [one.served for one in built])
        for one in built:
            self._note(one)
        return built

    async def _built(self, asked: list[Asked], *, batch: bool) -> list[Built]:
        """Build lists, in the event loop where a single list is expected to take less than `QUICK` seconds, else in a
        thread.
        """
        if not batch and self._is_quick(asked[0]):
            return [build(asked[0], self.fleet, self.settings)]
        if not batch:
            return [await self.building.run(build, asked[0], self.fleet, self.settings)]
        return await self.building.run(self._build_all, asked, monotonic() + self.limits.seconds)

    def _is_quick(self, asked: Asked) -> bool:
        """Return whether a list is cheap enough to be built in the event loop, judged by the current version's measured
        cost.
        """
        cost = self.fleet.loaded[self.fleet.of(asked.model).current].cost
        return cost.expected(asked.numbers) < QUICK

    def _build_all(self, asked: list[Asked], deadline: float) -> list[Built]:
        """Build the lists of a batch one by one; refuses with 503 once `deadline` (monotonic seconds) has passed."""
        built = []
        for i, one in enumerate(asked):
            if monotonic() > deadline:  # nobody waits any more
                raise unavailable("The request took too long. Send a smaller one.")
            built.append(build(one, self.fleet, self.settings, f"lists.{i}."))
        return built

    def _note(self, built: Built) -> None:
        """Remember a stored list for its feedback, update counters and offer it to a shadow version."""
        served = built.served
        self.recent.add(served.id, Shown(served.version, served.created, tuple(built.items)))
        self.metrics.lists.labels(served.version).inc()
        if built.clipped:
            self.metrics.out_of_range.labels(served.version, "clipped").inc()
        if built.fell_back:
            self.metrics.fallbacks.labels(served.version).inc()
        self.shadows.offer(built)

    async def feedback(self, told: FeedbackRequest) -> Noted:
        """Store feedback on a list; return once it is durable."""
        found = self.recent.get(told.list_id) or await self.read(shown, told.list_id)
        gains = gains_of(told, found)
        one = Told(told.list_id, told.idempotency_key or told.list_id, gains, found.version, found.created)
        noted: Noted = await self.writer.write(add_feedback, one)
        if not noted.duplicate:
            self.metrics.feedback.labels(found.version, "failure" if noted.failed else "success").inc()
            self.metrics.events.set(noted.event)
        return noted

    async def add_model(self, name: str, file: bytes) -> int:
        """Store a model file as a new version and return its number."""
        # The file is opened first, so that one that cannot be served is refused with 422.
        try:
            await self.background.run(self.fleet.opening.opened, 0, name, file)
        except InputError as error:
            raise invalid("body", str(error)) from None
        number: int = await self.writer.write(add_models, NewModel(name, file))
        version = await self.background.run(self.fleet.get, number)
        await self.background.run(warm_up, version, self.fleet, self.settings)
        return number

    async def delete_model(self, number: int) -> None:
        """Delete a version that has no traffic, with its learned state; refuses with 404 or 409 otherwise."""
        await self.writer.write(delete_models, number)
        await self.background.run(self.fleet.follow)

    async def deploy(self, traffic: Traffic) -> Traffic:
        """Change which versions of a model serve, and return the new traffic."""
        async with self.deploying:
            await self.background.run(self.fleet.check, traffic)
            await self.writer.write(deploy, traffic)
            await self.background.run(self.fleet.follow)
        return traffic

    async def roll_back(self, name: str | None) -> Traffic:
        """Deploy the version that served before the current one, without canary or shadow."""
        current = self.fleet.default() if name is None else self.fleet.of(name)
        return await self.deploy(await self.read(before, current))

    async def control(self, asked: LearningRequest) -> None:
        """Freeze, resume, reset or roll back the learning of a version."""
        # The policy of a snapshot is prepared before the transaction, so that replicas serve it at once.
        command = Command(asked.action, asked.version or self.fleet.default().current, asked.snapshot)
        await self.writer.write(act, await self.read(prepared, self.fleet, command))
        await self.background.run(self.fleet.follow)
        log.info("learning: %s", asked.action, extra={"version": command.version})

    async def export(self, asked: LearningRequest) -> bytes:
        """Return what a version has learned, now or at a snapshot, as the bytes of a model file."""
        return await self.read(export, self.fleet, asked.version or self.fleet.default().current, asked.snapshot)

    async def compare(self, new: int, old: int, most: int) -> dict[str, Any]:
        """Compare two versions on the latest lists with feedback."""
        versions = await self.background.run(comparable, self.fleet, new, old)
        rows = await self.read(answered, (new, old), most)
        return await self.background.run(compared, versions, rows)

    def feature_names(self) -> tuple[str, ...] | None:
        """Return the feature names of the default model, for error messages; None where it has none."""
        version = self.fleet.loaded.get(self.fleet.default().current) if self.fleet.traffic else None
        return None if version is None else version.shape.signature.feature_names

    async def read(self, question: Any, *arguments: Any) -> Any:
        """Run `question(connection, *arguments)` on a read connection in a thread and return its result."""
        return await self.reads.run(self._read, question, *arguments)

    def _read(self, question: Any, *arguments: Any) -> Any:
        """Run a query function in the current thread; database errors become a 503 refusal and a log line."""
        try:
            with self.database.reading.connect() as connection:
                return question(connection, *arguments)
        except SQLAlchemyError as error:
            cause = cause_of(error) if hasattr(error, "orig") else type(error).__name__  # type: ignore[arg-type]
            log.warning("the store cannot be read", extra={"cause": cause})
            raise unavailable() from None

    async def check_ready(self) -> None:
        """Raise a 503 refusal unless a list could be built, stored and learned from."""
        # The store is tested by a real write at most once per second, because a full disk or a read-only database still
        # answers queries.
        if self.draining:
            raise unavailable("The service is shutting down.")
        if monotonic() - self.probed >= PROBE:
            await self.writer.write(_probe, secrets.token_hex(16))
            self.probed = monotonic()
        if self.updater is not None and self.updater.failure:
            raise unavailable(self.updater.failure)

    async def _follow(self) -> None:
        """Poll the store every `FOLLOW` seconds for what other replicas deployed, added or learned, until cancelled."""
        failed = False
        while True:
            try:
                await self.following.run(self.fleet.follow)
                failed = False
            except (SQLAlchemyError, Refused, InputError) as error:
                if not failed:
                    log.warning(
                        "the store cannot be followed", extra={"cause": f"{type(error).__name__}: {error}"[:300]}
                    )
                failed = True
            await asyncio.sleep(FOLLOW)

    async def _forget(self) -> None:
        """Delete lists beyond the retention limits every `EVERY` seconds, in transactions of at most `MOST` lists."""
        days, gb = self.settings.keep_days, self.settings.keep_gb
        old = Old(None if days is None else days * DAY, None if gb is None else gb * 1e9, self.settings.learn)
        while True:
            deleted = MOST
            with suppress(Refused, SQLAlchemyError):
                while deleted == MOST:
                    deleted = await self.writer.write(forget, old)
                    if deleted:
                        await self.background.run(give_space_back, self.database)
            await asyncio.sleep(EVERY)


def _probe(connection: Connection, names: Sequence[str]) -> list[None]:
    """Write and delete a row as large as a typical list, to test that the store accepts writes."""
    for name in names:
        connection.execute(insert(probes), {"id": name, "data": bytes(4096)})
        connection.execute(delete(probes).where(probes.c.id == name))
    return [None] * len(names)


def _opening(settings: Settings) -> Opening:
    """Return the way models are opened under the settings: learner, exploration, tolerance and trusted classes."""
    maker = learner_maker(settings.explore, settings.seed, settings.leverage)
    return Opening(maker, settings.learn, settings.tolerance, settings.out_of_range == "refuse", settings.trust)


def _read(path: Path) -> bytes:
    """Return the content of a file; raise InputError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None


def _password(settings: Settings) -> str | None:
    """Return the password of the store, from the file in the settings or from ``LISTWRIGHT_STORE_PASSWORD``."""
    path = settings.store_password_file
    if path is None:
        return os.environ.get("LISTWRIGHT_STORE_PASSWORD")
    try:
        found = _read(path).decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise InputError(f"The password in {path} is not UTF-8 text.") from None
    if not found:
        raise InputError(f"{path} is empty. Write the password of the store into it.")
    return found
