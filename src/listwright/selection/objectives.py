"""What a selection is optimised for: each objective knows how to pick greedily by itself."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.progress import ProgressCallback, silent
from listwright.selection.constraints import RowConstraints
from listwright.selection.similarity import Given, SimilarityMatrix

FULL = 1 - 1 / math.e  # plain greedy under a count: Nemhauser, Wolsey & Fisher (1978)
TINY = 1e-300
NEAR = 1e-3  # share of the largest squared distance below which float32 does not suffice
COPY = 1e-12  # and below which rows differ by rounding alone
PAYS = 1e-7  # share of the value that an exchange must add


class Proof(NamedTuple):
    """A bound in words and as a number: value >= ratio * best; ratio is None if nothing is proved."""

    words: str
    ratio: float | None


def of_these_data(added: float, most: float, known: float | None, why: str, what: str) -> Proof:
    """Return the better of the bound that is known for any data and the one that these data show."""
    here = min(added / most, 1.0) if most > 0 else 1.0
    if known is not None and here <= known:
        return Proof(f"at least {why} of {what}", known)
    general = f"; for any data {why}" if known is not None else ""
    return Proof(f"at least {here:.3f} of {what} for these data{general}", here)


def any_data(constraints: RowConstraints, n_picked: int) -> tuple[float | None, str, str]:
    if not constraints.has_costs:
        count = f"the best {n_picked:,} rows" if n_picked != 1 else "the best row"
        if not constraints.has_groups:
            return FULL, f"1 - 1/e = {FULL:.3f}", count
        # The sets that can be completed within nested quotas, from below and above, are a matroid: Fisher, Nemhauser &
        # Wolsey (1978); El Halabi et al. (2020).
        return 0.5, "1/2", f"{count} within the groups"
    what = "the best rows within the budgets" if constraints.several_budgets else "the best rows within the budget"
    if constraints.has_groups or constraints.counted or constraints.several_budgets:
        return None, "", what
    # The better of the gains per cost and the best single row: Feldman, Nutov & Shoham (2021).
    return 0.427, "0.427", what


def most_possible(added: float, bounds: Floats, constraints: RowConstraints) -> float:
    gains = constraints.highest(bounds)
    most = float(np.sort(gains)[::-1][: constraints.k].sum())
    for costs, left in constraints.prices():
        rates = gains / np.maximum(costs, TINY)
        order = np.argsort(-rates, kind="stable")
        before = np.cumsum(costs[order]) - costs[order]
        share = np.clip((left - before) / np.maximum(costs[order], TINY), 0.0, 1.0)
        most = min(most, float((gains[order] * share).sum()))
    return added + most


class Solved(NamedTuple):
    """A greedy selection."""

    rows: Ints  # the picks, in order
    gains: Floats  # what each pick added
    bounds: Floats  # upper bounds on what each row would add next to the picks
    before: float  # the value of the given rows

    @property
    def gain(self) -> float:
        return float(self.gains.sum())


class Objective(ABC):
    """Base class of objectives: what a set of rows is worth."""

    submodular = True
    device = "cpu"

    @abstractmethod
    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        """Return the greedy picks. `constraints` are used up."""

    def share(self, constraints: RowConstraints) -> float | None:
        """Return the share of the best selection that `solve` reaches for any data; None if unknown."""
        return any_data(constraints, constraints.k)[0]

    def best_beside(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        """Return the one row that adds most next to those given."""
        return self.solve(constraints, tick)

    def refine(self, solved: Solved, constraints: RowConstraints, seconds: float) -> tuple[Solved, float]:
        """Exchange each pick for the row that adds most in its place until none pays; return what that added."""
        rows, value, at, since = solved.rows.copy(), solved.before + solved.gain, 0, 0
        end = time.monotonic() + seconds

        def tick(*_: object) -> None:
            if time.monotonic() > end:
                raise TimeoutError

        with suppress(TimeoutError):
            while since < len(rows):
                best = self.best_beside(constraints.beside(np.delete(rows, at)), tick)
                if len(best.rows) and best.before + best.gain > value + PAYS * abs(value):
                    rows[at], value, since = best.rows[0], best.before + best.gain, 0
                at, since = (at + 1) % len(rows), since + 1
                tick()
        # In the order in which greedy would pick them from each other.
        free = RowConstraints.free(len(constraints.open), len(rows), constraints.given)
        better = self.solve(free.copy(open=np.isin(np.arange(len(free.open)), rows)), silent)
        added = better.gain - solved.gain
        return (solved._replace(rows=better.rows, gains=better.gains), added) if added > 0 else (solved, 0.0)

    def prove(self, constraints: RowConstraints, solved: Solved) -> Proof:
        """Return what is known about the picks; `constraints` as they were before the run."""
        if not self.submodular:
            return Proof("no bound: this reward is not submodular", None)
        most = most_possible(solved.gain, solved.bounds, constraints)
        return of_these_data(solved.gain, most, *any_data(constraints, len(solved.rows)))


@dataclass(eq=False)
class DistanceState:
    """Distances of all rows to the picks."""

    nearest: Floats  # to the nearest pick
    total: Floats  # to all picks together
    picks: list[int] = field(default_factory=list)
    rows: list[Floats] | None = None  # the distances of each pick, where they are needed
    gaps: list[float] = field(default_factory=list)  # of each pick to the nearest other one

    def add(self, row: int, distances: Floats) -> None:
        self.gaps = [min(gap, float(distances[pick])) for gap, pick in zip(self.gaps, self.picks, strict=True)]
        self.gaps.append(float(self.nearest[row]))
        self.nearest = np.minimum(self.nearest, distances)
        self.total = self.total + distances
        self.picks.append(row)
        if self.rows is not None:
            self.rows.append(distances)


def _gap_gains(state: DistanceState) -> Floats:
    gains = np.where(np.isfinite(state.nearest), state.nearest, 0.0)
    for gap, distances in zip(state.gaps, state.rows or [], strict=True):
        gains += np.minimum(distances, gap) - gap if np.isfinite(gap) else distances
    return gains


# By name: the value of the picks, and the score by which the next one is picked.
KINDS: dict[str, tuple[Callable[[DistanceState], float], Callable[[DistanceState], Floats]]] = {
    "max_min": (lambda state: -float(state.nearest.max()) if state.picks else 0.0, lambda state: state.nearest),
    "disparity_min": (lambda state: min(state.gaps) if len(state.picks) > 1 else 0.0, lambda state: state.nearest),
    "disparity_sum": (lambda state: float(state.total[state.picks].sum()) / 2.0, lambda state: state.total),
    "dispersion": (lambda state: sum(state.gaps) if len(state.picks) > 1 else 0.0, _gap_gains),
}


@dataclass(eq=False)
class Dispersion(Objective):
    """Distances among the picks, or of all rows to them, with the farthest row picked first."""

    similarity: SimilarityMatrix
    kind: str
    device: str = "cpu"

    submodular = False

    def distances(self, row: int) -> Floats:
        """Return the distance of a row to all others; with a given matrix, 1 minus the similarity."""
        similar = self.similarity.column(row).astype(np.float64)
        if isinstance(self.similarity, Given):
            return np.maximum(1.0 - similar, 0.0)
        squared, ceiling = self.similarity.squared_distances(similar), self.similarity.ceiling
        near = np.flatnonzero(squared < NEAR * ceiling)
        squared[near] = self.similarity.squared_between(row, near)
        apart = np.sqrt(np.where(squared > COPY * ceiling, squared, 0.0))
        apart[row] = 0.0
        return apart

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        n, (value, score) = self.similarity.n, KINDS[self.kind]
        state = DistanceState(np.full(n, np.inf), np.zeros(n), rows=[] if self.kind == "dispersion" else None)
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

    def best_beside(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        if self.kind != "max_min":  # the score by which rows are picked is what they add
            return self.solve(constraints, tick)
        least, rows, none = np.inf, np.empty(0, dtype=np.int64), np.full(self.similarity.n, np.inf)
        nearest = reduce(np.minimum, map(self.distances, constraints.given.tolist()), none)
        away, open_rows = self.distances(int(nearest.argmax())), np.flatnonzero(constraints.open)
        for row in open_rows[np.argsort(away[open_rows], kind="stable")].tolist():
            if away[row] >= least:  # then the farthest row stays at least as far from all picks
                break
            radius = float(np.minimum(nearest, self.distances(row)).max())
            rows, least = (np.array([row]), radius) if radius < least else (rows, least)
            tick("exchanges", 0, 1)
        return Solved(rows, np.full(len(rows), -least), np.zeros(0), 0.0)

    def prove(self, constraints: RowConstraints, solved: Solved) -> Proof:
        k = len(solved.rows)
        center, small = self.kind == "max_min", k < 2
        known = not (constraints.closes or len(constraints.given) or isinstance(self.similarity, Given))
        if not known or (not constraints.plain if center else small):
            return Proof("no ratio is known for these distances or constraints", None)
        if center:  # Gonzalez (1985)
            best = "the best row reaches" if small else f"the best {k:,} rows reach"
            return Proof(f"no row is farther from a pick than 2 times what {best}", None)
        if self.kind == "disparity_min":  # Ravi, Rosenkrantz & Tayi (1994)
            return Proof(f"at least 1/2 of the best {k:,} rows", 0.5)
        if self.kind == "disparity_sum":  # Birnbaum & Goldman (2009)
            ratio = (k - 2) / (2 * k - 2)
            return Proof(f"at least (k - 2) / (2 k - 2) = {ratio:.3f} of the best {k:,} rows", ratio)
        return Proof("no ratio is known for this reward", None)
