"""Follow the leader, the best expert so far, and follow the perturbed leader, the best after adding noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.learners.experts import Experts, doubling_horizon, validate_policies
from listwright.policies import ItemLeader, Policy, PolicyLeader, Uniform
from listwright.policies.perturbed import leader_chances


@saved_as("learners.FollowPerturbedLeader")
class FollowPerturbedLeader(Experts):
    """Adds exponential noise to every expert's gains and plays the leader; the noise is new at every position.

    An alternative to `WeightedMajority` with a bound of the same order, and what the paper means by follow the leader.

    Parameters
    ----------
    policies : sequence of Policy or None
        The experts; None for the items of the catalogue.
    scale : str or float
        Mean of the noise: "auto" (as in the notes, for a number of states that doubles whenever it is reached) or a
        number; 0 is `FollowLeader`.

    Attributes
    ----------
    probabilities_ : ndarray of shape (experts,)
        Exact chance of each expert to lead; regrets are computed with these.
    scale_ : float
        The scale in use.

    See Also
    --------
    WeightedMajority : Exponential weights.
    FollowLeader : Without noise and without a guarantee.

    Notes
    -----
    Kalai and Vempala (2005). With noise of scale sqrt(k' T / (1 + ln N)) the expected regret is at most 2 sqrt(k' T (1
    + ln N)) over N experts and T states. The noise comes from the generator that lists are drawn with.

    Examples
    --------
    >>> learner = FollowPerturbedLeader(scale=1.0)
    >>> learner.start(2)
    >>> learner.end_round(np.array([0.0, np.log(2.0)]))
    >>> learner.probabilities_
    array([0.25, 0.75])
    """

    def __init__(self, policies: Sequence[Policy] | None = None, *, scale: str | float = "auto") -> None:
        self.policies = policies
        self.scale = scale

    def start(self, n_experts: int) -> None:
        known = self.scale == "auto" if isinstance(self.scale, str) else 0 <= self.scale < np.inf
        if not known:
            raise InputError(f'scale must be "auto" or a number from 0. Got {self.scale!r}.')
        super().start(n_experts)

    def _distribution(self) -> Floats:
        self.scale_ = self._next_scale()
        return leader_chances(self.gains_, self.scale_)

    def _policy(self) -> Policy:
        if self.policies is None:
            return ItemLeader(self.gains_, self.scale_)
        return PolicyLeader(tuple(self.policies), self.gains_, self.scale_)

    def _next_scale(self) -> float:
        """Mean of the noise for the next round: as given, or sqrt(k' T / (1 + ln N)) for a doubling horizon T."""
        if not isinstance(self.scale, str):
            return float(self.scale) if self.n_rounds_ else 1.0
        # Before the first round all are equal, and any noise gives even odds.
        most = self.most_ if self.n_rounds_ else 1.0
        return float(np.sqrt(most * doubling_horizon(self.n_states_) / (1.0 + np.log(len(self.gains_)))))


@saved_as("learners.FollowLeader")
class FollowLeader(Experts):
    """Plays the expert with the highest gains so far, ties to the lowest; where its item is taken, the next best.

    A baseline without a guarantee: whatever leads fills the list, so that the others gain more and the lead changes all
    the time; with repeats the average regret need not fall at all. Use it to compare with `FollowPerturbedLeader`,
    which the paper means by follow the leader, and with `WeightedMajority`.

    Parameters
    ----------
    policies : sequence of Policy or None
        The experts; None for the items of the catalogue.

    See Also
    --------
    FollowPerturbedLeader : The version with noise and a regret bound.
    WeightedMajority : The paper's choice.

    Examples
    --------
    >>> learner = FollowLeader()
    >>> learner.start(3)
    >>> learner.end_round(np.array([0.1, 0.4, 0.4]))
    >>> learner.probabilities_
    array([0., 1., 0.])
    """

    randomized = False

    def __init__(self, policies: Sequence[Policy] | None = None) -> None:
        self.policies = policies

    def first_policy(self) -> Policy:
        return Uniform() if self.policies is None else validate_policies(self.policies)[0]

    def _distribution(self) -> Floats:
        return np.eye(len(self.gains_))[int(np.argmax(self.gains_))]

    def _policy(self) -> Policy:
        if self.policies is None:
            return ItemLeader(self.gains_)
        return self.policies[int(np.argmax(self.gains_))]
