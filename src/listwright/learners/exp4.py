"""Exp4: a finite list of policies when only what was shown is measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.saved import saved_as
from listwright.learners.examples import Examples
from listwright.learners.experts import checked
from listwright.learners.partial import Partial
from listwright.policies import Policy, PolicyDistribution, Random


@saved_as("learners.Exp4")
class Exp4(Partial):
    """Weighted Majority over policies for partial feedback: only shown items are measured.

    Each position follows a policy drawn from the exponential weights, or, for a share of picks, any open row. What was
    shown counts for every policy that would have picked it too.

    Parameters
    ----------
    policies : sequence of Policy
        The experts.
    rate : str or float
        Of the exponential weights: "auto" (Auer et al. 2002, for a horizon that doubles) or a number.
    explore : str or float
        Share of picks that are drawn evenly from the open rows: "auto" or a number from 0 to 1.

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
        """Explores."""
        return PolicyDistribution((*checked(self.policies), Random()), np.append(np.zeros(len(self.policies)), 1.0))

    def _policy(self) -> Policy:
        chances = np.append((1.0 - self.explore_) * self.probabilities_, self.explore_)
        return PolicyDistribution((*self.policies, Random()), chances)

    def _take_in(self, examples: Examples, picks: Ints | None) -> None:
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
        """By problem: the chance that exploring picks a given option."""
        counts = np.add.reduceat(examples.options.astype(np.int64), examples.rows.offsets[:-1])
        return self.explore_ / np.maximum(counts, 1)
