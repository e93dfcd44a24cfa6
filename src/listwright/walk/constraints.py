"""Constraints of lists, checked and tracked in one place for everything that builds lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Bools, Floats, Ints, as_numbers, at_least_one
from listwright._internal.quotas import ROUNDING
from listwright._kernels.constraints import FIRST, NO_QUOTAS, NO_SIZES, PINNED, ListLimits, open_rows, use_up_rows
from listwright._kernels.rows import best_rows
from listwright.errors import InputError
from listwright.problems import Problems


def check_problems(problems: object) -> None:
    if hasattr(problems, "shards"):
        raise InputError(f"This method needs problems in memory, not a {type(problems).__name__}. Pass scan.sample().")
    if not isinstance(problems, Problems):
        way = "Read files with lw.read" if isinstance(problems, str | Path) else "See Problems.from_arrays"
        raise InputError(f"Pass listwright.Problems or a frame, not {type(problems).__name__}. {way}.")


def check_length(length: int, problems: Problems, *, allow_short: bool) -> None:
    at_least_one("length", length)
    if not allow_short and problems.counts.min() < length:
        short = int(np.argmax(problems.counts < length))
        name, count = problems.problem_ids[short], problems.counts[short]
        way = "Pass allow_short=True to accept shorter lists."
        if problems.backend is not None:  # they were rows of a frame
            split = "split whole problems: by GroupKFold, or by passing Problems.from_frame(...)"
            way = f"If the rows of the frame were split at random, such as by KFold, {split}. {way}"
        raise InputError(f"Problem {name!s} has {count} candidates but length={length}. {way}")


def as_limits(length: int | None, budget: Any, usual_length: int, usual_budget: float | None) -> tuple[int | None, Any]:
    """Return the length and budget asked for; if neither is, the usual budget or else the usual length."""
    if length is not None or budget is not None:
        return length, budget
    return (usual_length, None) if usual_budget is None else (None, usual_budget)


def as_budgets(budget: ArrayLike | None, problems: Problems) -> Floats | None:
    # A tolerance is added for rounding, because three times 0.1 exceeds 0.3 in binary.
    if budget is None:
        return None
    if problems.sizes is None:
        way = "Name a frame's column with size=, or pass sizes= to Problems.from_arrays."
        raise InputError(f"A budget needs sizes, but these problems have none. {way}")
    budgets = as_numbers(budget, "budget")
    if budgets.shape not in {(), (len(problems),)} or not (budgets > 0).all():
        raise InputError(f"budget must be above 0: one number, or one per problem ({len(problems)}). Got {budget!r}.")
    return np.broadcast_to(budgets * (1.0 + ROUNDING), len(problems)).copy()


def as_constrained(problems: Problems, asked: Any, usual: Any) -> Problems:
    """Return the problems under the quotas asked for; else under their own, and else under the usual ones."""
    if asked is None and problems.quotas is not None and problems.quotas.groups.shape[1]:
        return problems
    return problems.with_constraints(per_group=usual if asked is None else asked)


class Constraints:
    """What each list may still take: budgets, quotas, excluded and pinned rows, alternatives."""

    _sets: Ints | None = None  # by row, the number of its set of alternatives

    def __init__(
        self, problems: Problems, budgets: Floats | None, length: int | None = None, *, replays: bool = False
    ) -> None:
        self.problems, quotas = problems, problems.quotas
        sizes, left = NO_SIZES, np.full(len(problems), np.inf)
        if budgets is not None and problems.sizes is not None:
            sizes, left = problems.sizes, budgets.copy()
        self._needs_first = False
        parts = NO_QUOTAS
        if quotas is not None:
            needs = quotas.needs_first(problems.offsets, limited=length is None or bool(len(sizes)))
            self._needs_first = bool(needs.any())
            parts = quotas.limits(problems.offsets, length, needs_first=needs, replays=replays)
        self._limits = ListLimits(sizes, left, *parts, False)
        if quotas is not None and quotas.pins:
            self._check_pinned()
        if quotas is not None and quotas.alternatives.shape[1]:
            numbers = quotas.alternatives[:, 0] + 1  # 0 for rows without alternatives
            self._sets = np.where(numbers > 0, problems.owners * int(numbers.max()) + numbers, 0)
            self._largest = np.zeros(int(self._sets.max()) + 1)  # size of the largest pick of each set

    @property
    def stepwise(self) -> bool:
        """Whether what is open does not follow from closed rows: lists are to be built step by step."""
        return self._needs_first or self._sets is not None

    def limits(self, *, repeats: bool = False) -> ListLimits:
        """Return the constraints as compiled functions take them, which close rows for good."""
        if self._needs_first:
            raise InputError(
                "Minimums in per_group need a length here, not a budget. Leave out the budget, or use "
                "a method that builds lists step by step, such as SCP, TopK or greedy."
            )
        if self._sets is not None:
            raise InputError(
                "This method does not support alternatives. Use one that builds lists step by step, such as SCP, TopK "
                "or greedy."
            )
        return self._limits._replace(repeats=repeats)

    @property
    def left(self) -> Floats:
        return self._limits.budgets

    def fits(self) -> Bools:
        sizes, left = self._limits.sizes, self._limits.budgets
        fits = open_rows(self._limits) if len(self._limits.groups) else np.ones(self.problems.n_rows, dtype=bool)
        if len(sizes):
            fits &= sizes <= left[self.problems.owners]
        return fits & ~self.worthless()

    def worthless(self) -> Bools:
        """Return by row whether an alternative to it, at least as large, is in the list."""
        if self._sets is None or self.problems.sizes is None:
            return np.zeros(self.problems.n_rows, dtype=bool)
        return self.problems.sizes <= self._largest[self._sets]

    def take(self, picks: Ints) -> None:
        """Subtract one picked row per problem; -1 picks none."""
        sizes, left = self._limits.sizes, self._limits.budgets
        if len(sizes):
            some = picks >= 0
            left[some] -= sizes[picks[some]]
        if len(self._limits.groups):
            use_up_rows(picks, self._limits)
        if self._sets is not None and self.problems.sizes is not None:
            rows = picks[picks >= 0]
            rows = rows[self._sets[rows] > 0]
            np.maximum.at(self._largest, self._sets[rows], self.problems.sizes[rows])

    def swap_last(self, picks: Ints, scores: Floats, options: Bools) -> Ints:
        """Return the picks; where nothing else would fit after one, the row with the highest score times size."""
        # Scores per size have no level of their own: they count from the lowest one that is open.
        offsets, owners, sizes = self.problems.offsets, self.problems.owners, self._limits.sizes
        some = picks >= 0
        others = np.where(options, sizes, np.inf)
        others[picks[some]] = np.inf
        left = self.left - np.where(some, sizes[picks], 0.0)
        last = some & (np.minimum.reduceat(others, offsets[:-1]) > left)
        if not last.any():
            return picks
        lowest = np.minimum.reduceat(np.where(options, scores, np.inf), offsets[:-1])[owners]
        gains = np.where(options, scores - lowest, 0.0) * sizes
        return np.where(last, best_rows(gains, options, offsets), picks)

    def _check_pinned(self) -> None:
        limits = self._limits
        limits = limits._replace(budgets=limits.budgets.copy(), counts=limits.counts.copy(), left=limits.left.copy())
        rows = limits.counts[: len(limits.budgets), PINNED].copy()
        limits.counts[:, FIRST], limits.counts[: len(rows), PINNED] = 0, -1
        while (rows >= 0).any():
            fits = open_rows(limits)
            for problem in np.flatnonzero(rows >= 0):
                row = int(rows[problem])
                limits.budgets[problem] -= limits.sizes[row] if len(limits.sizes) else 0.0
                if limits.budgets[problem] < 0 or not fits[row]:
                    raise InputError(f"The pinned rows do not fit: there is no room for {self.problems.name_of(row)}.")
            use_up_rows(rows, limits)
            rows = np.where(rows >= 0, limits.groups[rows, -1], -1)
