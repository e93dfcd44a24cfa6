"""The log-determinant reward of determinantal point processes: the volume that a list spans."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, Ints, Ragged, as_numbers, first_bad, per_problem, row_dots
from listwright.errors import InputError
from listwright.rewards.base import TableReward, place_of, rows_of

if TYPE_CHECKING:
    from listwright.problems import Problems


class LogDetState(NamedTuple):
    """State of `LogDet`: an incremental Cholesky factorisation, one column per pick so far."""

    vectors: Floats  # the vectors, times the square root of the scale
    owners: Ints  # the problem of each row
    totals: Floats  # what values are divided by
    held: bool  # whether values may not exceed the totals
    remaining: Floats  # 1 + scale * the squared length of the part that the list does not span
    explained: tuple[Floats, ...]  # one column of the Cholesky factor per pick so far, shape (rows,)
    list_values: Floats  # the value of each list before the division


class LogDet(TableReward):
    """log det(I + scale * K), where K is the Gram matrix of the list's vectors.

    The value grows with the length of the vectors and with the angles between them, so it favours items that are strong
    and different. Use it to spread a list over an embedding space; multiply each vector by the item's quality to trade
    quality against diversity. It favours outliers: use `FacilityLocation` for items that represent the others.

    Parameters
    ----------
    vectors : array-like of shape (rows, d) or (problems, items, d)
        The vector of each item.
    scale : float, default 1.0
        Multiplies K; above 0. A large scale makes similar items more redundant.
    normalize : bool, default True
        Divide by the value of all candidates together. A list with repeated items never exceeds 1.

    See Also
    --------
    FacilityLocation : Rewards representing the other items.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = LogDet([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], normalize=False)
    >>> problems = lw.Problems.from_arrays([[0.0]] * 3, offsets=[0, 3], reward=reward)
    >>> state = reward.add(reward.start(problems), np.array([0]))
    >>> reward.value(state).round(3), reward.gains(state).round(3)
    (array([0.693]), array([0.405, 0.405, 0.693]))
    """

    def __init__(self, vectors: ArrayLike, scale: float = 1.0, *, normalize: bool = True) -> None:
        self._source = (vectors,)
        self.scale = scale
        self.normalize = normalize

    bounded = property(lambda self: self.normalize)

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        if not self.scale > 0:
            raise InputError(f"scale must be above 0. Got {self.scale}.")
        vectors = rows_of(as_numbers(self._source[0], "vectors"), offsets, "vectors")
        bad = first_bad(~np.isfinite(vectors).all(axis=1))
        if bad is not None:
            raise InputError(f"vectors must be finite. That of {place_of(bad, offsets)} is not: {vectors[bad]}.")
        totals = self._totals(vectors, offsets) if self.normalize else np.ones(len(offsets) - 1)
        return {"vectors": Ragged(vectors, offsets), "totals": per_problem(totals)}

    def _totals(self, vectors: Floats, offsets: Ints) -> Floats:
        """Return log det of all candidates, from the smaller of the two Gram matrices; 1 where it is 0."""
        blocks = [vectors[start:end] for start, end in pairwise(offsets)]
        grams = [block @ block.T if len(block) <= block.shape[1] else block.T @ block for block in blocks]
        totals = np.array([np.linalg.slogdet(np.eye(len(gram)) + self.scale * gram)[1] for gram in grams])
        return np.where(totals > 0, totals, 1.0)

    def start(self, problems: Problems) -> LogDetState:
        tables = self.bind(problems.offsets).tables
        vectors = np.sqrt(self.scale) * tables["vectors"].values
        remaining, list_values = 1.0 + row_dots(vectors, vectors), np.zeros(len(problems))
        return LogDetState(
            vectors, problems.owners, tables["totals"].values, self.normalize, remaining, (), list_values
        )

    def gains(self, state: LogDetState) -> Floats:
        """Return for each row the log of 1 + the squared length of the part that the list does not span."""
        return self.gains_of(state, np.arange(len(state.owners)))

    def gains_of(self, state: LogDetState, rows: Ints) -> Floats:
        owners = state.owners[rows]
        raw = np.log(state.remaining[rows])
        if state.held:
            raw = np.minimum(raw, np.maximum(state.totals - state.list_values, 0.0)[owners])
        return raw / state.totals[owners]

    def add(self, state: LogDetState, picks: Ints) -> LogDetState:
        """Return the state after one more Cholesky step in each problem that has a pick."""
        some = np.flatnonzero(picks >= 0)
        list_values = state.list_values.copy()
        list_values[some] += self.gains_of(state, picks[some]) * state.totals[some]
        rows = np.flatnonzero((picks >= 0)[state.owners])
        partner = picks[state.owners[rows]]
        overlap = row_dots(state.vectors[rows], state.vectors[partner])
        for column in state.explained:
            overlap -= column[rows] * column[partner]
        column, remaining = np.zeros(len(state.owners)), state.remaining.copy()
        column[rows] = overlap / np.sqrt(state.remaining[partner])
        remaining[rows] = np.maximum(remaining[rows] - column[rows] ** 2, 1.0)
        return state._replace(remaining=remaining, explained=(*state.explained, column), list_values=list_values)

    def value(self, state: LogDetState) -> Floats:
        return state.list_values / state.totals
