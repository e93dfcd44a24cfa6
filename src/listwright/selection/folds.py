"""Objectives that are measured from vectors by blocks while a selection grows, and greedy on any of them."""

from __future__ import annotations

import copy
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from timeit import repeat
from typing import Any

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Ints
from listwright._internal.extras import warn
from listwright._internal.progress import ProgressCallback
from listwright._kernels.cosines import Space
from listwright._kernels.lazy_volume import VolumeState, lazy_volume
from listwright.problems import Problems
from listwright.rewards import Function, Reward
from listwright.selection.constraints import RowConstraints
from listwright.selection.facility import TIE
from listwright.selection.objectives import Objective, Proof, Solved
from listwright.selection.similarity import CANDIDATES, GATHERED, SimilarityMatrix, Vectors, cut

MANY_CALLS, LONG = 100_000, 2.0  # calls of a plain function, or seconds, from which on a warning says so
FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


class SelectionFold(ABC):
    """What rows add to a growing selection. A shallow copy grows by itself: `add` changes nothing in place."""

    n: int
    submodular = monotone = True
    kept = False  # whether all gains are kept up to date, so that reading them costs nothing
    batch = 64  # rows that are measured together, otherwise

    @abstractmethod
    def gains(self, rows: Ints) -> Floats:
        """Return what each of the rows would add now."""

    @abstractmethod
    def add(self, row: int) -> float:
        """Add a row, and return what it added."""


class SaturatedFold(SelectionFold):
    """Saturated coverage: how much similarity each target can still count."""

    def __init__(self, similarity: SimilarityMatrix, weights: Floats, alpha: float) -> None:
        self.similarity, self.weights, self.n, self.batch = similarity, weights, similarity.n, similarity.batch
        self.capacity = alpha * similarity.totals()

    def gains(self, rows: Ints) -> Floats:
        return self.similarity.capped_sums(rows, self.capacity, self.weights)

    def add(self, row: int) -> float:
        used = np.minimum(np.maximum(self.similarity.column(row), 0.0), self.capacity)
        self.capacity = self.capacity - used
        return float(self.weights @ used)


class FacilityFold(SelectionFold):
    """Facility location: the highest similarity of each target to a pick."""

    def __init__(self, similarity: SimilarityMatrix, weights: Floats, make_board: Callable[..., Any]) -> None:
        self.board, self.n = make_board(similarity, weights), similarity.n
        self.batch = self.board.batch

    def gains(self, rows: Ints) -> Floats:
        gains: Floats = self.board.gains(rows, np.full(len(rows), -1, dtype=np.int32), np.zeros(len(rows)))
        return gains

    def add(self, row: int) -> float:
        self.board = copy.copy(self.board)
        return float(self.board.lift(row))


class GraphCutFold(SelectionFold):
    """Similarity of the picks to all targets, minus `redundancy` times that among the picks."""

    kept = True

    def __init__(
        self, similarity: SimilarityMatrix, among: SimilarityMatrix, weights: Floats, redundancy: float
    ) -> None:
        self.among, self.redundancy, self.n = among, redundancy, similarity.n
        self.worth = np.zeros(self.n)
        # A pick takes at most twice its similarity from others, which these count by their weight.
        self.monotone = among is similarity and 2 * redundancy <= weights.min()
        free = np.full(similarity.n_targets, np.inf)
        for block in cut(self.n, GATHERED):
            self.worth[block] = similarity.capped_sums(np.arange(block.start, block.stop), free, weights)
        self.worth -= redundancy * np.maximum(among.own(), 0.0)

    def gains(self, rows: Ints) -> Floats:
        return self.worth[rows]

    def add(self, row: int) -> float:
        added = float(self.worth[row])
        self.worth = self.worth - 2.0 * self.redundancy * np.maximum(self.among.column(row), 0.0)
        return added


class LogDetFold(SelectionFold):
    """log det(I + scale * K) for dot products: what the picks leave of each row."""

    kept = True

    def __init__(self, vectors: Vectors, scale: float) -> None:
        self.vectors, self.scale, self.n = vectors, scale, len(vectors)
        self.remaining, self.axes = 1.0 + scale * vectors.squares, np.zeros((0, vectors.width))
        self.shares = np.zeros(0)

    def gains(self, rows: Ints) -> Floats:
        return np.log(self.remaining[rows])

    def add(self, row: int) -> float:
        left, x = float(self.remaining[row]), np.asarray(self.vectors.take(np.array([row])), dtype=np.float64)[0]
        axis = x - (self.shares * (self.axes @ x)) @ self.axes
        self.axes, self.shares = np.vstack([self.axes, axis]), np.append(self.shares, self.scale / left)
        self.remaining = self.remaining.copy()
        for block in cut(self.n, GATHERED):
            part = self.vectors.take(block) @ axis.astype(np.float32)
            self.remaining[block] -= self.scale * self.shares[-1] * part.astype(np.float64) ** 2
        np.maximum(self.remaining, 1.0, out=self.remaining)
        return float(np.log(left))


