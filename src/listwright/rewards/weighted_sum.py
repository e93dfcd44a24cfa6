"""A weighted sum of several rewards."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, Ints, as_numbers
from listwright.errors import InputError
from listwright.rewards.base import Reward

if TYPE_CHECKING:
    from listwright.problems import Problems


class WeightedSum(Reward):
    """A weighted sum of rewards on the same problems.

    Use it to combine aims, such as clicks and coverage of topics. The sum is monotone and submodular where its parts
    are, because weights may not be negative.

    Parameters
    ----------
    rewards : sequence of Reward
        The parts.
    weights : array-like of shape (parts,), optional
        The weight of each part: 0 or more, and not all 0. Equal by default.
    normalize : bool, default True
        Divide by the sum of the weights, so that a mixture of bounded rewards is bounded.

    See Also
    --------
    Function : Other combinations, from a Python function.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = WeightedSum([lw.rewards.AnySuccess([[0, 1]]), lw.rewards.Coverage([[1, 1], [0, 1]])], [3, 1])
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 2, 1)), reward=reward)
    >>> reward.gains(reward.start(problems))
    array([0.25 , 0.875])
    """

    def __init__(self, rewards: Sequence[Reward], weights: ArrayLike | None = None, *, normalize: bool = True) -> None:
        self.rewards = list(rewards)
        self.weights = weights
        self.normalize = normalize

    @property
    def submodular(self) -> bool:  # type: ignore[override]
        return all(part.submodular for part in self.rewards)

    bounded = property(lambda self: self.normalize and all(part.bounded for part in self.rewards))

    def _shares(self) -> Floats:
        weights = np.ones(len(self.rewards)) if self.weights is None else as_numbers(self.weights, "weights")
        if not self.rewards or weights.shape != (len(self.rewards),):
            raise InputError(
                f"WeightedSum needs one weight per reward ({len(self.rewards)}). Got shape {weights.shape}."
            )
        if not ((weights >= 0) & np.isfinite(weights)).all() or weights.sum() == 0:
            raise InputError(f"Weights of a WeightedSum must be 0 or more, and not all 0. Got {weights}.")
        return weights / weights.sum() if self.normalize else weights

    def bind(self, offsets: Ints) -> Self:
        self._shares()
        return self._with([part.bind(offsets) for part in self.rewards])

    def take(self, which: Ints) -> Self:
        return self._with([part.take(which) for part in self.rewards])

    def join(self, others: Sequence[Self]) -> Self:
        for other in others:
            if type(other) is not type(self) or len(other.rewards) != len(self.rewards):
                raise InputError(f"Cannot join {self!r} with {other!r}.")
            if not np.array_equal(other._shares(), self._shares()):
                raise InputError(f"Cannot join mixtures of weights {self._shares()} and {other._shares()}.")
        return self._with([part.join([other.rewards[i] for other in others]) for i, part in enumerate(self.rewards)])

    def _with(self, rewards: list[Reward]) -> Self:
        twin = copy.copy(self)
        twin.rewards = rewards
        return twin

    def start(self, problems: Problems) -> tuple[Any, ...]:
        return tuple(part.start(problems) for part in self.rewards)

    def gains(self, state: tuple[Any, ...]) -> Floats:
        return self._sum([part.gains(part_state) for part, part_state in zip(self.rewards, state, strict=True)])

    def gains_of(self, state: tuple[Any, ...], rows: Ints) -> Floats:
        return self._sum(
            [part.gains_of(part_state, rows) for part, part_state in zip(self.rewards, state, strict=True)]
        )

    def add(self, state: tuple[Any, ...], picks: Ints) -> tuple[Any, ...]:
        return tuple(part.add(part_state, picks) for part, part_state in zip(self.rewards, state, strict=True))

    def value(self, state: tuple[Any, ...]) -> Floats:
        return self._sum([part.value(part_state) for part, part_state in zip(self.rewards, state, strict=True)])

    def _sum(self, parts: list[Floats]) -> Floats:
        total = np.zeros(len(parts[0]))
        for share, part in zip(self._shares(), parts, strict=True):
            total += share * part
        return total

    def __repr__(self) -> str:
        return f"WeightedSum({self.rewards!r}, weights={self.weights!r})"
