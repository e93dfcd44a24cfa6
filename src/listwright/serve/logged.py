"""Stored lists and their feedback as `Recommendations` and arrays of gains.

`export` and the comparison of versions read the store through this module, so both see the same outcome for a list that
got feedback several times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Select, func, select

from listwright._internal.arrays import Floats
from listwright._internal.quotas import Quotas
from listwright.feedback.recommendations import Recommendations
from listwright.problems import Problems
from listwright.serve.store.journal import outcome_of
from listwright.serve.store.records import PARTS, Packed, unpack, whole
from listwright.serve.store.schema import feedback, lists


def with_feedback(*wanted: Any) -> Select[Any]:
    """Return a query for lists joined with their latest feedback."""
    # The latest feedback row is enough, because its column `earlier` holds the largest gains of all feedback before it.
    last = select(feedback.c.list_id, func.max(feedback.c.event).label("event")).group_by(feedback.c.list_id).subquery()
    joined = lists.outerjoin(last, last.c.list_id == lists.c.id).outerjoin(feedback, feedback.c.event == last.c.event)
    return select(lists, feedback.c.gains, feedback.c.earlier).select_from(joined).where(*wanted)


def as_shown(
    rows: Sequence[Any], names: tuple[str, ...] | None, *, cascade: bool = False
) -> tuple[Recommendations, Floats]:
    """Convert stored lists of one model version to `Recommendations` and a matrix of gains."""
    packed = [unpack(whole(row), ids=False) for row in rows]
    problems = _problems(rows, packed, names)
    shape = len(rows), max(1, max(len(one.picks) for one in packed))
    picks, chances, gains = np.full(shape, -1), np.full(shape, np.nan), np.full(shape, np.nan)
    for i, (row, one) in enumerate(zip(rows, packed, strict=True)):
        n = len(one.picks)
        picks[i, :n] = one.picks + problems.offsets[i]
        chances[i, :n] = np.nan if one.propensities is None else one.propensities
        seen = _outcome(row, cascade)
        gains[i, : len(seen)] = seen
    ids = tuple(row.id for row in rows)
    shown = Recommendations(
        problems, picks, list_ids=ids, propensities=chances, version=rows[0].version, room=_budgets(packed)
    )
    return shown, gains


def _problems(rows: Sequence[Any], packed: list[Packed], names: tuple[str, ...] | None) -> Problems:
    """Concatenate the problems of several lists into one batch whose problem ids are the list ids."""
    parts: dict[str, Any] = {
        name: np.concatenate([getattr(one.problem, name) for one in packed])
        for name in PARTS[1:]
        if getattr(packed[0].problem, name) is not None
    }
    batch = Problems.from_arrays(
        np.concatenate([one.problem.features for one in packed]),
        offsets=np.concatenate([[0], np.cumsum([one.problem.n_rows for one in packed])]),
        item_ids=[str(item) for one in packed for item in one.ids],
        feature_names=names,
        **parts,
    )
    return batch._with(problem_ids=np.array([row.id for row in rows]), **_groups(packed))


def _groups(packed: list[Packed]) -> dict[str, Any]:
    """Return the groups and quotas of several lists; a list without them is not limited."""
    problems = [one.problem for one in packed]
    joined: dict[str, Any] = {}
    if any(problem.groups is not None for problem in problems):
        labels = [np.full(one.n_rows, "") if one.groups is None else one.groups.astype(object) for one in problems]
        joined["groups"] = np.concatenate(labels).astype(object)
    if any(problem.quotas is not None for problem in problems):
        quotas = [Quotas.free(one.n_rows) if one.quotas is None else one.quotas for one in problems]
        joined["quotas"] = Quotas.join(quotas)
    return joined


def _outcome(row: Any, cascade: bool) -> Sequence[float]:
    """Return the known gains of a list by position, empty without feedback."""
    if row.gains is None:
        return ()
    gains = outcome_of(row.gains, row.earlier)
    stop = next((at for at, gain in enumerate(gains, start=1) if gain > 0), len(gains)) if cascade else len(gains)
    return gains[:stop]


def _budgets(packed: list[Packed]) -> Any:
    """Return the budget of each list; None unless every list was built under one."""
    budgets = [one.budget for one in packed if one.budget is not None]
    return np.array(budgets) if len(budgets) == len(packed) else None