class RewardFold(SelectionFold):
    """A reward of `listwright.rewards` for one problem."""

    batch = 8  # it may be slow to measure

    def __init__(self, reward: Reward, n: int) -> None:
        self.problem = Problems.from_arrays(np.zeros((n, 1), dtype=np.float32), offsets=[0, n], reward=reward)
        self.reward: Reward = self.problem.reward
        self.n, self.submodular = n, reward.submodular
        self.state: Any = self.reward.start(self.problem)

    def gains(self, rows: Ints) -> Floats:
        return self.reward.gains_of(self.state, rows)

    def add(self, row: int) -> float:
        gain = float(self.gains(np.array([row]))[0])
        self.state = self.reward.add(self.state, np.array([row]))
        return gain

    def by_compiled(self, constraints: RowConstraints) -> tuple[Ints, Floats, Floats, float] | None:
        """Return what the reward's compiled greedy picks, which knows k and one budget; None if there is none."""
        if not (constraints.plain and self.submodular):
            return None
        lists = self.reward.lazy_lists(self.problem, constraints.costs, np.array([constraints.budget]), constraints.k)
        if lists is None:
            return None
        rows, gains = lists[0][0], lists[1][0]
        for row in rows[rows >= 0]:
            self.state = self.reward.add(self.state, np.array([row]))
        return rows[rows >= 0], gains[rows >= 0], self.reward.gains(self.state), 0.0


class MixtureFold(SelectionFold):
    """A weighted sum of others."""

    def __init__(self, parts: Sequence[tuple[SelectionFold, float]]) -> None:
        self.parts, self.n = parts, parts[0][0].n
        self.kept, self.batch = all(fold.kept for fold, _ in parts), max(fold.batch for fold, _ in parts)
        self.submodular = all(fold.submodular for fold, _ in parts)
        self.monotone = all(fold.monotone for fold, _ in parts)

    def gains(self, rows: Ints) -> Floats:
        return np.sum([weight * fold.gains(rows) for fold, weight in self.parts], axis=0)

    def add(self, row: int) -> float:
        self.parts = [(copy.copy(fold), weight) for fold, weight in self.parts]
        return float(sum(weight * fold.add(row) for fold, weight in self.parts))


def run_greedy(
    fold: SelectionFold, constraints: RowConstraints, tick: ProgressCallback
) -> tuple[Ints, Floats, Floats, float]:
    """Select rows by greedy: rows, gains, bounds on further gains, and the value of the given rows."""
    before = sum(fold.add(int(row)) for row in constraints.given)
    bounds, fresh, open_rows = np.zeros(fold.n), np.zeros(fold.n, dtype=np.int64), np.flatnonzero(constraints.open)
    for block in cut(len(open_rows), CANDIDATES):
        bounds[open_rows[block]] = fold.gains(open_rows[block])
        tick("measuring rows", block.stop, len(open_rows))
    rows: list[int] = []
    gains: list[float] = []
    while not constraints.done:
        if rows and (fold.kept or not fold.submodular):
            again = np.flatnonzero(constraints.open)
            bounds[again], fresh[again] = fold.gains(again), len(rows)
        row = _next(fold, constraints, bounds, fresh, len(rows))
        gains.append(fold.add(row))
        rows.append(row)
        constraints.take_row(row)
        bounds[row] = 0.0
        tick("picking", len(rows), constraints.k)
    return np.array(rows, dtype=np.int64), np.array(gains), bounds, float(before)


def _next(fold: SelectionFold, constraints: RowConstraints, bounds: Floats, fresh: Ints, position: int) -> int:
    """Return the open row with the highest gain per cost, measuring the rows that look best until it is known."""
    open_rows = np.flatnonzero(constraints.open)
    while True:
        scores = bounds[open_rows] / constraints.costs[open_rows]
        most = scores.max()
        best = open_rows[scores >= most - TIE * abs(most)]
        stale = best[fresh[best] < position]
        if not len(stale):
            return int(best.min())
        few = fold.batch >= len(scores)
        high = open_rows if few else open_rows[np.argpartition(-scores, fold.batch)[: fold.batch]]
        again = np.union1d(high[fresh[high] < position], stale[: fold.batch])
        bounds[again], fresh[again] = fold.gains(again), position


