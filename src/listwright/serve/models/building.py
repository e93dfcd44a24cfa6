"""Builds the list of one request: the answer that is sent, and the record that is stored.

Everything here is plain computation without access to the store, so it can run in the event loop or in a thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import msgspec
import numpy as np

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.evaluation.explain import Explainer
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.serve.models.fleet import ModelRegistry
from listwright.serve.models.intake import problem_of
from listwright.serve.models.opened import Version
from listwright.serve.models.requests import Asked
from listwright.serve.refusals import invalid
from listwright.serve.settings import Settings
from listwright.serve.store.ids import new_id, now
from listwright.serve.store.journal import Served
from listwright.serve.store.records import Packed, pack


@dataclass(frozen=True, eq=False)
class Copy:
    """A request that a shadow version is to build a list for, too."""

    version: Version  # the shadow
    problem: Problems  # the request as a problem
    ids: Sequence[str | int]  # ids of the candidates
    length: int | None  # limits of the list
    budget: float | None


@dataclass(frozen=True, eq=False)
class Built:
    """A list that is ready to be stored and sent.

    It does not refer to the request, so that a request's many small objects are freed, and their memory is used again,
    before the list is stored.
    """

    served: Served  # row for the store
    items: list[Any]  # ids of the picked items, in order
    clipped: int  # numbers of the request that were clipped to the trained range
    fell_back: bool  # whether the deployed policy built the list, because the learned one gave none
    answer: bytes  # JSON of the answer
    copy: Copy | None  # what the model's shadow needs, where it has one


def build(asked: Asked, fleet: ModelRegistry, settings: Settings, at: str = "", *, by: Version | None = None) -> Built:
    """Build one list."""
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
    shadow = fleet.shadow(asked.model) if by is None else None
    copy = None if shadow is None else Copy(shadow, taken.problem, asked.ids, asked.length, asked.budget)
    return Built(served, items, taken.clipped, fell_back, answer, copy)


def _sound(lists: Lists, problem: Problems, budget: float | None) -> bool:
    """Return whether a list is non-empty with finite scores."""
    if not len(lists[0]):
        return budget is not None and problem.sizes is not None and bool((problem.sizes > budget).all())
    return lists.scores is None or bool(np.isfinite(lists.scores[0]).all())


def _packed(asked: Asked, problem: Problems, lists: Lists) -> Packed:
    """Combine the request, its problem and its list into the form that is stored."""
    picks, scores = lists[0], lists.scores
    chances = _propensities(lists, len(picks))
    return Packed(problem, asked.ids, picks, None if scores is None else scores[0].tolist(), chances, asked.budget)


def _answer(list_id: str, version: Version, packed: Packed, clipped: int, explained: Lists | None) -> bytes:
    """Encode the JSON answer; with `explained`, each item has the parts of its score."""
    items = packed.items()
    whys = [None] * len(items) if explained is None else _whys(explained, packed)
    for item, why in zip(items, whys, strict=True):
        item["why"] = why
    answer = {"list_id": list_id, "items": items, "model_version": version.number, "clipped": clipped}
    return msgspec.json.encode(answer)


def _whys(lists: Lists, packed: Packed) -> list[dict[str, Any] | None]:
    """Return for each pick its score and rank before anything was picked, and what the list before it changed."""
    if not isinstance(lists.explainer, Explainer) or packed.scores is None:
        return [None] * len(packed.picks)
    scores = np.asarray(packed.scores)
    return [one._asdict() for one in lists.explainer.standings(packed.problem, packed.picks, scores)]


def _propensities(lists: Lists, length: int) -> Floats | None:
    """Return the probability of each of the first list's `length` picks."""
    told = getattr(lists, "propensities", None)
    if told is not None:
        return np.asarray(told)[0][:length]
    policy = getattr(lists.explainer, "policy", None)
    return np.ones(length) if policy is not None and policy.certain else None
