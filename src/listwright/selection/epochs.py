"""Exact greedy facility location in epochs: most gains are only bounds, and a few are kept exact.

After a pick only the targets whose best similarity rose change any gain. During an epoch the gains of the rows that
look best, the active ones, are updated after each pick, from the targets that it changed. All other rows keep an old
gain, which bounds the new one because gains only decrease. When the best active row falls below the best bound, a new
epoch begins: rows with high bounds are measured again, from all targets that changed since they were last measured,
until the best rows are known. A target that changed five times in between counts once. Gains are sums of float32
numbers; rows that these cannot distinguish are measured again in float64, so the picks are those of plain greedy in
float64, on any device.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.progress import ProgressCallback
from listwright.selection.constraints import RowConstraints

MOST_NEAR = 64  # if more rows than this are too close to the best to distinguish, they are as good as equal
TIE = 1e-9  # relative difference below which gains are equal, and the lowest row wins
ACTIVE = 20  # one row in this many is active
LEAST_ACTIVE = 512
CHUNK = 4  # rows measured together, per active row
GROWTH = 32  # picks until the full number of rows is active
ROUNDING = 1e-13  # differences below this share of the largest gain are rounding

Marks = NDArray[np.int32]


class Board(Protocol):
    """The best similarities of the targets so far, wherever they are stored, and what follows from them."""

    near: float  # relative difference below which gains are measured again in float64; 0 for never

    def gains(self, rows: Ints, since: Marks, known: Floats) -> Floats:
        """Return what each of the rows would add now, given its gain `known` at the mark `since` (-1 if unknown)."""

    def mark(self) -> int:
        """Store the current best similarities of the targets, and return the number of the mark, from 0."""

    def activate(self, rows: Ints) -> None:
        """Set the rows whose decreases `pick` returns from now on."""

    def pick(self, row: int) -> tuple[float, Floats]:
        """Pick a row; return what it adds, and the decreases of the active rows."""

    def exact_gains(self, rows: Ints) -> Floats:
        """Return what each of a few rows would add now, in float64."""


class Epochs:
    """One run of greedy."""

    def __init__(self, board: Board, constraints: RowConstraints, bounds: Floats, tick: ProgressCallback) -> None:
        self.board, self.constraints, self.tick, self.bounds = board, constraints, tick, bounds
        self.since = np.full(len(bounds), -1, dtype=np.int32)  # mark at which the bound was the exact gain; -1 if never
        self.active = np.empty(0, dtype=np.int64)  # in order of rows
        self.gains = np.empty(0)  # of the active rows
        self.shut = np.empty(0, dtype=bool)  # active rows that may no longer be picked
        self.outside = np.inf  # the highest score of rows that are not active
        self.largest = 0.0  # of all gains so far

    def run(self) -> tuple[Ints, Floats]:
        """Return the picked rows and what each added."""
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
        """Return the scores of the active rows; -inf for rows that may no longer be picked."""
        scores = self.gains / self.constraints.costs[self.active] if self.constraints.has_costs else self.gains
        return np.where(self.shut, -np.inf, scores)

    def _best(self, scores: Floats) -> int:
        """Return the place of the best active row, the lowest among equals; float64 decides where float32 cannot."""
        most = float(scores.max())
        self.largest = max(self.largest, most)
        near = np.flatnonzero(scores >= most * (1 - max(self.board.near, TIE)))
        scores = scores[near]
        if self.board.near and 1 < len(near) <= MOST_NEAR:
            rows = self.active[near]
            costs = self.constraints.costs[rows] if self.constraints.has_costs else 1.0
            scores = self.board.exact_gains(rows) / costs
        equal = scores.max() - max(TIE * abs(most), ROUNDING * self.largest)
        return int(near[np.argmax(scores >= equal)])

    def _take(self, at: int, row: int) -> None:
        """Pick a row, and close active rows that the constraints no longer allow."""
        self.constraints.take_row(row)
        self.shut[at] = True
        if self.constraints.closes:
            self.shut = ~self.constraints.open[self.active]

    def _keep(self) -> None:
        """Copy the gains of the active rows to `bounds`."""
        self.bounds[self.active] = np.maximum(self.gains, 0.0)

    def _score(self, rows: Ints) -> Floats:
        """Return the bounds of some rows, per cost if there are costs."""
        return self.bounds[rows] / self.constraints.costs[rows] if self.constraints.has_costs else self.bounds[rows]

    def _new_epoch(self) -> None:
        """Measure rows until the best are known, and makes these the active ones."""
        self._keep()
        mark = self.board.mark()
        self.since[self.active] = mark
        exact = self.active[self.constraints.open[self.active]]
        size, chunk = self._sizes()
        stale = self._at_least(_floor(self._score(exact), size) * (1 - TIE), self.since < mark)
        scores = self._score(stale)
        while True:
            kept = scores >= _floor(self._score(exact), size) * (1 - TIE)
            stale, scores = stale[kept], scores[kept]
            if not len(stale):
                break
            chosen = _highest(scores, chunk)
            self._measure(stale[chosen], mark)
            exact, stale, scores = np.concatenate([exact, stale[chosen]]), stale[~chosen], scores[~chosen]
        self._activate(np.sort(exact), size)

    def _at_least(self, least: float, among: Bools) -> Ints:
        """Return the open rows among some whose bounds are high enough, without gathering the others."""
        among &= self.constraints.open
        if np.isfinite(least):
            among &= self.bounds >= (least * self.constraints.costs if self.constraints.has_costs else least)
        return np.flatnonzero(among)

    def _sizes(self) -> tuple[int, int]:
        """Return how many rows are to be active, and how many are measured together."""
        most = max(LEAST_ACTIVE, len(self.bounds) // ACTIVE)
        return max(LEAST_ACTIVE, min(most, most * self.constraints.n_picked // GROWTH)), CHUNK * most

    def _measure(self, rows: Ints, mark: int) -> None:
        """Measure some rows, so that their bounds are their gains at this mark."""
        first = (self.since[rows] < 0).any()
        self.bounds[rows] = np.maximum(self.board.gains(rows, self.since[rows], self.bounds[rows]), 0.0)
        self.since[rows] = mark
        if first:
            self.tick("measuring rows", int((self.since >= 0).sum()), len(self.since))

    def _activate(self, exact: Ints, size: int) -> None:
        """Make the highest of the exact rows active, and note the highest score outside."""
        self.active = exact[_highest(self._score(exact), size)]
        self.gains, self.shut = self.bounds[self.active], np.zeros(len(self.active), dtype=bool)
        scores = np.where(self.constraints.open, self.bounds, -np.inf)
        scores[self.active] = -np.inf
        self.outside = float((scores / self.constraints.costs if self.constraints.has_costs else scores).max())
        self.board.activate(self.active)


def _floor(scores: Floats, size: int) -> float:
    """Return the score that a row must exceed to be active, given the exact scores so far."""
    if len(scores) <= size:
        return -np.inf
    return float(np.partition(scores, len(scores) - size)[len(scores) - size])


def _highest(scores: Floats, count: int) -> Bools:
    """Return a mask of the `count` highest scores; among those equal up to rounding, the first."""
    if len(scores) <= count:
        return np.ones(len(scores), dtype=bool)
    least = np.partition(scores, len(scores) - count)[len(scores) - count]
    chosen = scores > least * (1 + TIE)
    equal = np.flatnonzero((scores >= least * (1 - TIE)) & ~chosen)
    chosen[equal[: max(count - int(chosen.sum()), 0)]] = True
    return chosen
