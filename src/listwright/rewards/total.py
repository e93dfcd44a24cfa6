"""A reward that sums over the items of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, Ints, Ragged
from listwright.errors import InputError
from listwright.rewards.base import TableReward, check_range, one_per_row

if TYPE_CHECKING:
    from listwright.problems import Problems


class TotalState(NamedTuple):
    """State of `Total`: what each row is still worth, and the sum of each list."""

    worth: Floats  # by row; 0 for rows that are in the list already
    owners: Ints
    sums: Floats  # by problem


class Total(TableReward):
    """The sum over the list of one number per item: as a share of the problem's total, or up to a cap.

    Use it where items do not repeat each other: the share of all relevant documents that were found, or the clicks that
    a list collects. A cap says that more than a certain amount is of no use. Without a cap nothing makes a later item
    redundant, so sorting by a good prediction is all there is to learn, and SCP has no advantage.

    Parameters
    ----------
    values : array-like of shape (rows,) or (problems, items)
        What each item is worth: 0 or more.
    cap : float, optional
        The most that a list is worth.
    share : bool, default False
        Divide by the sum over all candidates of the problem (up to the cap), so that values lie within [0, 1]. Where
        all items of a problem are worth nothing, so are its lists.

    See Also
    --------
    AnySuccess : Worth 1 as soon as one item succeeds.
    Coverage : The share of topics that the list covers.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = Total([[3.0, 0.0, 1.0]], share=True)
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=reward)
    >>> lists = lw.greedy(problems, length=2)
    >>> lists[0], lists.picked_gains
    (array([0, 2]), array([[0.75, 0.25]]))
    """

    def __init__(self, values: ArrayLike, *, cap: float | None = None, share: bool = False) -> None:
        if cap is not None and not cap > 0:
            raise InputError(f"cap must be above 0. Got {cap!r}.")
        self._source = (values,)
        self.cap = cap
        self.share = share

    bounded = property(lambda self: self.share or (self.cap is not None and self.cap <= 1))

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        values = one_per_row(self._source[0], offsets, "values")
        check_range(values, lambda: np.arange(len(values)), offsets, "values")
        return {"values": Ragged(values, offsets)}

    def start(self, problems: Problems) -> TotalState:
        values = self.bind(problems.offsets).tables["values"].values
        worth = values / self._unit(values, problems)[problems.owners]
        return TotalState(worth, problems.owners, np.zeros(len(problems)))

    def gains(self, state: TotalState) -> Floats:
        return np.minimum(state.worth, self._left(state)[state.owners])

    def gains_of(self, state: TotalState, rows: Ints) -> Floats:
        return np.minimum(state.worth[rows], self._left(state)[state.owners[rows]])

    def add(self, state: TotalState, picks: Ints) -> TotalState:
        """Return the state after the picked rows were added; an item that is picked again is worth nothing."""
        worth, sums = state.worth.copy(), state.sums.copy()
        picked = picks >= 0
        sums[picked] += worth[picks[picked]]
        worth[picks[picked]] = 0.0
        return state._replace(worth=worth, sums=sums)

    def value(self, state: TotalState) -> Floats:
        return np.minimum(state.sums, self._most)

    @property
    def _most(self) -> float:
        if self.share:
            return 1.0
        return np.inf if self.cap is None else self.cap

    def _left(self, state: TotalState) -> Floats:
        return np.maximum(self._most - state.sums, 0.0)

    def _unit(self, values: Floats, problems: Problems) -> Floats:
        if not self.share:
            return np.ones(len(problems))
        totals = np.add.reduceat(values, problems.offsets[:-1])
        totals = totals if self.cap is None else np.minimum(totals, self.cap)
        return np.where(totals > 0, totals, 1.0)
