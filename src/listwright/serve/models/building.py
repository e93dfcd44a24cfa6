"""Builds lists, also those of shadow versions, which nobody is shown; and threads for what blocks the event loop."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from time import thread_time
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._kernels.draw import uniforms
from listwright.errors import InputError
from listwright.evaluation.explain import Explainer
from listwright.feedback.recommendations import draw_keys
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.serve.messages import DEFAULT, ListAnswer, ListQuery, Why
from listwright.serve.models.intake import Taken, take
from listwright.serve.models.registry import ModelRegistry
from listwright.serve.models.version import Version
from listwright.serve.refusals import Refused, busy, invalid
from listwright.serve.settings import Limits
from listwright.serve.store.journal import add_shadows
from listwright.serve.store.records import ServedList, join, new_id
from listwright.serve.store.writer import answer_all
from listwright.walk.constraints import Constraints, as_budgets

if TYPE_CHECKING:
    from listwright.serve.service import Service

T = TypeVar("T")
TOGETHER = 32  # lists that are built at once, at most
WAITING = 32  # lists of shadows; beyond, they are left out, so that a slow shadow slows nobody down


@dataclass(frozen=True, eq=False)
class Built:
    """A list that is ready to be stored and sent."""

    served: ServedList
    answer: ListAnswer
    length: int | None  # that was asked for
    fell_back: bool  # whether the deployed policy built the list, because the learned one gave none


@dataclass(frozen=True, eq=False)
class _Asked:
    """A request for a list, read, and the version that builds the list."""

    query: ListQuery
    version: Version
    list_id: str
    created: float
    taken: Taken
    at: str  # prefix of field names
    work: int  # as `Version.work` estimates it
    rival: tuple[Version, float] | None = None  # the version that could have built it as well, and its share
    mixes_slots: bool = False  # the share is one of the slots

    @property
    def kind(self) -> tuple[Any, ...]:
        """What the lists that are built together have in common."""
        query, taken = self.query, self.taken
        alone = query.explain or self.mixes_slots or taken.new_items or not self.version.builds_together
        # Lists with pins and least numbers of groups are built in another way, in which sums are rounded differently.
        quotas = taken.candidates.quotas
        limits = None if quotas is None else (quotas.pins, quotas.needs)
        parts = taken.candidates.groups is None, limits, *taken.candidates.arrays
        return self.version.number, query.length, query.budget, self.list_id if alone else "", parts

    @cached_property
    def problem(self) -> Problems:
        return _problems([self])


def _problems(group: Sequence[_Asked]) -> Problems:
    return join([asked.taken.candidates for asked in group], group[0].version.shape.signature.feature_names)


def build(
    query: ListQuery, registry: ModelRegistry, limits: Limits, at: str = "", *, by: Version | None = None
) -> Built:
    """Build one list; `by` is the version to build it, in place of the one that serves."""
    result = build_together([query], registry, limits, at, by=by)[0]
    if isinstance(result, Refused):
        raise result
    return result


def build_together(
    queries: Sequence[ListQuery], registry: ModelRegistry, limits: Limits, at: str = "", *, by: Version | None = None
) -> list[Built | Refused]:
    """Build the lists of several requests, those of one kind at once: that takes little longer than one of them."""
    start = thread_time()
    results: list[Any] = [_ask(query, registry, limits, at, by) for query in queries]
    kinds: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for i, asked in enumerate(results):
        if isinstance(asked, _Asked):
            kinds[asked.kind].append(i)
    works = [(asked.version.cost, asked.work) for asked in results if isinstance(asked, _Asked)]
    for places in kinds.values():
        for i, result in zip(places, _build_kind([results[i] for i in places]), strict=True):
            results[i] = result
    seconds = (thread_time() - start) / max(1, sum(work for _, work in works))
    for cost, work in works:
        cost.note(work, seconds * work)
    return results


def _ask(query: ListQuery, registry: ModelRegistry, limits: Limits, at: str, by: Version | None) -> _Asked | Refused:
    created = time.time()
    list_id = new_id(created, None if query.user is None else f"{query.model}:{query.user}")
    try:
        version = registry.choose(list_id, query.model) if by is None else by
        taken = take(query, version.shape, limits, at)
        rival = registry.rival(version) if by is None else None
    except Refused as refused:
        return refused
    mixes_slots = registry.mixes_slots and rival is not None and version.name == DEFAULT
    return _Asked(query, version, list_id, created, taken, at, version.work(query), rival, mixes_slots)


def _build_kind(group: Sequence[_Asked]) -> list[Built | Refused]:
    """Build lists of one kind in one walk; where that fails, one by one."""
    version, query = group[0].version, group[0].query
    try:
        problems = group[0].problem if len(group) == 1 else _problems(group)
        lists = version.lists(problems, query.length, query.budget, [asked.list_id for asked in group])
        if group[0].mixes_slots:
            lists = _mix_slots(group[0], lists)
        return [_built(asked, lists, i) for i, asked in enumerate(group)]
    except InputError as error:
        if len(group) > 1:
            return [_build_kind([asked])[0] for asked in group]
        return [invalid(f"{group[0].at}items", str(error))]


def _mix_slots(asked: _Asked, lists: Lists) -> Lists:
    """Let the rival pick in its share of the slots, given the items before; its list goes on from there."""
    assert asked.rival is not None
    query, problem, (other, share) = asked.query, asked.problem, asked.rival
    length = len(lists[0]) if query.budget is None else query.length
    drawn = uniforms(draw_keys(0, [f"slots of {asked.list_id}"]), problem.n_rows)[0] < share
    for slot in np.flatnonzero(drawn).tolist():
        if slot >= len(lists[0]):
            break
        for version, kept in ((other, slot), (asked.version, slot + 1)):
            given = problem.with_constraints(pin=lists[0][:kept])
            lists = version.lists(given, length, query.budget, [asked.list_id])
    return lists


def _built(asked: _Asked, lists: Lists, i: int) -> Built:
    """Return list `i`, or the deployed policy's list where the learned one gave none."""
    query, version, taken = asked.query, asked.version, asked.taken
    fell_back = version.published is not None and not _is_sound(asked, lists, i)
    if fell_back:
        lists, i = version.as_deployed().lists(asked.problem, query.length, query.budget, [asked.list_id]), 0
    picks = lists[i]
    served = ServedList(
        asked.list_id,
        asked.created,
        version.number,
        version.state,
        not taken.clipped and not taken.new_items,
        bytes(query.metadata).decode() if len(query.metadata) else None,
        taken.candidates,
        picks,
        None if lists.picked_scores is None else lists.picked_scores[i, : len(picks)],
        _mixed_chances(asked, picks, _propensities(lists, i, len(picks))),
        query.budget,
    )
    answer = _answer(served, taken.clipped, lists if query.explain else None)
    return Built(served, answer, query.length, fell_back)


