"""Learners: no-regret updates from cost-sensitive examples."""

from listwright.learners.aggregate import Aggregate
from listwright.learners.base import Learner
from listwright.learners.boosting import Boosting
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
from listwright.learners.ridge import RidgeLeader
from listwright.learners.softmax import SoftmaxLeader

__all__ = [
    "Aggregate",
    "Boosting",
    "Exp3",
    "Exp4",
    "Experts",
    "FollowLeader",
    "FollowPerturbedLeader",
    "GradientDescent",
    "HingeLeader",
    "Learner",
    "PerPosition",
    "RidgeLeader",
    "SoftmaxLeader",
    "WeightedMajority",
    "as_learner",
]
