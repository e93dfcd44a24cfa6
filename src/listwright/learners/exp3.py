"""Exp3 and Exp4: exponential weights over items or policies when only the gains of shown items are measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.learners.examples import Examples
from listwright.learners.experts import Experts, doubling_horizon, exponential_weights, validate_policies
from listwright.policies import ItemDistribution, Policy, PolicyDistribution, RandomPolicy


class Partial(Experts):
    """Base of Exp3 and Exp4: gains are estimated from the picks alone, and a share of picks explores."""

    # An observed gain counts 1 / chance times, where chance is the probability that the row was picked, so that the
    # estimates are unbiased. Nothing else is used: not the gains of other rows, nor what follows from them.

    rate: str | float
    explore: str | float

    def start(self, n_experts: int) -> None:
        for name, value, high in (("rate", self.rate, np.inf), ("explore", self.explore, 1.0)):
            known = value == "auto" if isinstance(value, str) else 0 <= value <= high
            if not known:
                limits = "from 0" if np.isinf(high) else "from 0 to 1"
                raise InputError(f'{name} must be "auto" or a number {limits}. Got {value!r}.')
        self.n_rows_ = 0
        super().start(n_experts)

    def join(self, part: Self) -> None:
        super().join(part)
        if hasattr(part, "n_rows_"):
            self.n_rows_ = max(self.n_rows_, part.n_rows_)

    def expected_regret(self) -> float | None:
        return None

    def regret(self) -> float | None:
        return None

    def _distribution(self) -> Floats:
        self.rate_, self.explore_ = self._next_rates()
        return exponential_weights(self.gains_, self.rate_)

    def _next_rates(self) -> tuple[float, float]:
        """Return the rates of Auer et al. (2002, Corollary 3.2), for gains up to `most_` and a horizon that doubles."""
        if self.n_rounds_ == 0:
            return 0.0, 1.0
        arms, states = self.n_rows_, doubling_horizon(self.n_states_)
        share = np.sqrt(arms * np.log(len(self.gains_)) * self.most_ / ((np.e - 1.0) * states))
        rate = min(1.0, share) / (arms * self.most_) if isinstance(self.rate, str) else self.rate
        return float(rate), float(min(1.0, share) if isinstance(self.explore, str) else self.explore)


@saved_as("learners.Exp3")
class Exp3(Partial):
    """Weighted Majority over the items of a catalogue for partial feedback: only shown items are measured.

    Use it online where a few known items recur and the gain of an item that was not shown stays unknown (clicks). Where
    all gains are known, `WeightedMajority` learns much faster; where problems have features, `Exp4` can choose among
    policies that use them.

    Parameters
    ----------
    rate : str or float
        Learning rate of the exponential weights: "auto" (Auer et al. 2002, for a horizon that doubles) or a number.
    explore : str or float
        Share of picks that are drawn evenly: "auto" or a number from 0 to 1.

    Attributes
    ----------
    probabilities_ : ndarray of shape (items,)
        Chance of each item at the next position.
    gains_ : ndarray of shape (items,)
        Estimated gains, summed over the rounds.
    rate_, explore_ : float
        The rate and the share of exploration in use.

    See Also
    --------
    Exp4 : The same over policies.
    WeightedMajority : Where the gains of all items are known.

    Notes
    -----
    Each position is drawn from (1 - explore) p + explore / N with p in proportion to exp(rate * gains). An observed
    gain is divided by its item's chance to be shown, which makes the estimates unbiased.

    Examples
    --------
    >>> learner = Exp3(rate=0.5, explore=0.2)
    >>> learner.start(2)
    >>> learner.end_round(np.array([0.0, 2 * np.log(3.0)]))
    >>> learner.probabilities_
    array([0.3, 0.7])

    In a model, which then learns only from the gains of the items that it picked:

    >>> import listwright as lw
    >>> works = np.random.default_rng(0).random((500, 3)) < [0.2, 0.7, 0.4]
    >>> problems = lw.Problems.from_arrays(
    ...     np.zeros((500, 3, 0)), catalogue=[0, 1, 2], reward=lw.rewards.AnySuccess(works)
    ... )
    >>> model = lw.ContextFreeSCP(1, learner=Exp3(), random_state=0).fit(problems)
    >>> int(model.policy_.probabilities.argmax())
    1
    """

    policies = None

    def __init__(self, *, rate: str | float = "auto", explore: str | float = "auto") -> None:
        self.rate = rate
        self.explore = explore

    def start(self, n_experts: int) -> None:
        super().start(n_experts)
        self.n_rows_ = n_experts

    def _distribution(self) -> Floats:
        weights = super()._distribution()
        return (1.0 - self.explore_) * weights + self.explore_ / len(weights)

    def _policy(self) -> Policy:
        return ItemDistribution(self.probabilities_)

    def _add_gains(self, examples: Examples, picks: Ints | None) -> None:
        assert examples.rows.crossed is not None
        items, shown = examples.rows.crossed.items, examples.picks[examples.picks >= 0]
        if examples.chances is not None:  # those of the policy that was in use when the list was shown
            chances = examples.chances[examples.picks >= 0]
        else:
            policy = ItemDistribution(self.probabilities_)
            chances = policy.chances(examples.rows, examples.options, examples.position)[shown]
        possible = chances > 0  # of a list that this policy never shows nothing can be estimated
        estimates = examples.weight * examples.gains[shown][possible] / chances[possible]
        self.round_gains_ += np.bincount(items[shown[possible]], estimates, minlength=len(self.round_gains_))


@saved_as("learners.Exp4")
class Exp4(Partial):
    """Weighted Majority over policies for partial feedback: only shown items are measured.

    Use it online to find the best of a few ready policies from clicks. Where all gains are known, use
    `WeightedMajority(policies)`. Each position follows a policy drawn from the exponential weights, or, for a share of
    picks, any open row. An observed gain counts for every policy that would have picked the same row.

    Parameters
    ----------
    policies : sequence of Policy
        The experts.
    rate : str or float
        Learning rate of the exponential weights: "auto" (Auer et al. 2002, for a horizon that doubles) or a number.
    explore : str or float
        Share of picks that are drawn evenly from the open rows: "auto" or a number from 0 to 1.

    Attributes
    ----------
    probabilities_ : ndarray of shape (policies,)
        Weight of each policy, before exploration is mixed in.
    gains_ : ndarray of shape (policies,)
        Estimated gains, summed over the rounds.

    See Also
    --------
    Exp3 : The same over items of a catalogue.

    Examples
    --------
    >>> from listwright.policies import Linear
    >>> learner = Exp4([Linear(np.array([1.0])), Linear(np.array([-1.0]))], rate=0.5, explore=0.2)
    >>> learner.start(2)
    >>> learner.end_round(np.array([0.0, 2 * np.log(3.0)]))
    >>> learner.probabilities_
    array([0.25, 0.75])
    >>> learner.policy().probabilities  # the last one is the policy that explores
    array([0.2, 0.6, 0.2])
    """

    def __init__(
        self, policies: Sequence[Policy], *, rate: str | float = "auto", explore: str | float = "auto"
    ) -> None:
        self.policies: Sequence[Policy] = policies
        self.rate = rate
        self.explore = explore

    def first_policy(self) -> Policy:
        return PolicyDistribution(
            (*validate_policies(self.policies), RandomPolicy()), np.append(np.zeros(len(self.policies)), 1.0)
        )

    def _policy(self) -> Policy:
        chances = np.append((1.0 - self.explore_) * self.probabilities_, self.explore_)
        return PolicyDistribution((*self.policies, RandomPolicy()), chances)

    def _add_gains(self, examples: Examples, picks: Ints | None) -> None:
        assert picks is not None
        self.n_rows_ = max(self.n_rows_, int(np.diff(examples.rows.offsets).max()))
        shown = examples.picks >= 0
        agree = (picks == examples.picks)[:, shown]
        if examples.chances is not None:  # those of the policy that was in use when the list was shown
            chances = examples.chances[shown]
        else:
            counts = np.add.reduceat(examples.options.astype(np.int64), examples.rows.offsets[:-1])
            evenly = self.explore_ / np.maximum(counts, 1)
            chances = evenly[shown] + (1.0 - self.explore_) * (self.probabilities_ @ agree)
        estimates = examples.weight * examples.gains[examples.picks[shown]] / chances
        self.round_gains_ += agree @ estimates
