"""Volume spanned by the list: the log-determinant reward of determinantal processes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from listwright._arrays import Floats, Ints, as_numbers
from listwright._ragged import Ragged, per_problem
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards.base import TableReward


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
    vectors : (rows, d) or (problems, items, d).
    scale : how strongly length counts; above 0.
    normalize : divide by the value of all candidates together; a list with repeats is held at 1.

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

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        assert self._source is not None
        if not self.scale > 0:
            raise InputError(f"scale must be above 0. Got {self.scale}.")
        vectors = as_numbers(self._source[0], "vectors")
        vectors = vectors.reshape(-1, vectors.shape[-1]) if vectors.ndim == 3 else vectors
        if vectors.ndim != 2 or len(vectors) != offsets[-1]:
            raise InputError(f"vectors must have one row a candidate ({offsets[-1]}). Got shape {vectors.shape}.")
        if not np.isfinite(vectors).all():
            raise InputError(f"vectors must be finite. Row {np.argwhere(~np.isfinite(vectors))[0][0]} is not.")
        totals = self._totals(vectors, offsets) if self.normalize else np.ones(len(offsets) - 1)
        return {"vectors": Ragged(vectors, offsets), "totals": per_problem(totals)}

    def _totals(self, vectors: Floats, offsets: Ints) -> Floats:
        blocks = [vectors[start:end] for start, end in zip(offsets[:-1], offsets[1:], strict=True)]
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
        raw = np.log(state.remaining)
        if state.held:
            raw = np.minimum(raw, np.maximum(state.totals - state.earned, 0.0)[state.owners])
        return raw / state.totals[state.owners]

    def add(self, state: LogDetState, picks: Ints) -> LogDetState:
        """One more Cholesky step in each problem that has a pick. Cost: the problem's vectors once."""
        some = np.flatnonzero(picks >= 0)
        earned = state.earned.copy()
        earned[some] += self.gains(state)[picks[some]] * state.totals[some]
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
