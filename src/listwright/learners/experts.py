"""What learners over a finite class share: items or policies as experts, their gains, and exact regrets."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright.errors import InputError
from listwright.features import Rows
from listwright.learners.base import Learner
from listwright.learners.examples import Examples
from listwright.policies import ItemDistribution, Policy, PolicyDistribution, RandomPolicy


class Experts(Learner):
    """Abstract base of learners over a finite class: the items of a catalogue, or a given list of policies."""

    # The gain of expert s in a round is the paper's r_t(s), the sum over positions of w_i b(s | L_{t,i-1}); its loss is
    # max r_t - r_t(s), as in Algorithm 1. An item gains 0 where a state does not offer it, or where it could not be
    # picked. A batch of several states is one round with the sum of their gains.

    surrogate = ""
    randomized = True  # whether picks are drawn; if not, the expected loss is that of the picks
    policies: Sequence[Policy] | None
    round_states_: int
    round_most_: float
    round_picked_: float

    @abstractmethod
    def _distribution(self) -> Floats:
        """Probability of each expert after the rounds so far."""

    def without_training_state(self) -> Self:
        return self

    def learn(self, examples: Examples) -> None:
        picks = self._expert_picks(examples)
        if not hasattr(self, "gains_"):
            self.start(n_items_of(examples.rows) if self.policies is None else len(self.policies))
        if self.round_states_ == 0:
            self.round_states_ = len(examples.rows.offsets) - 1
        self.round_most_ += examples.weight
        self._add_gains(examples, picks)

    def _add_gains(self, examples: Examples, picks: Ints | None) -> None:
        self.round_gains_ += examples.weight * (item_gains(examples) if picks is None else pick_gains(examples, picks))
        self.round_picked_ += examples.weight * float(pick_gains(examples, examples.picks[None])[0])

    def start(self, n_experts: int) -> None:
        """Reset all sums to 0 for `n_experts` experts. Called by the first `learn`."""
        self.n_states_, self.n_rounds_, self.most_ = 0, 0, 0.0
        self.gains_, self.losses_ = np.zeros(n_experts), np.zeros(n_experts)
        self.expected_loss_, self.loss_ = 0.0, 0.0
        self._clear_round()
        self.probabilities_ = self._distribution()

    def policy(self) -> Policy:
        if not hasattr(self, "gains_"):
            return self.first_policy()
        if self.round_states_:
            self.end_round(self.round_gains_, self.round_picked_, states=self.round_states_, most=self.round_most_)
        return self._policy()

    def end_round(self, gains: Floats, picked: float | None = None, *, states: int = 1, most: float = 1.0) -> None:
        best, expected = float(gains.max()), float(self.probabilities_ @ gains)
        picked = expected if picked is None else picked
        self.expected_loss_ += best - (expected if self.randomized else picked)
        self.loss_ += best - picked
        self._before_update(gains)
        self.gains_ = self.gains_ + gains  # a new array: policies hold the old one
        self.losses_ = self.losses_ + (best - gains)
        self.n_states_ += states
        self.n_rounds_ += 1
        self.most_ = max(self.most_, most)
        self._clear_round()
        self.probabilities_ = self._distribution()

    def fork(self) -> Self:
        twin = copy.copy(self)
        if hasattr(self, "gains_"):
            twin._clear_round()
        return twin

    def join(self, part: Self) -> None:
        if not hasattr(part, "gains_"):
            return
        if not hasattr(self, "gains_"):
            self.start(len(part.gains_))
        self.round_gains_ += part.round_gains_
        self.round_picked_ += part.round_picked_
        self.round_states_ += part.round_states_
        self.round_most_ = max(self.round_most_, part.round_most_)

    def first_policy(self) -> Policy:
        if self.policies is None:
            return RandomPolicy()
        policies = validate_policies(self.policies)
        return PolicyDistribution(policies, np.full(len(policies), 1.0 / len(policies)))

    def batch_size(self, n_states: int, n_rows: int) -> int:
        return max(1, n_states // 1000)

    def expected_regret(self) -> float | None:
        """E[R] of the paper's equation 5: expected loss of the distributions in use, less that of the best expert."""
        return self.expected_loss_ - float(self.losses_.min()) if hasattr(self, "losses_") else None

    def regret(self) -> float | None:
        """R: the loss of what was picked, less that of the best expert; a sum over rounds, None before the first."""
        return self.loss_ - float(self.losses_.min()) if hasattr(self, "losses_") else None

    def hindsight(self) -> str:
        return ""

    def _policy(self) -> Policy:
        if self.policies is None:
            return ItemDistribution(self.probabilities_)
        return PolicyDistribution(tuple(self.policies), self.probabilities_)

    def _before_update(self, gains: Floats) -> None:
        """Hook for subclasses, called while `gains_` is still the sum before this round."""

    def _clear_round(self) -> None:
        self.round_gains_ = np.zeros(len(self.gains_))
        self.round_picked_, self.round_most_, self.round_states_ = 0.0, 0.0, 0

    def _expert_picks(self, examples: Examples) -> Ints | None:
        """(policies, problems): the row that each policy would pick; None where experts are items."""
        if self.policies is None:
            return None
        rng = np.random.default_rng(0)  # `pick` asks for one; a policy that is an expert has nothing to draw
        seen = examples.rows, examples.options, examples.position
        return np.stack([policy.pick(*seen, rng)[0] for policy in validate_policies(self.policies)])


