"""A list for a request: the answer, and what is stored of it."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import msgspec
import numpy as np

from listwright._internal.arrays import Floats
from listwright.apps.serve.models.fleet import Fleet, Version
from listwright.apps.serve.models.intake import problem_of
from listwright.apps.serve.models.requests import Asked
from listwright.apps.serve.refusals import invalid
from listwright.apps.serve.store.journal import Served
from listwright.apps.serve.store.records import Packed, new_id, now, pack
from listwright.apps.settings import Settings
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.reasons.explain import Explainer


@dataclass(frozen=True, eq=False)
class Built:
    """A list that is to be stored and answered."""

    served: Served
    items: list[Any]  # their ids, in order
    clipped: int  # numbers of the request that were out of range
    fell_back: bool  # to the policy as deployed, because what was learned gave no list
    answer: bytes  # JSON
    problem: Problems
    request: Asked


def build(asked: Asked, fleet: Fleet, settings: Settings, at: str = "", *, by: Version | None = None) -> Built:
    """A list by the version that its id falls to, or by a given one; `at` is where the request stands in a body."""
    start, created = perf_counter(), now()
    list_id = new_id(created)
    version = fleet.choose(list_id, asked.model) if by is None else by
    taken = problem_of(asked, version.shape, settings.limits, at)
    try:
        lists = version.lists(taken.problem, asked.length, asked.budget, list_id)
        fell_back = version.published is not None and not _sound(lists, taken.problem, asked.budget)
        if fell_back:
            lists = version.as_deployed().lists(taken.problem, asked.length, asked.budget, list_id)
    except InputError as error:
        raise invalid(f"{at}items", str(error)) from None
    packed = _packed(asked, taken.problem, lists)
    answer = _answer(list_id, version, packed, taken.clipped, lists if asked.explain else None)
    version.cost.note(asked.numbers, perf_counter() - start)
    served = Served(
        id=list_id,
        created=created,
        version=version.number,
        state=version.state,
        learn=not taken.clipped,
        record=pack(packed, small=settings.list_bytes),
        context=bytes(asked.context).decode() if len(asked.context) else None,
    )
    items = [packed.ids[row] for row in packed.picks]
    return Built(served, items, taken.clipped, fell_back, answer, taken.problem, asked)


def _sound(lists: Lists, problem: Problems, budget: float | None) -> bool:
    """Whether a list has items and scores that are numbers; only a budget may leave it empty."""
    if not len(lists[0]):
        return budget is not None and problem.sizes is not None and bool((problem.sizes > budget).all())
    return lists.scores is None or bool(np.isfinite(lists.scores[0]).all())


def _packed(asked: Asked, problem: Problems, lists: Lists) -> Packed:
    scores = None if lists.scores is None else lists.scores[0].tolist()
    return Packed(problem, asked.ids, lists[0], scores, _propensities(lists), asked.budget)


def _answer(list_id: str, version: Version, packed: Packed, clipped: int, explained: Lists | None) -> bytes:
    items = packed.items()
    whys = [None] * len(items) if explained is None else _whys(explained, packed)
    for item, why in zip(items, whys, strict=True):
        item["why"] = why
    answer = {"list_id": list_id, "items": items, "model_version": version.number, "clipped": clipped}
    return msgspec.json.encode(answer)


def _whys(lists: Lists, packed: Packed) -> list[dict[str, Any] | None]:
    """Where each pick stands on its own, and what the list before it changed of that."""
    if not isinstance(lists.explainer, Explainer) or packed.scores is None:
        return [None] * len(packed.picks)
    scores = np.asarray(packed.scores)
    return [one._asdict() for one in lists.explainer.standings(packed.problem, packed.picks, scores)]


def _propensities(lists: Lists) -> Floats | None:
    """Of each pick: told by a policy that explores, 1 for one that is certain, else not known."""
    told = getattr(lists, "propensities", None)
    if told is not None:
        return np.asarray(told)[0][: len(lists[0])]
    policy = getattr(lists.explainer, "policy", None)
    return np.ones(len(lists[0])) if policy is not None and policy.certain else None
