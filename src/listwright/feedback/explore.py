"""Ways to explore: from what a policy says of the open rows to the chance that each is shown."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.saved import saved_as
from listwright._kernels.draw import EPSILON, INVERSE_GAP, SOFTMAX, segment_chances
from listwright._kernels.segments import best_rows
from listwright.errors import InputError
from listwright.features import Rows
from listwright.policies import Policy


class Exploration(BaseEstimator, ABC):
    """Gives every open row of a slot its chance, in order of rows; the chances of a problem add up to 1."""

    @abstractmethod
    def chances(self, policy: Policy, rows: Rows, options: Bools, position: int, learned: float) -> tuple[Floats, Ints]:
        """By row its chance; by problem the row that is shown where nothing is explored, -1 for none.

        `learned`: the number of lists that the policy has learned from.
        """

    def compiled(self, learned: float) -> tuple[int, float] | None:
        """The kind and strength that the compiled walk takes; None where it does not know this exploration."""
        return None


class ByScore(Exploration):
    """What looks at the policy's scores alone."""

    @abstractmethod
    def compiled(self, learned: float) -> tuple[int, float]:
        """The kind and strength of the kernel `fill_chances`."""

    def chances(self, policy: Policy, rows: Rows, options: Bools, position: int, learned: float) -> tuple[Floats, Ints]:
        """Through the same kernel as the compiled walk."""
        kind, strength = self.compiled(learned)
        return segment_chances(kind, strength, np.where(options, policy.score(rows), -np.inf), rows.offsets)


@saved_as("feedback.Epsilon")
class Epsilon(ByScore):
    """The best row, or for a share of the slots any open row: the plain baseline, which never stops exploring.

    Parameters
    ----------
    share : float
        Of the slots that are drawn evenly, from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from listwright._kernels.draw import segment_chances
    >>> segment_chances(*Epsilon(0.2).compiled(0), np.array([0.1, 0.9]), np.array([0, 2]))[0]
    array([0.1, 0.9])
    """

    def __init__(self, share: float = 0.1) -> None:
        self.share = share

    def compiled(self, learned: float) -> tuple[int, float]:
        """The strength is the share."""
        if not (isinstance(self.share, int | float) and 0 <= self.share <= 1):
            raise InputError(f"share must be from 0 to 1. Got {self.share!r}.")
        return EPSILON, float(self.share)


@saved_as("feedback.Softmax")
class Softmax(ByScore):
    """Every open row with a chance in proportion to exp(score / temperature).

    Parameters
    ----------
    temperature : float
        Of the draw, above 0: small ones show the best row almost always, large ones any row.

    Examples
    --------
    >>> chances, _ = segment_chances(*Softmax(0.5).compiled(0), np.array([0.0, 0.5]), np.array([0, 2]))
    >>> chances.round(3)  # 1 : e
    array([0.269, 0.731])
    """

    def __init__(self, temperature: float = 0.1) -> None:
        self.temperature = temperature

    def compiled(self, learned: float) -> tuple[int, float]:
        """The strength is 1 / temperature."""
        if not (isinstance(self.temperature, int | float) and 0 < self.temperature < math.inf):
            raise InputError(f"temperature must be above 0. Got {self.temperature!r}.")
        return SOFTMAX, 1.0 / float(self.temperature)


@saved_as("feedback.InverseGap")
class InverseGap(ByScore):
    """Inverse gap weighting over a regression of gains (Foster & Rakhlin 2020), at each slot of a list.

    Of A open rows, one whose predicted gain is `gap` below the best is shown with chance 1 / (A + gamma * gap), and the
    best one takes the rest. gamma = scale * sqrt(A * lists learned from): even odds at first, then ever closer to the
    best list. The square root is that of the theory, which for sets drawn around a local optimum proves regret of order
    sqrt(T * regret of the regression) against half of the best set (arXiv 2112.02165). Here each slot is drawn given
    the slots before it, which that proof does not cover.

    Parameters
    ----------
    scale : float
        How soon exploration fades.

    Examples
    --------
    >>> import numpy as np
    >>> from listwright._kernels.draw import segment_chances
    >>> kind, strength = InverseGap(scale=1.0).compiled(learned=8)
    >>> segment_chances(kind, strength, np.array([0.5, 0.0]), np.array([0, 2]))[0]  # 1 / (2 + 4 * 0.5)
    array([0.75, 0.25])
    """

    def __init__(self, scale: float = 10.0) -> None:
        self.scale = scale

    def compiled(self, learned: float) -> tuple[int, float]:
        """The strength is gamma / sqrt(A)."""
        if not (isinstance(self.scale, int | float) and 0 < self.scale < math.inf):
            raise InputError(f"scale must be above 0. Got {self.scale!r}.")
        return INVERSE_GAP, self.scale * math.sqrt(learned)


@saved_as("feedback.Own")
class Own(Exploration):
    """Nothing beyond what the policy draws itself."""

    def chances(self, policy: Policy, rows: Rows, options: Bools, position: int, learned: float) -> tuple[Floats, Ints]:
        """See `Policy.chances`; the likeliest row is the one that stands for no exploration."""
        chances = policy.chances(rows, options, position)
        return chances, best_rows(chances, options, rows.offsets)


class Best(Exploration):
    """Nothing is explored: what a policy picks is certain.

    Parameters
    ----------
    policy : Policy
        What picks.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def chances(self, policy: Policy, rows: Rows, options: Bools, position: int, learned: float) -> tuple[Floats, Ints]:
        """1 for the pick of each problem."""
        picks, _ = self.policy.pick(rows, options, position, np.random.default_rng(0))
        chances = np.zeros(len(options))
        chances[picks[picks >= 0]] = 1.0
        return chances, picks