def item_gains(examples: Examples) -> Floats:
    """By item of the catalogue: its gain at this position, summed over the problems (not yet weighted)."""
    used = examples.row_mask
    n_items = n_items_of(examples.rows)
    assert examples.rows.crossed is not None
    return np.bincount(examples.rows.crossed.items[used], examples.gains[used], minlength=n_items).astype(np.float64)


def pick_gains(examples: Examples, picks: Ints) -> Floats:
    """Summed gain of each row of `picks`, an array (policies, problems) of row indices with -1 for none."""
    counted = (picks >= 0) & examples.learned
    return np.where(counted, examples.gains[picks], 0.0).sum(axis=1)


def validate_policies(policies: Sequence[Policy]) -> tuple[Policy, ...]:
    if len(policies) == 0:
        raise InputError("policies must hold at least one policy. Got none.")
    for policy in policies:
        if not isinstance(policy, Policy):
            raise InputError(f"policies must come from listwright.policies. Got {type(policy).__name__}.")
    return tuple(policies)


def n_items_of(rows: Rows) -> int:
    if rows.crossed is None:
        raise InputError("Learning over items needs a catalogue: use features.Identity(), or pass policies.")
    return rows.crossed.n_items


SECOND_ORDER = float(np.e - 2.0)  # exp(x) <= 1 + x + (e - 2) x^2 for x <= 1


def softmax(scores: Floats) -> Floats:
    """exp(scores), scaled to add up to 1 along the last axis; shifted first, so that it never overflows."""
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def exponential_weights(gains: Floats, rate: float) -> Floats:
    """Return the distribution in proportion to exp(rate * gains); for an infinite rate, even on the best."""
    if np.isinf(rate):
        best = gains == gains.max(axis=-1, keepdims=True)
        return best / best.sum(axis=-1, keepdims=True)
    return softmax(rate * gains)


def best_rate(n_experts: int, states: float, most: float = 1.0) -> float:
    # Here V is the smaller one, so that the regret is at most 2 sqrt(V T ln N), below the paper's 2 sqrt(k' T ln N).
    hoeffding, second = most**2 / 8.0, SECOND_ORDER * most
    if hoeffding <= second:
        return float(np.sqrt(np.log(n_experts) / (hoeffding * states)))
    return float(min(np.sqrt(np.log(n_experts) / (second * states)), 1.0 / most))


def doubling_horizon(states: int, start: int = 1) -> int:
    """Return the smallest of start, 2 start, 4 start, ... that is above `states`: a horizon for those who know none."""
    return start << max((states // start).bit_length(), 0)


def mixed_gain(gains: Floats, rate: float) -> float:
    """ln(mean(exp(rate * gains))) / rate: between the mean gain (rate 0) and the highest (infinite rate)."""
    best = float(gains.max())
    if np.isinf(rate):
        return best
    return best + float(np.log(np.mean(np.exp(rate * (gains - best))))) / rate
