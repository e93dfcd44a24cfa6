"""A list that was shown, with what came back: all that learning needs of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, Ints, as_whole_numbers
from listwright.errors import InputError
from listwright.feedback.outcomes import Outcome, checked_outcome, checked_propensities
from listwright.problems import Problems


@dataclass(frozen=True, eq=False)
class Record:
    """One shown list; made by `of`, which checks.

    >>> problem = Problems.from_arrays([[0.1], [0.2], [0.3]], offsets=[0, 3])
    >>> Record.of("a", problem, picks=[2, 0], propensities=[0.5, 0.5], outcomes=[1, 0]).outcomes
    array([1., 0.])
    """

    list_id: str
    problem: Problems  # one, as it was shown, without a reward
    picks: Ints  # rows within the problem, in order
    propensities: Floats  # by position: the chance that the pick had, given the picks before; nan where not known
    outcomes: Floats  # by position: the gain; shorter than the list where the rest was not seen
    room: float | None = None  # the budget, where there was one

    @classmethod
    def of(
        cls,
        list_id: str,
        problem: Problems,
        picks: ArrayLike,
        propensities: ArrayLike | None,
        outcomes: Outcome,
        *,
        room: float | None = None,
        cascade: bool = False,
    ) -> Record:
        """A record from plain values, or the error that says which of them cannot be.

        Parameters
        ----------
        picks : rows within the problem, in the order shown.
        propensities : None where they are not known.
        outcomes : clicks or gains by position, or a mapping by item; see `checked_outcome`.
        cascade : the user stops at the first click.
        """
        rows = checked_picks(picks, problem, name=list_id)
        chances = checked_propensities(propensities, len(rows), name=list_id)
        items = items_of(problem, rows)
        gains = checked_outcome(outcomes, items, cascade=cascade, name=list_id)
        return cls(str(list_id), problem.without_reward(), rows, chances, gains, room)


def checked_picks(picks: ArrayLike, problem: Problems, *, name: object) -> Ints:
    """Rows within one problem, none of them twice."""
    if not isinstance(problem, Problems) or len(problem) != 1:
        raise InputError(f"The record of list {name!s} needs listwright.Problems with one problem. Got {problem!r}.")
    rows = as_whole_numbers(picks, "picks")
    if rows.ndim != 1 or rows.min(initial=0) < 0 or rows.max(initial=-1) >= problem.n_rows:
        raise InputError(f"Picks of list {name!s} must be rows from 0 to {problem.n_rows - 1}. Got {picks!r}.")
    if len(np.unique(rows)) < len(rows):
        raise InputError(f"List {name!s} shows an item twice. Got picks {rows.tolist()}.")
    return rows


def items_of(problem: Problems, rows: Ints) -> list[Any]:
    """Ids of the rows of one problem; where items have none, their rows."""
    return rows.tolist() if problem.item_ids is None else problem.item_ids[rows].tolist()
