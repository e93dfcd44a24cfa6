"""Limits of lists: lengths and budgets, checked and tracked in one place for everything that builds lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Bools, Floats, Ints, as_numbers
from listwright._internal.limits import at_least_one
from listwright.errors import InputError
from listwright.problems import Problems

ROUNDING = 1e-9  # relative excess over a budget that is accepted: three times 0.1 is more than 0.3 in binary


def check_problems(problems: object) -> None:
    """Raises `InputError` unless these are problems in memory, and says how to make them from what was passed."""
    if hasattr(problems, "shards"):
        raise InputError(f"This method needs problems in memory, not a {type(problems).__name__}. Pass scan.sample().")
    if not isinstance(problems, Problems):
        raise InputError(f"Pass listwright.Problems, not {type(problems).__name__}. See Problems.from_arrays.")


def check_length(length: int, problems: Problems, *, short_lists: bool) -> None:
    """Raises `InputError` if the length is below 1, or above the candidates of a problem unless `short_lists`."""
    at_least_one("length", length)
    if not short_lists and problems.counts.min() < length:
        short = int(np.argmax(problems.counts < length))
        name, count = problems.problem_ids[short], problems.counts[short]
        raise InputError(
            f"Problem {name!s} has {count} candidates but length={length}. "
            "Pass short_lists=True to accept shorter lists."
        )


def as_limits(length: int | None, budget: Any, usual_length: int, usual_budget: float | None) -> tuple[int | None, Any]:
    """Returns the length and budget that are asked for; if neither is, the usual budget or, without one, the usual
    length.

    >>> as_limits(3, None, 5, 40.0), as_limits(None, None, 5, 40.0), as_limits(None, None, 5, None)
    ((3, None), (None, 40.0), (5, None))
    """
    if length is not None or budget is not None:
        return length, budget
    return (usual_length, None) if usual_budget is None else (None, usual_budget)


def as_room(budget: ArrayLike | None, problems: Problems) -> Floats | None:
    """Returns the budget of each problem as floats, or None if there is no budget.

    A tolerance is added for rounding, because three times 0.1 exceeds 0.3 in binary. Raises `InputError` if the
    problems have no sizes or if a budget is not above 0.

    Examples
    --------
    >>> problems = Problems.from_arrays(np.zeros((2, 3, 1)), sizes=[1.0, 2.0, 3.0] * 2)
    >>> as_room(4, problems)
    array([4., 4.])
    """
    if budget is None:
        return None
    if problems.sizes is None:
        raise InputError("A budget needs sizes, but these problems have none. Pass sizes to Problems.from_arrays.")
    room = as_numbers(budget, "budget")
    if room.shape not in {(), (len(problems),)} or not (room > 0).all():
        raise InputError(f"budget must be above 0: one number, or one per problem ({len(problems)}). Got {budget!r}.")
    return np.broadcast_to(room * (1.0 + ROUNDING), len(problems)).copy()


def as_capped(problems: Problems, asked: Any, usual: Any) -> Problems:
    """The problems under the limit on groups that is asked for; else under their own, and else under the usual one.

    >>> problems = Problems.from_arrays(np.zeros((1, 3, 1)), groups=["a", "a", "b"])
    >>> as_capped(problems.capped(2), None, 1).caps, as_capped(problems, None, 1).caps
    (array([2, 2, 2]), array([1, 1, 1]))
    """
    if asked is None and problems.caps is not None:
        return problems
    return problems.capped(usual if asked is None else asked)


class Room:
    """Tracks what is left of the budget of each problem, and of the room of each group, while its list grows.

    Parameters
    ----------
    problems : Problems
        The problems whose `sizes` count, and whose groups if they are capped: see `Problems.capped`.
    budgets : ndarray of float, shape (problems,), optional
        From `as_room`; None if there is no budget, so that everything fits.

    Attributes
    ----------
    sizes : ndarray of float
        By row; empty if there is no budget, which is how compiled functions recognise it.
    left : ndarray of float, shape (problems,)
        What is left of each budget.
    groups, caps : ndarray of int
        By row its group, and how many more rows of it there may be; empty if groups are not capped.

    Examples
    --------
    >>> problems = Problems.from_arrays(np.zeros((2, 3, 1)), sizes=[1.0, 2.0, 3.0] * 2)
    >>> room = Room(problems, np.array([4.0, 3.0]))
    >>> room.take(np.array([1, 3]))
    >>> room.left, room.fits()
    (array([2., 2.]), array([ True,  True, False,  True,  True, False]))
    """

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
        """Returns by row whether there is room for it."""
        fits = np.ones(self.problems.n_rows, dtype=bool)
        if len(self.sizes):
            fits &= self.sizes <= self.left[self.problems.owners]
        if len(self.caps):
            fits &= self.caps > 0
        return fits

    def take(self, picks: Ints) -> None:
        """Subtracts the size of one picked row per problem; -1 picks none."""
        if len(self.sizes):
            some = picks >= 0
            self.left[some] -= self.sizes[picks[some]]
        if len(self.caps):
            taken = np.where(picks >= 0, self.groups[picks], -1)
            self.caps -= self.groups == taken[self.problems.owners]
