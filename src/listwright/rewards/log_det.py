"""Volume spanned by the list: the log-determinant reward of determinantal processes."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, Ints, as_numbers, first_bad
from listwright._internal.ragged import Ragged, per_problem
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards.base import TableReward, place_of, rows_of


class LogDetState(NamedTuple):
    """Cholesky rows of the list: what of each candidate the list explains already."""

    vectors: Floats
    owners: Ints
    totals: Floats
    held: bool
    remaining: Floats  # by row: 1 + scale * (squared length of the part that the list does not explain)
    explained: tuple[Floats, ...]  # one array of row coefficients for each pick so far
    earned: Floats


class LogDet(TableReward):
    """log det(I + scale * K) for the Gram matrix K of the list's vectors.

    Parameters
    ----------
    vectors : array-like
        (rows, d) or (problems, items, d).
    scale : float
        How strongly length counts; above 0.
    normalize : bool
        Divide by the value of all candidates together; a list with repeats is held at 1.

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

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Whether values are shares of what there is."""
        return self.normalize

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        assert self._source is not None
        if not self.scale > 0:
            raise InputError(f"scale must be above 0. Got {self.scale}.")
        vectors = rows_of(as_numbers(self._source[0], "vectors"), offsets, "vectors")
        bad = first_bad(~np.isfinite(vectors).all(axis=1))
        if bad is not None:
            raise InputError(f"vectors must be finite. That of {place_of(bad, offsets)} is not: {vectors[bad]}.")
        totals = self._totals(vectors, offsets) if self.normalize else np.ones(len(offsets) - 1)
        return {"vectors": Ragged(vectors, offsets), "totals": per_problem(totals)}

    def _totals(self, vectors: Floats, offsets: Ints) -> Floats:
        blocks = [vectors[start:end] for start, end in pairwise(offsets)]
        grams = [block @ block.T if len(block) <= block.shape[1] else block.T @ block for block in blocks]
        totals = np.array([np.linalg.slogdet(np.eye(len(gram)) + self.scale * gram)[1] for gram in grams])
        return np.where(totals > 0, totals, 1.0)

    def start(self, problems: Problems) -> LogDetState:
        """Nothing explained."""
        tables = self.bind(problems.offsets).tables
        vectors = np.sqrt(self.scale) * tables["vectors"].values
        return LogDetState(
            vectors,
            problems.owners,
            tables["totals"].values,
            self.normalize,
            1.0 + np.einsum("ij,ij->i", vectors, vectors),
            (),
            np.zeros(len(problems)),
        )

    def gains(self, state: LogDetState) -> Floats:
        """Log of what each row keeps for itself."""
        return self.gains_of(state, np.arange(len(state.owners)))

    def gains_of(self, state: LogDetState, rows: Ints) -> Floats:
        """The same for some rows."""
        owners = state.owners[rows]
        raw = np.log(state.remaining[rows])
        if state.held:
            raw = np.minimum(raw, np.maximum(state.totals - state.earned, 0.0)[owners])
        return raw / state.totals[owners]

    def add(self, state: LogDetState, picks: Ints) -> LogDetState:
        """One more Cholesky step in each problem that has a pick. Cost: the problem's vectors once."""
        some = np.flatnonzero(picks >= 0)
        earned = state.earned.copy()
        earned[some] += self.gains_of(state, picks[some]) * state.totals[some]
        rows = np.flatnonzero((picks >= 0)[state.owners])
        partner = picks[state.owners[rows]]
        overlap = np.einsum("ij,ij->i", state.vectors[rows], state.vectors[partner])
        for column in state.explained:
            overlap -= column[rows] * column[partner]
        column, remaining = np.zeros(len(state.owners)), state.remaining.copy()
        column[rows] = overlap / np.sqrt(state.remaining[partner])
        remaining[rows] = np.maximum(remaining[rows] - column[rows] ** 2, 1.0)
        return state._replace(remaining=remaining, explained=(*state.explained, column), earned=earned)

    def value(self, state: LogDetState) -> Floats:
        """Log-volume of the list."""
        return state.earned / state.totals
