"""Saturated coverage from vectors: a target counts until it has a share of its total similarity."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.progress import ProgressCallback
from listwright._kernels.tiles import capped
from listwright.selection.constraints import RowConstraints
from listwright.selection.epochs import TIE
from listwright.selection.similarity import CANDIDATES, GATHERED, Similarity, column, sweep

BATCH = 64  # rows that are measured together


class Saturated:
    """State of saturated coverage: how much similarity each target can still count."""

    def __init__(self, similarity: Similarity, weights: Floats, alpha: float, tick: ProgressCallback) -> None:
        self.similarity, self.weights, self.tick = similarity, weights, tick
        self.room = alpha * self._totals()

    def _totals(self) -> Floats:
        """Return by target the sum of its positive similarities to all candidates."""
        totals, n = np.zeros(self.similarity.n_targets), self.similarity.n

        def measure(tile: Floats32, first: int, end: int, sums: Floats) -> None:
            totals[first:end] += np.maximum(tile, 0.0).sum(axis=0, dtype=np.float64)

        for low in range(0, n, GATHERED):
            sweep(self.similarity, np.arange(low, min(low + GATHERED, n)), None, measure)
            self.tick("measuring rows", min(low + GATHERED, n), 2 * n)
        return totals

    def gains(self, rows: Ints) -> Floats:
        """Return what each of the rows would add now."""

        def measure(tile: Floats32, low: int, high: int, sums: Floats) -> None:
            capped(tile, self.room[low:high], self.weights[low:high], sums)

        return sweep(self.similarity, rows, None, measure)

    def add(self, row: int) -> float:
        """Add a row, and return what it added."""
        used = np.minimum(np.maximum(column(self.similarity, row), 0.0), self.room)
        self.room = self.room - used
        return float(self.weights @ used)


def select_saturated(
    similarity: Similarity, weights: Floats, alpha: float, constraints: RowConstraints, tick: ProgressCallback
) -> tuple[Ints, Floats, Floats, float]:
    """Select rows by lazy greedy on saturated coverage."""
    state = Saturated(similarity, weights, alpha, tick)
    before = sum(state.add(int(row)) for row in constraints.given)
    bounds, fresh = np.zeros(similarity.n), np.zeros(similarity.n, dtype=np.int64)
    for low in range(0, similarity.n, CANDIDATES):
        some = np.arange(low, min(low + CANDIDATES, similarity.n))
        bounds[some] = state.gains(some)
        tick("measuring rows", similarity.n + some[-1] + 1, 2 * similarity.n)
    rows: list[int] = []
    gains: list[float] = []
    while not constraints.done:
        row = _next(state, constraints, bounds, fresh, len(rows))
        gains.append(state.add(row))
        rows.append(row)
        constraints.take_row(row)
        bounds[row] = 0.0
        tick("picking", len(rows), constraints.k)
    return np.array(rows, dtype=np.int64), np.array(gains), bounds, float(before)


def _next(state: Saturated, constraints: RowConstraints, bounds: Floats, fresh: Ints, position: int) -> int:
    """Return the open row with the highest gain per cost, measuring the rows that look best until the best one is
    known.
    """
    open_rows = np.flatnonzero(constraints.open)
    while True:
        scores = bounds[open_rows] / constraints.costs[open_rows]
        best = open_rows[scores >= scores.max() * (1 - TIE)]
        stale = best[fresh[best] < position]
        if not len(stale):
            return int(best.min())
        high = np.argsort(-scores, kind="stable")[:BATCH]
        again = open_rows[high][fresh[open_rows[high]] < position]
        again = np.union1d(again, stale[:BATCH])
        bounds[again], fresh[again] = state.gains(again), position