def _is_sound(asked: _Asked, lists: Lists, i: int) -> bool:
    count, query = len(lists[i]), asked.query
    if not count:
        return not Constraints(asked.problem, as_budgets(query.budget, asked.problem), query.length).fits().any()
    return lists.picked_scores is None or bool(np.isfinite(lists.picked_scores[i, :count]).all())


def _answer(served: ServedList, clipped: int, explained: Lists | None) -> ListAnswer:
    items = served.answer_items()
    if explained is not None and isinstance(explained.explainer, Explainer) and served.scores is not None:
        standings = explained.explainer.standings(served.problem, served.picks, served.scores)
        for item, standing in zip(items, standings, strict=True):
            item.why = Why(*standing)
    return ListAnswer(served.id, items, served.version, clipped)


def _propensities(lists: Lists, i: int, length: int) -> Floats | None:
    drawn = getattr(lists, "propensities", None)
    if drawn is not None:
        return np.asarray(drawn)[i][:length]
    policy = getattr(lists.explainer, "policy", None)
    return np.ones(length) if policy is not None and policy.certain else None


def _mixed_chances(asked: _Asked, picks: Ints, own: Floats | None) -> Floats | None:
    """Return the chance of each pick where two versions share the lists, so that a log tells of both of them."""
    if asked.rival is None or own is None:
        return own
    other, share = asked.rival
    try:
        along = other.chances(asked.problem, picks, asked.query.budget)
        if asked.mixes_slots:
            own = asked.version.chances(asked.problem, picks, asked.query.budget)
            return (1.0 - share) * own + share * along
    except InputError:  # it would have been refused
        return own
    together = (1.0 - share) * np.cumprod(own) + share * np.cumprod(along)
    return together / np.concatenate([[1.0], together[:-1]])


