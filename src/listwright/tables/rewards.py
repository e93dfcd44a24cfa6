"""Build reward objects from reward specs and table columns.

`build_reward` dispatches on the kind of the spec through `_BUILDERS`. Every builder takes the spec and a `Measured` and
returns a reward from `listwright.rewards` whose rows are in the order of the problems.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, first_bad
from listwright._internal.linalg import unit_rows
from listwright._internal.tokens import tokens
from listwright.errors import InputError
from listwright.rewards import (
    AnySuccess,
    ConcaveCoverage,
    Coverage,
    FacilityLocation,
    Function,
    ProbabilisticCoverage,
    Reward,
    Rouge,
    Total,
)
from listwright.tables.grouping import Groups
from listwright.tables.matrices import vectors
from listwright.tables.python_files import load_function
from listwright.tables.spec import RewardSpec, parse_reward
from listwright.tables.table import Table
from listwright.tables.topics import topics_of
from listwright.tables.trec import read_qrels, subtopic_coverage
from listwright.tables.values import numbers, texts

ROOM = 8e9  # bytes of similarities up to which facility location is built


class Measured(NamedTuple):
    """The data that a reward can be built from.

    Attributes
    ----------
    table : Table
        The rows.
    groups : Groups
        Problems of the rows.
    item_ids : ndarray or None
        Item ids in the order of the problems.
    references : mapping or None
        Reference texts by problem id.
    """

    table: Table
    groups: Groups
    item_ids: NDArray[Any] | None
    references: Mapping[str, list[str]] | None  # texts by problem


def as_spec(reward: Any) -> RewardSpec | None:
    """Return the spec of a reward that is given as text or as a spec; None for reward objects and None."""
    if isinstance(reward, RewardSpec):
        return reward
    if isinstance(reward, str):
        return parse_reward(reward)
    if reward is None or isinstance(reward, Reward):
        return None
    raise InputError(f"reward must be text such as 'any:clicked', or come from listwright.rewards. Got {reward!r:.60}.")


def build_reward(reward: RewardSpec | Reward, measured: Measured) -> Reward:
    """Build the reward of some problems."""
    # A reward object is returned as it is, provided that the rows of the table are already in the order of the
    # problems; otherwise its rows would no longer match, and `InputError` is raised.
    if measured.references is not None and getattr(reward, "kind", None) not in ("rouge", "rouge2"):
        raise InputError("references go with the reward 'rouge:COLUMN'. Leave them out, or change reward=.")
    if isinstance(reward, RewardSpec):
        return _BUILDERS[reward.kind](reward, measured)
    if measured.groups.order is not None:
        raise InputError(
            "The rows of a problem are not contiguous, so their order changes and this reward is for other rows."
            " Sort the table by problem, or give the reward as text."
        )
    return reward


def _any(spec: RewardSpec, measured: Measured) -> Reward:
    """`any:` - chance that at least one item succeeds; values must be within 0 and 1."""
    success = _column(spec, measured)
    _within(measured.table, spec.argument, success, 1.0, "For grades 0, 1, 2, ... write graded:COLUMN.")
    return AnySuccess(measured.groups.sorted(success))


def _graded(spec: RewardSpec, measured: Measured) -> Reward:
    """`graded:` - as `any:`, with success probability (2^grade - 1) / 2^highest, the stopping probability of ERR."""
    grades = _column(spec, measured)
    _within(measured.table, spec.argument, grades, 30.0, "Grades are 0, 1, 2, ...")
    highest = max(float(grades.max()), 1.0) if spec.highest is None else spec.highest
    return AnySuccess(measured.groups.sorted((2.0**grades - 1.0) / 2.0**highest))


def _total(spec: RewardSpec, measured: Measured) -> Reward:
    """`sum:` and `share:` - a modular reward: the (weighted) sum of a column, possibly capped or normalized."""
    name, weight = spec.topics_and_weights(measured.table)
    values = _not_negative(measured.table, name)
    if weight is not None:
        values = values * _not_negative(measured.table, weight)
    return Total(measured.groups.sorted(values), cap=spec.cap, share=spec.kind == "share")


def _coverage(spec: RewardSpec, measured: Measured) -> Reward:
    """`coverage:` - share of topics covered; amounts are reduced to 0 and 1."""
    topics, weight = spec.topics_and_weights(measured.table)
    matrix, weights = topics_of(measured.table, measured.groups, topics, weight, shares=False)
    matrix.data = np.ones_like(matrix.data)
    return Coverage(matrix, weights)


def _probabilistic(spec: RewardSpec, measured: Measured) -> Reward:
    """`probabilistic:` - expected share of topics covered; raises `InputError` for amounts above 1."""
    topics, weight = spec.topics_and_weights(measured.table)
    matrix, weights = topics_of(measured.table, measured.groups, topics, weight, shares=True)
    if matrix.data.max(initial=0.0) > 1.0:
        row = measured.groups.row_of(int(np.searchsorted(matrix.indptr, int(matrix.data.argmax()), side="right")) - 1)
        raise measured.table.error(row, topics, f"{matrix.data.max():g} is no probability", "Give numbers from 0 to 1.")
    return ProbabilisticCoverage(matrix, weights)


def _concave(spec: RewardSpec, measured: Measured) -> Reward:
    """`sqrt:` and `log:` - concave function of the amount that the list brings to each topic."""
    topics, weight = spec.topics_and_weights(measured.table)
    matrix, weights = topics_of(measured.table, measured.groups, topics, weight, shares=True)
    return ConcaveCoverage(matrix, spec.kind, weights=weights)


def _facility(spec: RewardSpec, measured: Measured) -> Reward:
    """`facility:` - facility location with cosine similarities of all pairs of a problem's candidates."""
    offsets = measured.groups.offsets
    if 4.0 * float((np.diff(offsets).astype(np.float64) ** 2).sum()) > ROOM:
        largest = int(np.diff(offsets).max())
        raise InputError(
            f"facility needs the similarities of all pairs of a problem's items. Got up to {largest} items."
        )
    chosen = tuple(measured.table.matching(spec.argument, "reward"))
    table = measured.groups.sorted(vectors(measured.table, chosen, "reward"))
    unit = unit_rows(table).astype(np.float32)
    return FacilityLocation([unit[a:b] @ unit[a:b].T for a, b in pairwise(offsets)])


