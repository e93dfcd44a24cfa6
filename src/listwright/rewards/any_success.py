"""A reward of whether any item of a list succeeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, Ints, Ragged
from listwright.rewards.base import TableReward, check_range, one_per_row

if TYPE_CHECKING:
    from listwright.problems import Problems


class AnySuccessState(NamedTuple):
    """State of `AnySuccess`: the data, and per problem the probability that every item of the list failed."""

    success: Floats
    owners: Ints
    missed: Floats  # by problem: the probability that nothing in the list succeeded


class AnySuccess(TableReward):
    """The probability that at least one item of the list succeeds: 1 - prod(1 - success).

    With 0/1 labels this says whether any item of the list succeeds. It is the reward of multiple choice: any click on a
    page, any grasp that works, any passage that holds the answer. After a certain success every further gain is 0, so
    learners try something different at each position.

    Use `Total` if a second success is worth as much as the first, and `Coverage` if success has several parts.

    Parameters
    ----------
    success : array-like of shape (rows,) or (problems, items)
        0/1 labels, or success probabilities of independent trials.

    See Also
    --------
    Total : The sum of the items' values.
    Coverage : The share of topics that the list covers.

    Notes
    -----
    This is the objective of the paper's trajectory optimisation and news recommendation experiments
    (Sections 6.1 and 6.2).

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
        success = one_per_row(self._source[0], offsets, "success")
        check_range(success, lambda: np.arange(len(success)), offsets, "success", high=1.0)
        return {"success": Ragged(success, offsets)}

    def start(self, problems: Problems) -> AnySuccessState:
        success = self.bind(problems.offsets).tables["success"].values
        return AnySuccessState(success, problems.owners, np.ones(len(problems)))

    def gains(self, state: AnySuccessState) -> Floats:
        """Return for each row the probability that it is the first to succeed."""
        return state.missed[state.owners] * state.success

    def gains_of(self, state: AnySuccessState, rows: Ints) -> Floats:
        return state.missed[state.owners[rows]] * state.success[rows]

    def add(self, state: AnySuccessState, picks: Ints) -> AnySuccessState:
        missed = state.missed.copy()
        tried = picks >= 0
        missed[tried] *= 1.0 - state.success[picks[tried]]
        return state._replace(missed=missed)

    def value(self, state: AnySuccessState) -> Floats:
        return 1.0 - state.missed
