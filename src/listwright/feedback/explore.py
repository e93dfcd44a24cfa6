"""Exploration: from a policy's scores of the open rows to the chance that each is shown.

`Epsilon`, `Softmax` and `InverseGap` depend on scores only and share one kernel with the compiled walk. `Own` leaves
drawing to policies that are random themselves, and `Best` is certain of its pick. Pass one as `OnlineSCP(explore=...)`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.parameters import Parameters
from listwright._internal.saved import saved_as
from listwright._kernels.draw import EPSILON, INVERSE_GAP, SOFTMAX, segment_chances
from listwright._kernels.rows import best_rows
from listwright.errors import InputError
from listwright.features import Rows
from listwright.policies import Policy


class Exploration(Parameters, ABC):
    """Base class: assigns every open row of a slot a chance; the chances of each problem sum to 1.

    Subclass it to draw in a way of your own, and pass an instance as `OnlineSCP(explore=...)`. Chances must depend on
    nothing but the arguments of `chances`, because they are logged as propensities.
    """

    @abstractmethod
    def chances(self, policy: Policy, rows: Rows, options: Bools, position: int, learned: float) -> tuple[Floats, Ints]:
        """Return the chance of each row, and the row of each problem shown without exploration (-1 for none)."""

    def kernel_arguments(self, learned: float) -> tuple[int, float] | None:
        """Return the kind and strength for the compiled walk; None if only the plain walk knows this exploration."""
        return None


class ByScore(Exploration):
    """Exploration that depends on the policy's scores only, computed by the same kernel in both walks."""

    @abstractmethod
    def kernel_arguments(self, learned: float) -> tuple[int, float]:
        """Return the kind and strength that the kernel `fill_chances` takes; raises for parameters out of range."""

    def chances(self, policy: Policy, rows: Rows, options: Bools, position: int, learned: float) -> tuple[Floats, Ints]:
        """Compute the chances with the kernel of the compiled walk; closed rows score minus infinity."""
        kind, strength = self.kernel_arguments(learned)
        return segment_chances(kind, strength, np.where(options, policy.score(rows), -np.inf), rows.offsets)


@saved_as("feedback.Epsilon")
class Epsilon(ByScore):
    """Epsilon-greedy: the best row, or for a share of the slots any open row with equal chance.

    The plain baseline. Exploration never fades, so propensities stay above share / open rows and the log stays useful
    for evaluating other policies, at the cost of a constant share of weak items.
    """

    def __init__(self, share: float = 0.1) -> None:
        self.share = share

    def kernel_arguments(self, learned: float) -> tuple[int, float]:
        """Return the kernel's kind, with the share as strength."""
        if not (isinstance(self.share, int | float) and 0 <= self.share <= 1):
            raise InputError(f"share must be from 0 to 1. Got {self.share!r}.")
        return EPSILON, float(self.share)


@saved_as("feedback.Softmax")
class Softmax(ByScore):
    """Draws every open row with a chance proportional to exp(score / temperature)."""

    def __init__(self, temperature: float = 0.1) -> None:
        self.temperature = temperature

    def kernel_arguments(self, learned: float) -> tuple[int, float]:
        """Return the kernel's kind, with 1 / temperature as strength."""
        if not (isinstance(self.temperature, int | float) and 0 < self.temperature < math.inf):
            raise InputError(f"temperature must be above 0. Got {self.temperature!r}.")
        return SOFTMAX, 1.0 / float(self.temperature)


@saved_as("feedback.InverseGap")
class InverseGap(ByScore):
    """Inverse gap weighting over a regression of gains (Foster & Rakhlin 2020), at each slot of a list."""

    def __init__(self, scale: float = 10.0) -> None:
        self.scale = scale

    def kernel_arguments(self, learned: float) -> tuple[int, float]:
        """Return the kernel's kind, with gamma / sqrt(A) as strength."""
        if not (isinstance(self.scale, int | float) and 0 < self.scale < math.inf):
            raise InputError(f"scale must be above 0. Got {self.scale!r}.")
        return INVERSE_GAP, self.scale * math.sqrt(learned)


@saved_as("feedback.Floor")
class Floor(Exploration):
    """Another exploration, with a share of every slot drawn evenly from the open rows.

    No propensity is below share / open rows then, however sure the model is, so that the log stays useful.
    """

    def __init__(self, explore: Exploration, share: float = 0.02) -> None:
        self.explore = explore
        self.share = share

    def chances(self, policy: Policy, rows: Rows, options: Bools, position: int, learned: float) -> tuple[Floats, Ints]:
        """Return the mixture of both, and the pick of the other exploration."""
        if not (isinstance(self.share, int | float) and 0 <= self.share <= 1):
            raise InputError(f"share must be from 0 to 1. Got {self.share!r}.")
        chances, best = self.explore.chances(policy, rows, options, position, learned)
        even = segment_chances(EPSILON, 1.0, np.where(options, 0.0, -np.inf), rows.offsets)[0]
        return (1.0 - self.share) * chances + self.share * even, best


@saved_as("feedback.Own")
class Own(Exploration):
    """No exploration beyond the policy's own randomness, as for Exp3, Exp4 and LSBGreedy."""

    def chances(self, policy: Policy, rows: Rows, options: Bools, position: int, learned: float) -> tuple[Floats, Ints]:
        """Return the policy's own chances, with its likeliest row as the pick without exploration."""
        chances = policy.chances(rows, options, position)
        return chances, best_rows(chances, options, rows.offsets)


class Best(Exploration):
    """Certainty: chance 1 for what a policy picks. Used to evaluate `predict` of a bandit."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def chances(self, policy: Policy, rows: Rows, options: Bools, position: int, learned: float) -> tuple[Floats, Ints]:
        """Return 1 for the pick of each problem and 0 for every other row."""
        picks, _ = self.policy.pick(rows, options, position, np.random.default_rng(0))
        chances = np.zeros(len(options))
        chances[picks[picks >= 0]] = 1.0
        return chances, picks