def _rouge(spec: RewardSpec, measured: Measured) -> Reward:
    """`rouge:` and `rouge2:` - n-gram recall against the reference texts, which must be given."""
    if measured.references is None:
        what = "the texts that a good list would contain, by problem"
        raise InputError(f"{spec.kind} needs references: {what}. Pass references=.")
    candidates = [tokens(text) for text in texts(measured.table, spec.argument, "reward")]
    if measured.groups.order is not None:
        candidates = [candidates[row] for row in measured.groups.order]
    references = [_references(measured.references, str(name)) for name in measured.groups.ids]
    return Rouge(candidates, references, n=2 if spec.kind == "rouge2" else 1)


def _references(by_problem: Mapping[str, list[str]], name: str) -> list[list[str]]:
    """Tokens of the references of one problem; raises `InputError` if they contain no word."""
    found = [tokens(text) for text in by_problem.get(name, ())]
    if not any(found):
        raise InputError(f"Problem {name} has no reference with any word. Add one, or leave the problem out.")
    return found


def _qrels(spec: RewardSpec, measured: Measured) -> Reward:
    """`qrels:` - share of subtopics answered, from a file of TREC judgements."""
    judgements = read_qrels(spec.argument)
    return Coverage(subtopic_coverage(judgements, measured.groups.ids, measured.item_ids, measured.groups.offsets))


def _own(spec: RewardSpec, measured: Measured) -> Reward:
    """`FILE.py:FUNCTION` - the user's own function; its file is executed."""
    return Function(load_function(spec.argument, spec.function))


def _column(spec: RewardSpec, measured: Measured) -> Floats:
    """Return the column that the spec names, as numbers."""
    return numbers(measured.table, spec.argument, "reward")


def _not_negative(table: Table, name: str) -> Floats:
    """Return a column as numbers; raise `InputError` below 0."""
    values = numbers(table, name, "reward")
    _within(table, name, values, np.inf, "What an item is worth is 0 or more.")
    return values


def _within(table: Table, name: str, values: Floats, high: float, advice: str) -> None:
    """Raise `InputError` for the first value below 0 or above `high`, with advice."""
    bad = first_bad(~((values >= 0) & (values <= high)))
    if bad is not None:
        raise table.error(
            bad,
            name,
            f"{values[bad]:g} is below 0" if high == np.inf else f"{values[bad]:g} is not between 0 and {high:g}",
            advice,
        )


_BUILDERS: dict[str, Callable[[RewardSpec, Measured], Reward]] = {
    "any": _any,
    "graded": _graded,
    "share": _total,
    "sum": _total,
    "coverage": _coverage,
    "probabilistic": _probabilistic,
    "sqrt": _concave,
    "log": _concave,
    "facility": _facility,
    "rouge": _rouge,
    "rouge2": _rouge,
    "qrels": _qrels,
    "python": _own,
}
