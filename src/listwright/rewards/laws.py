"""Watches the gains of a reward while lists are built, and records which assumptions it breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright.rewards.base import Reward

if TYPE_CHECKING:
    from listwright.problems import Problems

HAIR = 1e-9  # tolerance for rounding
EMPTY = "the empty list is worth something under this reward"
NEGATIVE = "an item lowered the value of a list under this reward"
RISING = "the gain of an item rose as its list grew, so this reward is not submodular"
PAST_ONE = "a list was worth more than 1 under this reward"


class Laws:
    """What the theorems assume of a reward, checked on the lists of one batch as they grow.

    The guarantees need gains that are never negative and never rise, values of at most 1, and value 0 for the empty
    list. A reward of the user's own may break these silently. `broken` collects, in words, the assumptions that were
    seen to fail.
    """

    def __init__(self, n_rows: int, empty: Floats) -> None:
        self.empty = empty
        self.lowest = np.full(n_rows, np.inf)  # by row: its gain when it was last seen
        self.broken = {EMPTY} if np.abs(empty).max(initial=0.0) > HAIR else set()

    def watch(self, gains: Floats, rows: Ints | slice = slice(None)) -> Floats:
        """Check the gains of some rows against their last known gains, and return them unchanged."""
        if gains.min(initial=0.0) < -HAIR:
            self.broken.add(NEGATIVE)
        if (gains > self.lowest[rows] + HAIR).any():
            self.broken.add(RISING)
        self.lowest[rows] = gains
        return gains

    def added(self, values: Floats) -> Floats:
        """Return what lists of these values add to the empty list, and record if a value exceeds 1."""
        if values.max(initial=0.0) > 1 + HAIR:
            self.broken.add(PAST_ONE)
        return values - self.empty


class Watched(Reward):
    """A reward that behaves like the given one and records in `laws` what its gains reveal."""

    def __init__(self, reward: Reward, problems: Problems) -> None:
        self.reward = reward
        self.laws = Laws(problems.n_rows, reward.value(reward.start(problems)))
        self.submodular, self.bounded = reward.submodular, reward.bounded

    def start(self, problems: Problems) -> Any:
        """Return the state of the watched reward."""
        return self.reward.start(problems)

    def gains(self, state: Any) -> Floats:
        """Return the gains of the watched reward, after checking them."""
        return self.laws.watch(self.reward.gains(state))

    def gains_of(self, state: Any, rows: Ints) -> Floats:
        """Return the gains of some rows, after checking them."""
        return self.laws.watch(self.reward.gains_of(state, rows), rows)

    def add(self, state: Any, picks: Ints) -> Any:
        """Return the next state of the watched reward."""
        return self.reward.add(state, picks)

    def value(self, state: Any) -> Floats:
        """Return the values of the watched reward."""
        return self.reward.value(state)