class Shadows:
    """Builds and stores the lists of shadow versions in the background."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.tasks: set[asyncio.Task[None]] = set()

    def offer(self, built: Built) -> None:
        registry = self.service.registry
        version = registry.loaded.get(built.served.version)
        shadow = None if version is None else registry.shadow(version.name)
        if shadow is None:
            return
        if len(self.tasks) >= WAITING:
            self.service.metrics.dropped.inc()
            return
        task = asyncio.create_task(self._build(shadow, built))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _build(self, shadow: Version, built: Built) -> None:
        try:
            row = await self.service.background.run(shadow_row, shadow, built)
            await self.service.writer.write(add_shadows, row)
            self.service.metrics.shadowed.labels(shadow.number).inc()
        except (Refused, InputError):
            self.service.metrics.dropped.inc()


def shadow_row(shadow: Version, built: Built) -> dict[str, Any]:
    served = built.served
    assert served.problem is not None
    lists = shadow.lists(served.problem, built.length, served.budget, [served.id])
    picks, seen = lists[0].tolist(), set(served.items)
    overlap = sum(served.candidates.ids[row] in seen for row in picks) / max(1, len(seen))
    encoded = msgspec.json.encode(picks).decode()
    return {"list_id": served.id, "version": shadow.number, "overlap": overlap, "picks": encoded}


class Pool:
    """A thread pool that refuses work when its queue is full; each kind of work has its own, so none starves others."""

    def __init__(self, name: str, threads: int, queue: int) -> None:
        self.executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self.most, self.running = threads + queue, 0

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        # If the awaiting task is cancelled while the call is still queued, the call never starts.
        if self.running >= self.most:
            raise busy()
        self.running += 1
        future = self.executor.submit(work, *arguments)
        future.add_done_callback(partial(self._done, asyncio.get_running_loop()))
        return await asyncio.wrap_future(future)  # which cancels it where this is cancelled

    def _done(self, loop: asyncio.AbstractEventLoop, future: Any) -> None:
        """Schedule the decrement of `running` in the event loop; called by the thread that finished."""
        with suppress(RuntimeError):  # the loop has ended, and nobody asks any more
            loop.call_soon_threadsafe(self._count_down)

    def _count_down(self) -> None:
        self.running -= 1

    def stop(self) -> None:
        """Shut the pool down without waiting: queued calls are cancelled, running ones finish in their threads."""
        self.executor.shutdown(wait=False, cancel_futures=True)


class Gathering:
    """Builds lists together: those of one turn of the event loop, or in a thread those that came while it was busy."""

    def __init__(self, pool: Pool, build: Callable[[Sequence[ListQuery]], list[Built | Refused]]) -> None:
        self.pool, self.build_all = pool, build
        self.waiting: deque[_Waiting] = deque()
        self.quick: deque[_Waiting] = deque()
        self.task: asyncio.Task[None] | None = None

    async def build(self, query: ListQuery, *, here: bool) -> Built:
        """Build a list with others: `here`, if that takes less time than to pass it to a thread."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Built] = loop.create_future()
        if here:
            self.quick.append((query, future))
            if len(self.quick) == 1:
                loop.call_soon(self._run_here)
            return await future
        if len(self.waiting) >= self.pool.most:
            raise busy()
        self.waiting.append((query, future))
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._run())
        return await future

    def _run_here(self) -> None:
        while self.quick:
            some = _take(self.quick)
            answer_all([future for _, future in some], self._attempt([query for query, _ in some]))

    async def _run(self) -> None:
        while self.waiting:
            some = _take(self.waiting)
            try:
                results = await self.pool.run(self._attempt, [query for query, _ in some])
            except Refused as refused:  # there is no thread for it
                results = [refused] * len(some)
            answer_all([future for _, future in some], results)

    def _attempt(self, queries: Sequence[ListQuery]) -> Sequence[Built | Exception]:
        try:
            return self.build_all(queries)
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must be answered
            return [error] * len(queries)


_Waiting = tuple[ListQuery, asyncio.Future[Built]]


def _take(waiting: deque[_Waiting]) -> list[_Waiting]:
    some = [waiting.popleft() for _ in range(min(len(waiting), TOGETHER))]
    return [(query, future) for query, future in some if not future.done()]  # for others nobody waits any more
