"""A reward of problems that count differently."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, Ints, as_numbers
from listwright.errors import InputError
from listwright.rewards.base import Reward

if TYPE_CHECKING:
    from listwright.problems import Problems


class WeightedState(NamedTuple):
    """The state of the reward that is weighted, and the weight of each row."""

    inner: Any
    by_row: Floats


class WeightedProblems(Reward):
    """Another reward, times a weight for each problem.

    Learning and mean values then count a problem as often as its weight says. `weight="column"` of
    `Problems.from_frame` makes one, with weights that are 1 on average.

    Parameters
    ----------
    reward : Reward
        What a list is worth.
    weights : array-like of shape (problems,)
        The weight of each problem: 0 or more, and not all 0.

    Raises
    ------
    InputError
        When it is attached to problems, if the weights do not fit them or are negative.

    See Also
    --------
    WeightedSum : Weights of several rewards on the same problems.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = WeightedProblems(lw.rewards.AnySuccess([[0, 1], [1, 0]]), [0.5, 1.5])
    >>> problems = lw.Problems.from_arrays(np.zeros((2, 2, 1)), reward=reward)
    >>> reward.gains(reward.start(problems))
    array([0. , 0.5, 1.5, 0. ])
    """

    bounded = False  # a weight may be above 1

    def __init__(self, reward: Reward, weights: ArrayLike) -> None:
        self.reward = reward
        self.weights = weights

    @property
    def submodular(self) -> bool:  # type: ignore[override]
        return self.reward.submodular

    def bind(self, offsets: Ints) -> Self:
        """Return the reward laid out for these rows, after a check of the weights."""
        weights = as_numbers(self.weights, "weights")
        if weights.shape != (len(offsets) - 1,):
            raise InputError(f"WeightedProblems is for {weights.size} problems. Got {len(offsets) - 1}.")
        if not ((weights >= 0) & np.isfinite(weights)).all():
            raise InputError(f"The weights of problems must be 0 or more. Got {weights.min()}.")
        if not weights.any():
            raise InputError("The weights of all problems are 0, so that there is nothing to learn.")
        return self._with(self.reward.bind(offsets), weights)

    def take(self, which: Ints) -> Self:
        return self._with(self.reward.take(which), np.asarray(self.weights)[which])

    def join(self, others: Sequence[Self]) -> Self:
        weights = np.concatenate([np.asarray(part.weights) for part in (self, *others)])
        return self._with(self.reward.join([other.reward for other in others]), weights)

    def _with(self, reward: Reward, weights: ArrayLike) -> Self:
        twin = copy.copy(self)
        twin.reward, twin.weights = reward, weights
        return twin

    def start(self, problems: Problems) -> WeightedState:
        return WeightedState(self.reward.start(problems), np.asarray(self.weights, dtype=np.float64)[problems.owners])

    def gains(self, state: WeightedState) -> Floats:
        return self.reward.gains(state.inner) * state.by_row

    def add(self, state: WeightedState, picks: Ints) -> WeightedState:
        return state._replace(inner=self.reward.add(state.inner, picks))

    def value(self, state: WeightedState) -> Floats:
        return self.reward.value(state.inner) * np.asarray(self.weights, dtype=np.float64)

    def __repr__(self) -> str:
        return f"WeightedProblems({self.reward!r})"
