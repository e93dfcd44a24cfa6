"""Picks that are far from each other or leave no row far away: k-center, and sums and minima of distances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.progress import ProgressCallback
from listwright.selection.constraints import RowConstraints
from listwright.selection.objectives import Objective, Solved
from listwright.selection.proof import Proof
from listwright.selection.similarity import Given, SimilarityMatrix, column


@dataclass(eq=False)
class DistanceState:
    """Distances of all rows to the picks."""

    nearest: Floats  # to the nearest pick
    total: Floats  # to all picks together
    picks: list[int] = field(default_factory=list)
    rows: list[Floats] = field(default_factory=list)  # the distances of each pick
    gaps: list[float] = field(default_factory=list)  # of each pick to the nearest other one

    def add(self, row: int, distances: Floats) -> None:
        """Add a pick."""
        self.gaps = [min(gap, float(distances[pick])) for gap, pick in zip(self.gaps, self.picks, strict=True)]
        self.gaps.append(float(self.nearest[row]))
        self.nearest = np.minimum(self.nearest, distances)
        self.total = self.total + distances
        self.picks.append(row)
        self.rows.append(distances)


def _radius(state: DistanceState) -> float:
    return -float(state.nearest.max()) if state.picks else 0.0


def _smallest(state: DistanceState) -> float:
    return min(state.gaps) if len(state.picks) > 1 else 0.0


def _sum(state: DistanceState) -> float:
    return float(state.total[state.picks].sum()) / 2.0


def _sum_of_gaps(state: DistanceState) -> float:
    return sum(state.gaps) if len(state.picks) > 1 else 0.0


def _gap_gains(state: DistanceState) -> Floats:
    """Return what each row would add to the sum of gaps."""
    gains = np.where(np.isfinite(state.nearest), state.nearest, 0.0)
    for gap, distances in zip(state.gaps, state.rows, strict=True):
        gains += np.minimum(distances, gap) - gap if np.isfinite(gap) else distances
    return gains


# By name: the value of the picks, and the score by which the next one is picked.
KINDS: dict[str, tuple[Callable[[DistanceState], float], Callable[[DistanceState], Floats]]] = {
    "max_min": (_radius, lambda state: state.nearest),
    "disparity_min": (_smallest, lambda state: state.nearest),
    "disparity_sum": (_sum, lambda state: state.total),
    "dispersion": (_sum_of_gaps, _gap_gains),
}


@dataclass(eq=False)
class Dispersion(Objective):
    """Distances among the picks, or of all rows to them, with the farthest row picked first."""

    similarity: SimilarityMatrix
    kind: str

    submodular = False

    def distances(self, row: int) -> Floats:
        """Return the distance of a row to all others; with a given matrix, 1 minus the similarity."""
        similar = column(self.similarity, row).astype(np.float64)
        if isinstance(self.similarity, Given):
            return np.maximum(1.0 - similar, 0.0)
        apart = np.sqrt(np.maximum(self.similarity.squared_distances(similar), 0.0))
        apart[row] = 0.0
        return apart

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        """Pick the row with the highest score again and again, the lowest row first and among equals."""
        n, (value, score) = self.similarity.n, KINDS[self.kind]
        state = DistanceState(np.full(n, np.inf), np.zeros(n))
        for row in constraints.given:
            state.add(int(row), self.distances(int(row)))
        before, rows, values = value(state), [], [value(state)]
        while not constraints.done:
            row = int(np.argmax(np.where(constraints.open, score(state) / constraints.costs, -np.inf)))
            state.add(row, self.distances(row))
            rows.append(row)
            values.append(value(state))
            constraints.take_row(row)
            tick("picking", len(rows), constraints.k)
        return Solved(np.array(rows, dtype=np.int64), np.diff(values), np.zeros(n), before)

    def prove(self, constraints: RowConstraints, solved: Solved) -> Proof:
        """Return the factors of farthest-first picks and of greedy sums, which hold for distances that are metrics."""
        k = len(solved.rows)
        if isinstance(self.similarity, Given) or constraints.closes or len(constraints.given) or k < 2:
            return Proof("no ratio is known for these distances or constraints", None)
        excluded = not constraints.plain
        if self.kind == "max_min" and not excluded:  # Gonzalez (1985)
            return Proof(f"no row is farther from a pick than 2 times what the best {k:,} rows reach", None)
        if self.kind == "disparity_min":  # Ravi, Rosenkrantz & Tayi (1994)
            return Proof(f"at least 1/2 of the best {k:,} rows", 0.5)
        if self.kind == "disparity_sum":  # Birnbaum & Goldman (2009)
            ratio = (k - 2) / (2 * k - 2)
            return Proof(f"at least (k - 2) / (2 k - 2) = {ratio:.3f} of the best {k:,} rows", ratio)
        return Proof("no ratio is known for this reward", None)
