# [start:class]
from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, Ints, Ragged
from listwright.rewards.base import TableReward, check_range, one_per_row

if TYPE_CHECKING:
    from listwright.problems import Problems


class CappedSumState(NamedTuple):
    """State of `CappedSum`: the data, and how much each list holds."""

    amounts: Floats
    owners: Ints
    held: Floats  # by problem


class CappedSum(TableReward):
    """The sum of what the items hold, up to a cap: vitamins in a meal, minutes of a playlist.

    Parameters
    ----------
    amounts : array-like of shape (rows,) or (problems, items)
        What each item holds: 0 or more.
    cap : float, default 1.0
        The amount that is enough: a list that holds it is worth 1.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = CappedSum([[0.5, 0.4, 0.3]], cap=0.8)
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=reward)
    >>> lw.greedy(problems, length=2).values
    array([1.])
    """

    def __init__(self, amounts: ArrayLike, *, cap: float = 1.0) -> None:
        self._source = (amounts,)
        self.cap = cap

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        amounts = one_per_row(self._source[0], offsets, "amounts")
        check_range(amounts, lambda: np.arange(len(amounts)), offsets, "amounts")
        return {"amounts": Ragged(amounts, offsets)}

    def start(self, problems: Problems) -> CappedSumState:
        amounts = self.bind(problems.offsets).tables["amounts"].values / self.cap
        return CappedSumState(amounts, problems.owners, np.zeros(len(problems)))

    def gains(self, state: CappedSumState) -> Floats:
        return np.minimum(state.amounts, 1.0 - state.held[state.owners])

    def add(self, state: CappedSumState, picks: Ints) -> CappedSumState:
        """Return the state after the picks; an item that is picked again adds nothing."""
        amounts, held = state.amounts.copy(), state.held.copy()
        picked = picks >= 0
        held[picked] = np.minimum(held[picked] + amounts[picks[picked]], 1.0)
        amounts[picks[picked]] = 0.0
        return state._replace(amounts=amounts, held=held)

    def value(self, state: CappedSumState) -> Floats:
        return state.held


# [end:class]
# [start:check]
import listwright as lw  # noqa: E402

problems = lw.Problems.from_arrays(
    np.zeros((1, 3, 1)), reward=CappedSum([[0.5, 0.4, 0.3]], cap=0.8)
)
lw.checks.check_reward(problems.reward, problems)  # silent: the laws hold on all lists tried
print(lw.greedy(problems, length=2).values)
# [end:check]
