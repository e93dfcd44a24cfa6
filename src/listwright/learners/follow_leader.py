"""Follow the leader: all probability on the expert with the highest gains so far."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.saved import saved_as
from listwright.learners.experts import Experts, validate_policies
from listwright.policies import ItemLeader, Policy, Uniform


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
        """Return the first open row, or the first policy."""
        return Uniform() if self.policies is None else validate_policies(self.policies)[0]

    def _distribution(self) -> Floats:
        return np.eye(len(self.gains_))[int(np.argmax(self.gains_))]

    def _policy(self) -> Policy:
        if self.policies is None:
            return ItemLeader(self.gains_)
        return self.policies[int(np.argmax(self.gains_))]
