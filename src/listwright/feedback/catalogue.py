"""Catalogues that grow while a model learns: room for new items in features, learner and policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.features import Features, Identity
from listwright.feedback.bandit import ListBandit
from listwright.feedback.drawing import Playing
from listwright.feedback.gain_ridge import GainRidge
from listwright.policies import Linear, Policy
from listwright.problems import Problems

MOST_NEW = 10_000  # items that a catalogue may grow by at a time


class GrowingBandit(ListBandit):
    """A bandit that accepts new items of its catalogue, and explores rarely shown ones, where gains are predicted by a
    ridge regression.
    """

    optimism: float

    def _play(self, policy: Policy, version: int, learned: float) -> Playing:
        """Return the policy to draw with, and for catalogues its optimistic variant."""
        if not isinstance(self.learner_, GainRidge) or not isinstance(policy, Linear) or policy.item_weights is None:
            return Playing(policy, version, learned)
        return Playing(policy, version, learned, self._eager(policy, self.learner_.times_shown()))

    def _eager(self, policy: Linear, times_shown: Floats) -> Linear | None:
        """Return the policy with a bonus for rarely shown items, or None without optimism."""
        if not self.optimism:
            return None
        assert policy.item_weights is not None
        weights = policy.item_weights.copy()
        assert isinstance(self.learner_, GainRidge)
        weights[:, 0] += self.optimism * self.learner_.typical_gain() / np.sqrt(1.0 + times_shown)
        return Linear(policy.weights, weights)

    def _view(self, problems: Problems, purpose: str) -> tuple[Features, Playing]:
        """Return features and policy for the problems, widened where they contain new items of the catalogue."""
        # At most `MOST_NEW` are accepted at a time, so that one wrong item number cannot exhaust the memory.
        known, asked = self.signature_.n_items, problems.n_items
        if known is None or asked <= known or not isinstance(self.learner_, GainRidge):
            return super()._view(problems, purpose)
        if asked > known + MOST_NEW:
            raise InputError(
                f"{purpose}: catalogue item {asked - 1} is new, and far beyond the {known} items that the model knows. "
                "Number new items from there on."
            )
        replace(self.signature_, n_items=asked).check(problems, purpose)
        playing, features = self.playing_, self.features_.with_items(asked)
        assert isinstance(playing.policy, Linear)
        policy = padded(playing.policy, asked, n_states(features, known, playing.policy))
        shown = np.pad(self.learner_.times_shown(), (0, asked - known))
        return features, replace(playing, policy=policy, eager=self._eager(policy, shown))

    def _make_room(self, problems: Iterable[Problems]) -> None:
        """Widen learner, features and signature to the largest catalogue number among the problems."""
        asked = max((one.n_items for one in problems), default=0)
        known = self.signature_.n_items
        if known is not None and asked > known and isinstance(self.learner_, GainRidge):
            features = self.features_.with_items(asked)
            assert isinstance(self.playing_.policy, Linear)
            self.learner_.grow(asked, n_states(features, known, self.playing_.policy))
            self.features_ = features
            self.signature_ = replace(self.signature_, n_items=asked)
            self.playing_ = self._play(self.learner_.policy(), self.playing_.version, self.playing_.learned)

    def _fit_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Widen the model where the state that is to be restored knows more items."""
        known, blocks = self.signature_.n_items, np.shape(state.get("learner.sums_.0.cross_right", ()))
        if known is not None and blocks and known < blocks[0] <= known + MOST_NEW:
            empty = Problems.from_arrays(np.zeros((1, 1, 0)), catalogue=[blocks[0] - 1])
            self._make_room([empty])


def n_states(features: Features, known: int, policy: Linear) -> int:
    """Return the number of state columns that items are crossed with, for the catalogue size of `features`."""
    assert policy.item_weights is not None
    crossed = next(part for part in features.fitted_parts() if isinstance(part, Identity))
    return policy.item_weights.shape[1] + (crossed.n_items_ - known if "list" in crossed.cross else 0)


def padded(policy: Linear, n_items: int, n_states: int) -> Linear:
    """Return the policy with zero weights for new items and state columns."""
    assert policy.item_weights is not None
    more = n_items - len(policy.item_weights), n_states - policy.item_weights.shape[1]
    return Linear(policy.weights, np.pad(policy.item_weights, ((0, more[0]), (0, more[1]))))
