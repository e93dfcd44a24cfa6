"""Facility location from vectors on the CPU: tiles by BLAS in float32, sums in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from listwright._internal.arrays import Bools, Floats, Floats32, Ints
from listwright._internal.progress import ProgressCallback
from listwright._kernels.tiles import Marks, falls, highest_outside, stale_rows, take_above
from listwright.selection.constraints import RowConstraints
from listwright.selection.graph import Exchange, refine_picks
from listwright.selection.objectives import Objective, Proof, Solved, any_data, most_possible, of_these_data
from listwright.selection.similarity import TARGETS, SimilarityMatrix, map_blocks, sweep

MOST_NEAR = 64  # if more rows than this are too close to the best to distinguish, they are as good as equal
TIE = 1e-9  # relative difference below which gains are equal, and the lowest row wins
CONFIDENCE = 0.95
ACTIVE = 40  # one row in this many is active
LEAST_ACTIVE = 512
CHUNK = 4  # rows measured together, per active row
SOME = 8192  # scores that tell how high those of a chunk are
GROWTH = 32  # picks until the full number of rows is active
ROUNDING = 1e-13  # differences below this share of the largest gain are rounding


class Epochs:
    """One run of greedy on a board, which holds the best similarities of the targets so far: `Blocks`, or the GPU's."""

    def __init__(self, board: Any, constraints: RowConstraints, bounds: Floats, tick: ProgressCallback) -> None:
        self.board, self.constraints, self.tick, self.bounds = board, constraints, tick, bounds
        self.since = np.full(len(bounds), -1, dtype=np.int32)  # mark at which the bound was the exact gain; -1 if never
        self.active = np.empty(0, dtype=np.int64)  # in order of rows
        self.gains = self.prices = np.empty(0)  # of the active rows
        self.shut = np.empty(0, dtype=bool)  # active rows that may no longer be picked
        self.outside = np.inf  # the highest score of rows that are not active
        self.largest = 0.0  # of all gains so far

    def run(self) -> tuple[Ints, Floats]:
        rows: list[int] = []
        gains: list[float] = []
        while not self.constraints.done:
            scores = self._scores()
            if scores.max(initial=-np.inf) < self.outside * (1 + max(self.board.near, TIE)):
                self._new_epoch()
                scores = self._scores()
            at = self._best(scores)
            row = int(self.active[at])
            brought, falls = self.board.pick(row)
            self.gains -= falls
            self._take(at, row)
            rows.append(row)
            gains.append(brought)
            self.tick("picking", len(rows), self.constraints.k)
        self._keep()
        self.bounds[rows] = 0.0
        return np.array(rows, dtype=np.int64), np.array(gains)

    def _scores(self) -> Floats:
        return np.where(self.shut, -np.inf, self.gains / self.prices)

    def _best(self, scores: Floats) -> int:
        """Return the place of the best active row, the lowest among equals; float64 decides where float32 cannot."""
        most = float(scores.max())
        self.largest = max(self.largest, most)
        near = np.flatnonzero(scores >= most - max(self.board.near, TIE) * abs(most))
        scores = scores[near]
        if self.board.near and 1 < len(near) <= MOST_NEAR:
            rows = self.active[near]
            scores = self.board.doubles.gains(rows) / self.constraints.costs[rows]  # 1 without costs
        equal = scores.max() - max(TIE * abs(most), ROUNDING * self.largest)
        return int(near[np.argmax(scores >= equal)])

    def _take(self, at: int, row: int) -> None:
        self.constraints.take_row(row)
        self.shut[at] = True
        if self.constraints.closes:
            self.shut = ~self.constraints.open[self.active]

    def _keep(self) -> None:
        self.bounds[self.active] = np.maximum(self.gains, 0.0)

    def _score(self, rows: Ints) -> Floats:
        return self.bounds[rows] / self.constraints.costs[rows]

    def _new_epoch(self) -> None:
        self._keep()
        mark = self.board.mark()
        self.since[self.active] = mark
        size, chunk = self._sizes()
        exact, least = self._highest_exact(self.active[self.constraints.open[self.active]], size)
        rules = self.constraints
        stale, scores = stale_rows(self.bounds, rules.costs, rules.open, self.since, mark, least)
        while len(stale):
            chosen, left = take_above(stale, scores, least, max(_about_highest(scores, chunk), least))
            stale, scores = stale[:left], scores[:left]
            if len(chosen):
                self._measure(chosen, mark)
                both = np.sort(np.concatenate([exact, chosen]), kind="stable")
                exact, least = self._highest_exact(both, size)
        self._activate(exact)

    def _highest_exact(self, rows: Ints, size: int) -> tuple[Ints, float]:
        """Return the best of some measured rows, and the score from which on others may be among them."""
        if len(rows) <= size:
            return rows, -np.inf
        scores = self._score(rows)
        least = float(np.partition(scores, len(scores) - size)[len(scores) - size])
        return rows[_highest(scores, least, size)], least * (1 - TIE)

    def _sizes(self) -> tuple[int, int]:
        most = max(LEAST_ACTIVE, len(self.bounds) // ACTIVE)
        return max(LEAST_ACTIVE, min(most, most * self.constraints.n_picked // GROWTH)), CHUNK * most

    def _measure(self, rows: Ints, mark: int) -> None:
        first = (self.since[rows] < 0).any()
        self.bounds[rows] = np.maximum(self.board.gains(rows, self.since[rows], self.bounds[rows]), 0.0)
        self.since[rows] = mark
        if first:
            self.tick("measuring rows", int((self.since >= 0).sum()), len(self.since))

    def _activate(self, rows: Ints) -> None:
        self.active, self.prices = rows, self.constraints.costs[rows]
        self.gains, self.shut = self.bounds[rows], np.zeros(len(rows), dtype=bool)
        self.outside = highest_outside(self.bounds, self.constraints.costs, self.constraints.open, rows)
        self.board.activate(rows)


def _about_highest(scores: Floats, count: int) -> float:
    """Return a score that about `count` of them reach, from some of them."""
    some = scores[:: max(len(scores) // SOME, 1)]
    above = count * len(some) // len(scores)
    return -np.inf if above >= len(some) else float(np.partition(some, len(some) - above - 1)[len(some) - above - 1])


def _highest(scores: Floats, least: float, count: int) -> Bools:
    """Return a mask of the `count` scores from `least` on; among those equal to it up to rounding, the first."""
    chosen = scores > least * (1 + TIE)
    equal = np.flatnonzero((scores >= least * (1 - TIE)) & ~chosen)
    chosen[equal[: max(count - int(chosen.sum()), 0)]] = True
    return chosen


EXACT_TARGETS = 2048  # targets per tile in float64
GATHERING = 64  # gathering the vectors of changed targets costs as much as this many candidates


class Blocks:
    """The board of `Epochs` on the CPU. It keeps a few numbers per target and mark, and the tiles in use."""

    near = 1e-5  # relative difference below which gains are measured again in float64; 0 for never
    batch = 64  # rows that are worth measuring together

    def __init__(self, similarity: SimilarityMatrix, weights: Floats) -> None:
        self.similarity, self.weights = similarity, weights
        self.best = np.zeros(similarity.n_targets, dtype=np.float32)
        self.marks: list[Floats32] = []
        self.active = np.empty(0, dtype=np.int64)
        self.doubles = Doubles(similarity, weights)

    def gain_bounds(self) -> Floats:
        return self.similarity.gain_bounds(self.weights)

    def gains(self, rows: Ints, since: Marks, known: Floats) -> Floats:
        """Return what each of the rows would add now, given its gain `known` at the mark `since` (-1 if unknown)."""
        # A row that was measured at a mark only needs the targets that changed since then, unless these are so many
        # that measuring it anew is cheaper.
        gains, anew = known.copy(), since < 0
        for last in np.unique(since[~anew]):
            some, changed = since == last, np.flatnonzero(self.best > self.marks[last])
            if len(changed) * (some.sum() + GATHERING) > len(self.best) * some.sum():
                anew |= some
            else:
                gains[some] -= self._fell(rows[some], changed, self.marks[last][changed], self.best[changed])
        gains[anew] = self._fell(rows[anew], None, self.best, np.full_like(self.best, np.inf))
        return gains

    def mark(self) -> int:
        self.marks.append(self.best.copy())
        return len(self.marks) - 1

    def activate(self, rows: Ints) -> None:
        self.active = rows

    def pick(self, row: int) -> tuple[float, Floats]:
        """Pick a row; return what it adds, and the decreases of the active rows."""
        brought, changed, before = self._raise_best(row)
        return brought, self._fell(self.active, changed, before, self.best[changed])

    def lift(self, row: int) -> float:
        return self._raise_best(row)[0]

    def _raise_best(self, row: int) -> tuple[float, Ints, Floats32]:
        """Pick a row; return what it adds, the targets whose best similarity rose, and what that was before."""
        similar = self.similarity.column(row)
        self.doubles.picked.append(row)
        changed = np.flatnonzero(similar - self.best > np.float32(self.similarity.noise))
        before = self.best[changed]
        rises = (similar[changed] - before).astype(np.float64)
        self.best = self.best.copy()  # copies of the board share it
        self.best[changed] = similar[changed]
        return float(self.weights[changed] @ rises), changed, before

    def _fell(self, rows: Ints, changed: Ints | None, old: Floats32, new: Floats32) -> Floats:
        """Return by row how much its gain decreases when the best of the changed targets goes from `old` to `new`."""
        weights = self.weights if changed is None else self.weights[changed]

        def measure(tile: Floats32, low: int, high: int, sums: Floats) -> None:
            falls(tile, old[low:high], new[low:high], weights[low:high], self.similarity.noise, sums)

        return sweep(self.similarity, rows, changed, measure)


class Doubles:
    """Best similarities in float64, for the few rows between which float32 cannot decide."""

    def __init__(self, similarity: SimilarityMatrix, weights: Floats) -> None:
        self.similarity, self.weights = similarity, weights
        self.best = np.zeros(similarity.n_targets)
        self.picked: list[int] = []

    def gains(self, rows: Ints) -> Floats:
        """Return what each of the rows would add, at 2 d operations per target and row, or row picked since."""
        both = self.similarity.candidates(np.concatenate([np.array(self.picked, dtype=np.int64), rows]), np.float64)
        new, self.picked = len(self.picked), []

        def work(block: slice) -> Floats:
            tile = self.similarity.tile(both, self.similarity.targets(block, np.float64))
            best = self.best[block] = np.maximum(self.best[block], tile[:new].max(axis=0, initial=0.0))
            return np.maximum(tile[new:] - best, 0.0) @ self.weights[block]

        return np.sum(map_blocks(work, self.similarity.n_targets, EXACT_TARGETS), axis=0)


def value_curve(similarity: SimilarityMatrix, weights: Floats, rows: Ints) -> Floats:
    gathered = similarity.candidates(rows)

    def work(block: slice) -> Floats:
        tile = similarity.tile(gathered, similarity.targets(block))
        best = np.maximum.accumulate(np.maximum(tile, np.float32(0.0)), axis=0)
        return best.astype(np.float64) @ weights[block]

    return np.sum(map_blocks(work, similarity.n_targets, TARGETS), axis=0)


@dataclass(eq=False)
class FacilityObjective(Objective):
    """Sum over targets of weight times the highest similarity to a pick: exact, without the matrix."""

    similarity: SimilarityMatrix
    weights: Floats  # what each target counts
    make_board: Callable[[SimilarityMatrix, Floats], Any] = Blocks  # of the device
    device: str = "cpu"
    make_exchange: Callable[[SimilarityMatrix, Floats, Ints, Ints], Exchange] = Exchange

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        board = self.make_board(self.similarity, self.weights)
        before = sum(float(board.lift(int(row))) for row in constraints.given)
        epochs = Epochs(board, constraints, board.gain_bounds(), tick)
        rows, gains = epochs.run()
        return Solved(rows, gains, epochs.bounds, float(before))

    def refine(self, solved: Solved, constraints: RowConstraints, seconds: float) -> tuple[Solved, float]:
        if constraints.has_costs:
            return super().refine(solved, constraints, seconds)
        state = self.make_exchange(self.similarity, self.weights, constraints.given, solved.rows)
        return refine_picks(state, solved, constraints, seconds)

    def among(self, rows: Ints) -> FacilityObjective:
        return replace(self, similarity=self.similarity.among(rows))

    def gains_beside(self, picked: Ints, rows: Ints) -> Floats:
        """Return what each of some rows would add next to the picks, at 2 d operations per row and target."""
        both = np.concatenate([picked, rows])
        board = self.make_board(self.similarity.among(both), self.weights)
        for pick in range(len(picked)):
            board.lift(pick)
        at = np.arange(len(picked), len(both))
        return np.maximum(board.gains(at, np.full(len(at), -1, dtype=np.int32), np.zeros(len(at))), 0.0)


@dataclass(eq=False)
class Sampled(Objective):
    """Facility location measured on a random sample of the targets; the picks are measured on all of them."""

    on_sample: Objective  # the objective on the sample; its weights sum to those of all targets
    similarity: SimilarityMatrix  # to all targets
    weights: Floats  # what each target counts
    n_sampled: int  # size of the sample
    curve: Callable[[SimilarityMatrix, Floats, Ints], Floats] = value_curve  # measures the picks on all targets
    device: str = "cpu"  # where the work is done
    most: float = np.nan  # bound on what any selection adds, with confidence; set by `solve`

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        first = constraints.copy()
        picked = self.on_sample.solve(constraints, tick)
        self.most = self._most(first, picked)
        order = np.concatenate([first.given, picked.rows])
        values = np.concatenate([[0.0], self.curve(self.similarity, self.weights, order)])
        n_given = len(first.given)
        return Solved(picked.rows, np.diff(values)[n_given:], picked.bounds, float(values[n_given]))

    def _most(self, constraints: RowConstraints, picked: Solved) -> float:
        """Return a bound on what the best selection adds on all targets: that on the sample, plus its error."""
        known = self.on_sample.share(constraints)
        most = most_possible(picked.gain, picked.bounds, constraints)
        most = min(most, picked.gain / known) if known else most
        # How far the mean over the sample may be below that over all rows: Hoeffding's and Serfling's bound.
        n, highest = len(self.weights), self.similarity.ceiling * float(self.weights.max())
        unseen = 1 - (self.n_sampled - 1) / n
        return most + highest * math.sqrt(unseen * math.log(1 / (1 - CONFIDENCE)) / (2 * self.n_sampled)) * n

    def prove(self, constraints: RowConstraints, solved: Solved) -> Proof:
        what = any_data(constraints, len(solved.rows))[2]
        proof = of_these_data(solved.gain, self.most, None, "", what)
        return proof._replace(words=f"with {CONFIDENCE:.0%} confidence {proof.words}")
