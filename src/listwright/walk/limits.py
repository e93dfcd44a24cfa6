"""Limits of lists: lengths and budgets, checked and tracked in one place for everything that builds lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Bools, Floats, Ints, as_numbers, at_least_one
from listwright.errors import InputError
from listwright.problems import Problems

ROUNDING = 1e-9  # relative excess over a budget that is accepted: three times 0.1 is more than 0.3 in binary


def check_problems(problems: object) -> None:
    """Raise `InputError` unless these are problems in memory, and says how to make them from what was passed."""
    if hasattr(problems, "shards"):
        raise InputError(f"This method needs problems in memory, not a {type(problems).__name__}. Pass scan.sample().")
    if not isinstance(problems, Problems):
        raise InputError(f"Pass listwright.Problems, not {type(problems).__name__}. See Problems.from_arrays.")


def check_length(length: int, problems: Problems, *, allow_short: bool) -> None:
    """Raise `InputError` if the length is below 1, or above the candidates of a problem unless `allow_short`."""
    at_least_one("length", length)
    if not allow_short and problems.counts.min() < length:
        short = int(np.argmax(problems.counts < length))
        name, count = problems.problem_ids[short], problems.counts[short]
        raise InputError(
            f"Problem {name!s} has {count} candidates but length={length}. "
            "Pass allow_short=True to accept shorter lists."
        )


def as_limits(length: int | None, budget: Any, usual_length: int, usual_budget: float | None) -> tuple[int | None, Any]:
    """Return the length and budget that are asked for; if neither is, the usual budget or, without one, the usual
    length.
    """
    if length is not None or budget is not None:
        return length, budget
    return (usual_length, None) if usual_budget is None else (None, usual_budget)


def as_room(budget: ArrayLike | None, problems: Problems) -> Floats | None:
    """Return the budget of each problem as floats, or None if there is no budget."""
    # A tolerance is added for rounding, because three times 0.1 exceeds 0.3 in binary.
    if budget is None:
        return None
    if problems.sizes is None:
        raise InputError("A budget needs sizes, but these problems have none. Pass sizes to Problems.from_arrays.")
    room = as_numbers(budget, "budget")
    if room.shape not in {(), (len(problems),)} or not (room > 0).all():
        raise InputError(f"budget must be above 0: one number, or one per problem ({len(problems)}). Got {budget!r}.")
    return np.broadcast_to(room * (1.0 + ROUNDING), len(problems)).copy()


def as_capped(problems: Problems, asked: Any, usual: Any) -> Problems:
    """Return the problems under the limit on groups that is asked for; else under their own, and else under the usual
    one.
    """
    if asked is None and problems.caps is not None:
        return problems
    return problems.capped(usual if asked is None else asked)


class Room:
    """Tracks what is left of the budget of each problem, and of the room of each group, while its list grows."""

    def __init__(self, problems: Problems, budgets: Floats | None) -> None:
        self.problems = problems
        if budgets is None or problems.sizes is None:
            self.sizes, self.left = np.zeros(0), np.full(len(problems), np.inf)
        else:
            self.sizes, self.left = problems.sizes, budgets.copy()
        if problems.caps is None:
            self.groups = self.caps = np.zeros(0, dtype=np.int64)
        else:
            self.groups, self.caps = problems.group_numbers, problems.caps.copy()

    @property
    def arrays(self) -> tuple[Floats, Floats, Ints, Ints]:
        """`sizes`, `left`, `groups` and `caps`, as compiled functions take them."""
        return self.sizes, self.left, self.groups, self.caps

    def fits(self) -> Bools:
        """Return by row whether there is room for it."""
        fits = np.ones(self.problems.n_rows, dtype=bool)
        if len(self.sizes):
            fits &= self.sizes <= self.left[self.problems.owners]
        if len(self.caps):
            fits &= self.caps > 0
        return fits

    def take(self, picks: Ints) -> None:
        """Subtract the size of one picked row per problem; -1 picks none."""
        if len(self.sizes):
            some = picks >= 0
            self.left[some] -= self.sizes[picks[some]]
        if len(self.caps):
            taken = np.where(picks >= 0, self.groups[picks], -1)
            self.caps -= self.groups == taken[self.problems.owners]
