"""Worth 1 as soon as one item of the list succeeds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, Ints
from listwright._internal.ragged import Ragged
from listwright.problems import Problems
from listwright.rewards.base import TableReward, check_range, one_a_row


class AnySuccessState(NamedTuple):
    """What has been tried so far."""

    success: Floats
    owners: Ints
    missed: Floats  # by problem: the probability that nothing in the list succeeded


class AnySuccess(TableReward):
    """1 - prod(1 - success) over the list: with 0/1 labels, whether any item succeeds (multiple choice, any click).

    Parameters
    ----------
    success : array-like
        One a row or (problems, items); 0/1, or probabilities of independent trials.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = AnySuccess([[0, 1, 0.5]])
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=reward)
    >>> state = reward.start(problems)
    >>> state = reward.add(state, np.array([2]))
    >>> reward.gains(state), reward.value(state)
    (array([0.  , 0.5 , 0.25]), array([0.5]))
    """

    def __init__(self, success: ArrayLike) -> None:
        self._source = (success,)

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        assert self._source is not None
        success = one_a_row(self._source[0], offsets, "success")
        check_range(success, lambda: np.arange(len(success)), offsets, "success", high=1.0)
        return {"success": Ragged(success, offsets)}

    def start(self, problems: Problems) -> AnySuccessState:
        """Nothing tried yet."""
        success = self.bind(problems.offsets).tables["success"].values
        return AnySuccessState(success, problems.owners, np.ones(len(problems)))

    def gains(self, state: AnySuccessState) -> Floats:
        """Probability that the row is the first to succeed."""
        return state.missed[state.owners] * state.success

    def gains_of(self, state: AnySuccessState, rows: Ints) -> Floats:
        """The same for some rows."""
        return state.missed[state.owners[rows]] * state.success[rows]

    def add(self, state: AnySuccessState, picks: Ints) -> AnySuccessState:
        """The picks are tried."""
        missed = state.missed.copy()
        tried = picks >= 0
        missed[tried] *= 1.0 - state.success[picks[tried]]
        return state._replace(missed=missed)

    def value(self, state: AnySuccessState) -> Floats:
        """Probability of at least one success."""
        return 1.0 - state.missed
