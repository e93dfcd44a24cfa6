"""Exp3: exponential weights over items when only the gains of shown items are measured."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.saved import saved_as
from listwright.learners.examples import Examples
from listwright.learners.partial import Partial
from listwright.policies import ItemDistribution, Policy


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
        """Reset all sums to 0 for `n_experts` items, which are the arms of the bandit."""
        super().start(n_experts)
        self.n_rows_ = n_experts

    def _distribution(self) -> Floats:
        weights = super()._distribution()
        return (1.0 - self.explore_) * weights + self.explore_ / len(weights)

    def _policy(self) -> Policy:
        return ItemDistribution(self.probabilities_)

    def _take_in(self, examples: Examples, picks: Ints | None) -> None:
        """Add weighted gains of the shown items, divided by their chances (from the log, where it tells them)."""
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
