"""Weighted Majority: exponential weights over a finite class of items or policies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.learners.experts import Experts, best_rate, doubling_horizon, exponential_weights, mixed_gain
from listwright.policies import Policy

RATES = ("optimal", "doubling", "adaptive")


@saved_as("learners.WeightedMajority")
class WeightedMajority(Experts):
    """Probabilities in proportion to exp(rate * gains so far): the learner of the paper's Corollary 2.

    Use it where the class is finite (a catalogue of items, or a few policies) and a guarantee matters. Where candidates
    are described by features, a learner over features such as `RidgeFTRL` generalises to new items; where only shown
    items are measured, take `Exp3` or `Exp4`.

    Parameters
    ----------
    policies : sequence of Policy or None
        The experts; None for the items of the catalogue (features must then say which item a row is, as
        `features.Identity()` does).
    rate : str or float
        "optimal": the best for `horizon` states with a reward in [0, 1]. "doubling": the same for a horizon that
        doubles whenever it is reached; the gains so far are kept. "adaptive": set by the differences seen so far
        (AdaHedge, de Rooij et al. 2014), for rewards of any scale and for large batches. Or a number.
    horizon : int or None
        T, the number of states to come; None turns "optimal" into "doubling". Past the horizon, it doubles.

    Attributes
    ----------
    probabilities_ : ndarray of shape (experts,)
        The distribution for the next round.
    gains_, losses_ : ndarray of shape (experts,)
        Sums over the rounds so far.
    rate_ : float
        The rate in use.
    gap_ : float
        AdaHedge's sum of mixability gaps; 0 for other rates.

    See Also
    --------
    FollowPerturbedLeader : Similar bounds by adding noise.
    Exp3 : For partial feedback.

    Notes
    -----
    With gains used as rewards (Arora et al. 2012) the average expected regret falls as sqrt(k' ln N / T) over N experts
    and T states, with k' = min(m, k). The rates "optimal" and "doubling" are those for a round of one state. With
    larger batches they still suit states that are independent draws, but the bound is proved for one. Weights are kept
    as logarithms, so that long runs neither overflow nor forget.

    Examples
    --------
    >>> learner = WeightedMajority(rate=1.0)
    >>> learner.start(2)
    >>> learner.end_round(np.array([0.0, np.log(3.0)]))
    >>> learner.probabilities_
    array([0.25, 0.75])
    >>> round(learner.expected_regret(), 4)  # even odds at first: half of what the better expert gained
    0.5493

    Over the items of a catalogue, here three solvers of which the second works most often:

    >>> import listwright as lw
    >>> works = np.random.default_rng(0).random((200, 3)) < [0.2, 0.7, 0.4]
    >>> problems = lw.Problems.from_arrays(
    ...     np.zeros((200, 3, 0)), catalogue=[0, 1, 2], reward=lw.rewards.AnySuccess(works)
    ... )
    >>> model = lw.ContextFreeSCP(2, learner=WeightedMajority(horizon=200), random_state=0).fit(problems)
    >>> int(model.policy_.probabilities.argmax())
    1
    """

    def __init__(
        self, policies: Sequence[Policy] | None = None, *, rate: str | float = "optimal", horizon: int | None = None
    ) -> None:
        self.policies = policies
        self.rate = rate
        self.horizon = horizon

    def start(self, n_experts: int) -> None:
        known = self.rate in RATES if isinstance(self.rate, str) else 0 <= self.rate < np.inf
        if not known:
            raise InputError(f"rate must be one of {', '.join(RATES)}, or a number from 0. Got {self.rate!r}.")
        if self.horizon is not None and self.horizon < 1:
            raise InputError(f"horizon must be at least 1. Got {self.horizon}.")
        self.gap_ = 0.0
        super().start(n_experts)

    def _distribution(self) -> Floats:
        self.rate_ = self._next_rate()
        return exponential_weights(self.gains_, self.rate_)

    def _before_update(self, gains: Floats) -> None:
        if self.rate == "adaptive":
            mixed = mixed_gain(self.gains_ + gains, self.rate_) - mixed_gain(self.gains_, self.rate_)
            self.gap_ += max(mixed - float(self.probabilities_ @ gains), 0.0)

    def _next_rate(self) -> float:
        """Return the rate for the next round: as given, AdaHedge's ln N / gap, or the best for the current horizon."""
        if not isinstance(self.rate, str):
            return float(self.rate)
        if self.rate == "adaptive":
            return float(np.log(len(self.gains_))) / self.gap_ if self.gap_ > 0 else np.inf
        if self.n_rounds_ == 0:
            return 0.0
        start = self.horizon if self.rate == "optimal" and self.horizon is not None else 1
        # A rate that only ever falls needs no restart: the bound for the smallest rate holds for the whole run.
        return best_rate(len(self.gains_), doubling_horizon(self.n_states_, start), self.most_)
