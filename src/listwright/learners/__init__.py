"""Learners: no-regret updates from cost-sensitive examples (the paper's subroutine Update).

A learner receives the examples of each list position and returns the policy to use in the next round.

- Over features: `RidgeFTRL` (the default), `SoftmaxLeader`, `HingeLeader`, `GradientDescent`, and `Aggregate` for any
scikit-learn estimator.
- Over a finite class of items or policies: `WeightedMajority`, `FollowLeader`, `FollowPerturbedLeader`; with feedback
on shown items only, `Exp3` and `Exp4`.
- `PerPosition` wraps any of them for ConSeqOpt. `as_learner` turns a name into a learner.
"""

from listwright.learners.aggregate import Aggregate
from listwright.learners.base import Learner
from listwright.learners.boosting import Boosting
from listwright.learners.boosting_ranker import BoostingRanker
from listwright.learners.exp3 import Exp3
from listwright.learners.exp4 import Exp4
from listwright.learners.experts import Experts
from listwright.learners.follow_leader import FollowLeader
from listwright.learners.gradient import GradientDescent
from listwright.learners.hinge_leader import HingeLeader
from listwright.learners.majority import WeightedMajority
from listwright.learners.per_position import PerPosition
from listwright.learners.perturbed_leader import FollowPerturbedLeader
from listwright.learners.registry import as_learner
from listwright.learners.ridge import RidgeFTRL
from listwright.learners.softmax import SoftmaxLeader

__all__ = [
    "Aggregate",
    "Boosting",
    "BoostingRanker",
    "Exp3",
    "Exp4",
    "Experts",
    "FollowLeader",
    "FollowPerturbedLeader",
    "GradientDescent",
    "HingeLeader",
    "Learner",
    "PerPosition",
    "RidgeFTRL",
    "SoftmaxLeader",
    "WeightedMajority",
    "as_learner",
]