@dataclass(eq=False)
class FoldObjective(Objective):
    """Any objective that is measured by blocks while the selection grows."""

    make_fold: Callable[[], SelectionFold]
    device: str = "cpu"
    empty: SelectionFold | None = None  # made once

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        self.empty = self.empty or self.make_fold()
        fold = copy.copy(self.empty)
        self.submodular, self.monotone = fold.submodular, fold.monotone
        compiled = fold.by_compiled(constraints) if isinstance(fold, RewardFold) else None
        return Solved(*(run_greedy(fold, constraints, tick) if compiled is None else compiled))

    def prove(self, constraints: RowConstraints, solved: Solved) -> Proof:
        if not self.monotone:
            return Proof("no ratio is known: more rows may be worth less", None)
        return super().prove(constraints, solved)


def select_volume(
    vectors: Vectors, gamma: float, scale: float, constraints: RowConstraints, tick: ProgressCallback
) -> tuple[Ints, Floats, Floats, float]:
    n, n_given = len(vectors), len(constraints.given)
    steps = n_given + constraints.k
    order = np.full(steps, -1)
    order[:n_given] = constraints.given
    squares, seen, shares = vectors.squares.copy(), np.zeros(n, dtype=np.int64), np.zeros(steps)
    remaining = np.full(n, 1.0 + scale) if gamma > 0 else 1.0 + scale * squares
    axes = np.zeros((0 if gamma > 0 else steps, vectors.width))
    explained = np.zeros((n if gamma > 0 else 0, steps), dtype=np.float32)
    kernel = squares, float(gamma), float(scale)
    volume = VolumeState(as_space(vectors), *kernel, order, remaining, seen, shares, axes, explained)
    picked, bounds, heap = np.zeros(steps), np.zeros(n), np.flatnonzero(constraints.open)
    tick("picking", 0, constraints.k)
    count = lazy_volume(
        volume, n_given, constraints.costs, constraints.budget, *constraints.quotas, heap, bounds, picked
    )
    return order[n_given:count], picked[n_given:count], bounds, float(picked[:n_given].sum())


def as_space(vectors: Vectors) -> Space:
    inverse, table = vectors.inverse.astype(np.float64), vectors.table
    if sparse.issparse(table):
        starts, columns = table.indptr.astype(np.int64), table.indices.astype(np.int64)
        return Space(np.empty((0, 0), dtype=np.float32), starts, columns, table.data.astype(np.float32), inverse)
    dense = np.ascontiguousarray(table if vectors.centre is None else vectors.take(slice(None)), dtype=np.float32)
    none = np.empty(0, dtype=np.int64)
    return Space(dense, none, none, np.empty(0, dtype=np.float32), inverse)


@dataclass(eq=False)
class LogDetObjective(Objective):
    """log det(I + scale * K), where K is the kernel of the picks."""

    vectors: Vectors
    gamma: float  # 0 for dot products; above 0 for the rbf kernel
    scale: float
    solver: Callable[..., tuple[Ints, Floats, Floats, float]] = select_volume
    device: str = "cpu"

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        return Solved(*self.solver(self.vectors, self.gamma, self.scale, constraints, tick))

    def among(self, rows: Ints) -> LogDetObjective:
        return replace(self, vectors=self.vectors.only(rows))

    def gains_beside(self, picked: Ints, rows: Ints) -> Floats:
        """Return an upper bound on what each of some rows would add next to the picks: what it adds alone."""
        alone = self.vectors.squares[rows] if self.gamma == 0 else np.ones(len(rows))
        return np.log1p(self.scale * alone)


def as_set_function(reward: Any, n: int, k: int) -> Reward | None:
    """Return a function of row numbers, in an array or else in a set, as a reward; None if it gives no number."""
    for kind in (partial(np.array, dtype=np.int64), set):
        empty, both = (_number_of(reward, kind(rows)) for rows in ([], [0, n - 1]))
        if both is not None:
            break
    else:
        return None
    seconds = n * k * min(repeat(partial(_number_of, reward, kind([0, n - 1])), number=1, repeat=2))
    if n * k > MANY_CALLS or seconds > LONG:
        what = f"about {n * k:,} calls of it follow, which take about {max(seconds, 1.0):,.0f} s"
        warn(f"The reward is a plain function: {what}.", UserWarning)
    nothing = 0.0 if empty is None or not np.isfinite(empty) else empty
    return Function(lambda _, items: reward(kind(items)) if len(items) else nothing, submodular=False)


def _number_of(reward: Any, rows: Any) -> float | None:
    with warnings.catch_warnings(action="ignore"):  # of numpy, for no rows
        try:
            value = reward(rows)
        except FAULTS:
            return None
    return float(value) if is_number(value) else None


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) or (isinstance(value, np.ndarray) and value.shape == ())
