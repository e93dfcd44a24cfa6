"""A list for a request: the answer, and what is stored of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic_core import to_json

from listwright._internal.arrays import Floats, Ints
from listwright.apps.serve.intake import problem_of
from listwright.apps.serve.payloads import ListRequest
from listwright.apps.serve.records import Served, new_id, now, pack
from listwright.apps.serve.refusals import invalid
from listwright.apps.serve.settings import Limits
from listwright.apps.serve.versions import Fleet
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.reasons.explain import Explainer

SMALL = 20_000  # numbers of a request whose list is built at once: another thread would cost more than it brings


def work(asked: Sequence[ListRequest]) -> int:
    """About how many numbers are in requests."""
    return sum(len(one.items) * len(one.items[0].features) for one in asked)


def build_all(asked: Sequence[ListRequest], fleet: Fleet, limits: Limits) -> list[Served]:
    """Lists for the requests of a batch."""
    return [build(one, fleet, limits, f"lists.{i}.") for i, one in enumerate(asked)]


def build(asked: ListRequest, fleet: Fleet, limits: Limits, at: str = "") -> Served:
    """A list by the version that its id falls to; `at` is where the request stands in a body."""
    created = now()
    list_id = new_id(created)
    version = fleet.choose(list_id)
    problem = problem_of(asked, version.shape, limits, at)
    try:
        lists = version.lists(problem, asked.length, asked.budget, list_id)
    except InputError as error:
        raise invalid(f"{at}items", str(error)) from None
    ids, picks, propensities = [item.id for item in asked.items], lists[0], _propensities(lists)
    answer = {
        "list_id": list_id,
        "items": _items(lists, problem, ids, picks, propensities),
        "model_version": version.number,
    }
    packed = pack(problem, ids, picks, propensities, asked.budget)
    state = getattr(lists, "version", 0)
    return Served(list_id, created, version.number, state, to_json(answer, inf_nan_mode="null"), packed)


def _items(
    lists: Lists, problem: Problems, ids: list[Any], picks: Ints, propensities: Floats | None
) -> list[dict[str, Any]]:
    scores = None if lists.scores is None else lists.scores[0]
    whys: list[dict[str, Any] | None] = [None] * len(picks)
    if isinstance(lists.explainer, Explainer) and scores is not None:
        whys = [standing._asdict() for standing in lists.explainer.standings(problem, picks, scores)]
    return [
        {
            "id": ids[row],
            "position": position + 1,
            "score": None if scores is None else float(scores[position]),
            "propensity": None if propensities is None else float(propensities[position]),
            "why": whys[position],
        }
        for position, row in enumerate(picks)
    ]


def _propensities(lists: Lists) -> Floats | None:
    """Of each pick: told by a policy that explores, 1 for one that is certain, else not known."""
    told = getattr(lists, "propensities", None)
    if told is not None:
        return np.asarray(told)[0][: len(lists[0])]
    policy = getattr(lists.explainer, "policy", None)
    return np.ones(len(lists[0])) if policy is not None and policy.certain else None
