"""A weighted sum of rewards."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, Ints, as_numbers
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards.base import Reward


class Mixture(Reward):
    """Weighted sum of rewards on the same problems; stays submodular as weights are 0 or more.

    Parameters
    ----------
    rewards : sequence of Reward
        The parts.
    weights : array-like or None
        One a part, 0 or more; equal by default.
    normalize : bool
        Divide by the sum of the weights.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = Mixture([lw.rewards.AnySuccess([[0, 1]]), lw.rewards.Coverage([[1, 1], [0, 1]])], [3, 1])
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
        """Whether all parts are."""
        return all(part.submodular for part in self.rewards)

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Whether it is an average of bounded parts."""
        return self.normalize and all(part.bounded for part in self.rewards)

    def _shares(self) -> Floats:
        weights = np.ones(len(self.rewards)) if self.weights is None else as_numbers(self.weights, "weights")
        if not self.rewards or weights.shape != (len(self.rewards),):
            raise InputError(f"Mixture needs one weight a reward ({len(self.rewards)}). Got shape {weights.shape}.")
        if not ((weights >= 0) & np.isfinite(weights)).all() or weights.sum() == 0:
            raise InputError(f"Weights of a Mixture must be 0 or more, and not all 0. Got {weights}.")
        return weights / weights.sum() if self.normalize else weights

    def bind(self, offsets: Ints) -> Self:
        """Binds every part."""
        self._shares()
        return self._with([part.bind(offsets) for part in self.rewards])

    def take(self, which: Ints) -> Self:
        """Every part for some of the problems."""
        return self._with([part.take(which) for part in self.rewards])

    def join(self, others: Sequence[Self]) -> Self:
        """Part by part."""
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
        """A state for each part."""
        return tuple(part.start(problems) for part in self.rewards)

    def gains(self, state: tuple[Any, ...]) -> Floats:
        """Weighted sum of the parts' gains."""
        return self._sum([part.gains(one) for part, one in zip(self.rewards, state, strict=True)])

    def gains_of(self, state: tuple[Any, ...], rows: Ints) -> Floats:
        """The same for some rows."""
        return self._sum([part.gains_of(one, rows) for part, one in zip(self.rewards, state, strict=True)])

    def add(self, state: tuple[Any, ...], picks: Ints) -> tuple[Any, ...]:
        """The picks go to every part."""
        return tuple(part.add(one, picks) for part, one in zip(self.rewards, state, strict=True))

    def value(self, state: tuple[Any, ...]) -> Floats:
        """Weighted sum of the parts' values."""
        return self._sum([part.value(one) for part, one in zip(self.rewards, state, strict=True)])

    def _sum(self, parts: list[Floats]) -> Floats:
        total = np.zeros(len(parts[0]))
        for share, part in zip(self._shares(), parts, strict=True):
            total += share * part
        return total

    def __repr__(self) -> str:
        return f"Mixture({self.rewards!r}, weights={self.weights!r})"
