"""Exp4: exponential weights over policies when only the gains of shown items are measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.saved import saved_as
from listwright.learners.examples import Examples
from listwright.learners.exp3 import Partial
from listwright.learners.experts import validate_policies
from listwright.policies import Policy, PolicyDistribution, RandomPolicy


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
        """Explore only: every open row is equally likely."""
        return PolicyDistribution(
            (*validate_policies(self.policies), RandomPolicy()), np.append(np.zeros(len(self.policies)), 1.0)
        )

    def _policy(self) -> Policy:
        chances = np.append((1.0 - self.explore_) * self.probabilities_, self.explore_)
        return PolicyDistribution((*self.policies, RandomPolicy()), chances)

    def _add_gains(self, examples: Examples, picks: Ints | None) -> None:
        """Add the gain of each shown row, divided by its chance, to every policy that would have picked it."""
        assert picks is not None
        self.n_rows_ = max(self.n_rows_, int(np.diff(examples.rows.offsets).max()))
        shown = examples.picks >= 0
        agree = (picks == examples.picks)[:, shown]
        chances = self._chances(examples)[shown] + (1.0 - self.explore_) * (self.probabilities_ @ agree)
        if examples.chances is not None:  # those of the policy that was in use when the list was shown
            chances = examples.chances[shown]
        estimates = examples.weight * examples.gains[examples.picks[shown]] / chances
        self.round_gains_ += agree @ estimates

    def _chances(self, examples: Examples) -> Floats:
        counts = np.add.reduceat(examples.options.astype(np.int64), examples.rows.offsets[:-1])
        return self.explore_ / np.maximum(counts, 1)
