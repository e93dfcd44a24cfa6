"""Builds the list of one request, and the lists of shadow versions for it.

`build` is plain computation without access to the store, so it can run in the event loop or in a thread. A shadow
builds the lists of real requests after the answer was sent, and nobody is shown them: so one sees how a new version
behaves under production traffic before it gets any.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.evaluation.explain import Explainer
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.serve.messages import ListAnswer, ListQuery, Why
from listwright.serve.models.intake import problem_of
from listwright.serve.models.registry import ModelRegistry
from listwright.serve.models.version import Version
from listwright.serve.refusals import Refused, invalid
from listwright.serve.settings import Limits
from listwright.serve.store.journal import add_shadows
from listwright.serve.store.records import ServedList, new_id

if TYPE_CHECKING:
    from listwright.serve.service import Service

WAITING = 32  # lists of shadows; beyond, they are left out, so that a slow shadow slows nobody down


@dataclass(frozen=True, eq=False)
class Built:
    """A list that is ready to be stored and sent."""

    served: ServedList
    answer: ListAnswer
    length: int | None  # that was asked for
    fell_back: bool  # whether the deployed policy built the list, because the learned one gave none


def build(
    query: ListQuery, registry: ModelRegistry, limits: Limits, at: str = "", *, by: Version | None = None
) -> Built:
    """Build one list, by the version that its id falls to or by the one given."""
    start, created = perf_counter(), time.time()
    list_id = new_id(created)
    version = registry.choose(list_id, query.model, query.user) if by is None else by
    taken = problem_of(query, version.shape, limits, at)
    try:
        lists = version.lists(taken.problem, query.length, query.budget, list_id)
        fell_back = version.published is not None and not _is_sound(lists, taken.problem, query.budget)
        if fell_back:
            lists = version.as_deployed().lists(taken.problem, query.length, query.budget, list_id)
    except InputError as error:
        raise invalid(f"{at}items", str(error)) from None
    served = ServedList(
        list_id,
        created,
        version.number,
        version.state,
        not taken.clipped and not taken.new_items,
        bytes(query.metadata).decode() if len(query.metadata) else None,
        taken.problem,
        query.ids,
        lists[0],
        None if lists.scores is None else lists.scores[0],
        _propensities(lists, len(lists[0])),
        query.budget,
    )
    answer = _answer(served, taken.clipped, lists if query.explain else None)
    version.cost.note(query.numbers, perf_counter() - start)
    return Built(served, answer, query.length, fell_back)


def _is_sound(lists: Lists, problem: Problems, budget: float | None) -> bool:
    """Return whether a list is non-empty with finite scores."""
    if not len(lists[0]):
        return budget is not None and problem.sizes is not None and bool((problem.sizes > budget).all())
    return lists.scores is None or bool(np.isfinite(lists.scores[0]).all())


def _answer(served: ServedList, clipped: int, explained: Lists | None) -> ListAnswer:
    """Return the answer; with `explained`, each item has the parts of its score."""
    items = served.answer_items()
    if explained is not None and isinstance(explained.explainer, Explainer) and served.scores is not None:
        assert served.problem is not None
        standings = explained.explainer.standings(served.problem, served.picks, served.scores)
        for item, standing in zip(items, standings, strict=True):
            item.why = Why(*standing)
    return ListAnswer(served.id, items, served.version, clipped)


def _propensities(lists: Lists, length: int) -> Floats | None:
    """Return the probability of each of the first list's `length` picks."""
    drawn = getattr(lists, "propensities", None)
    if drawn is not None:
        return np.asarray(drawn)[0][:length]
    policy = getattr(lists.explainer, "policy", None)
    return np.ones(length) if policy is not None and policy.certain else None


class Shadows:
    """Builds and stores the lists of shadow versions in the background."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.tasks: set[asyncio.Task[None]] = set()

    def offer(self, built: Built) -> None:
        """Schedule the shadow's list for one that was served, if its model has a shadow and there is room."""
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
        """Build and store one shadow list; failures are counted as dropped."""
        try:
            row = await self.service.background.run(shadow_row, shadow, built)
            await self.service.writer.write(add_shadows, row)
            self.service.metrics.shadowed.labels(shadow.number).inc()
        except (Refused, InputError):
            self.service.metrics.dropped.inc()


def shadow_row(shadow: Version, built: Built) -> dict[str, Any]:
    """Return the row of a shadow's list for a request of which `built` was shown."""
    served = built.served
    assert served.problem is not None
    lists = shadow.lists(served.problem, built.length, served.budget, served.id)
    picks, seen = lists[0].tolist(), set(served.items)
    overlap = sum(served.ids[row] in seen for row in picks) / max(1, len(seen))
    encoded = msgspec.json.encode(picks).decode()
    return {"list_id": served.id, "version": shadow.number, "overlap": overlap, "picks": encoded}
