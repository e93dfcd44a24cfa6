"""Learners: no-regret updates from cost-sensitive examples (the paper's subroutine Update).

A learner receives the examples of each list position and returns the policy to use in the next round.

- Over features: `RidgeFTRL` (the default), `SoftmaxLeader`, `HingeLeader`, `GradientDescent`, and `Aggregate` for any
scikit-learn estimator.
- Over a finite class of items or policies: `WeightedMajority`, `FollowLeader`, `FollowPerturbedLeader`; with feedback
on shown items only, `Exp3` and `Exp4`.
- `PerPosition` wraps any of them for ConSeqOpt. `as_learner` turns a name into a learner.
"""

from collections.abc import Callable
from typing import Any

from listwright._internal.parameters import clone
from listwright.errors import InputError
from listwright.learners.aggregate import Aggregate
from listwright.learners.base import Learner
from listwright.learners.boosting import Boosting, BoostingRanker
from listwright.learners.examples import Examples, position_weights
from listwright.learners.exp3 import Exp3, Exp4
from listwright.learners.experts import Experts
from listwright.learners.gradient import GradientDescent
from listwright.learners.hinge_leader import HingeLeader
from listwright.learners.losses import hinge_rank, squared_loss
from listwright.learners.majority import WeightedMajority
from listwright.learners.per_position import PerPosition
from listwright.learners.perturbed_leader import FollowLeader, FollowPerturbedLeader
from listwright.learners.ridge import RidgeFTRL
from listwright.learners.softmax import SoftmaxLeader

__all__ = [
    "Aggregate",
    "Boosting",
    "BoostingRanker",
    "Examples",
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
    "hinge_rank",
    "position_weights",
    "squared_loss",
]

KNOWN: dict[str, Callable[[], Learner]] = {
    "auto": RidgeFTRL,
    "ridge": RidgeFTRL,
    "gradient": GradientDescent,
    "hinge": HingeLeader,
    "hinge_rank": lambda: GradientDescent("hinge_rank"),
    "softmax": lambda: SoftmaxLeader(by="gains"),
    "majority": WeightedMajority,
    "leader": FollowLeader,
    "perturbed_leader": FollowPerturbedLeader,
    "exp3": Exp3,
}


def as_learner(learner: Any) -> Learner:
    if isinstance(learner, str) and learner in KNOWN:
        return KNOWN[learner]()
    if isinstance(learner, Learner):
        return clone(learner)
    if hasattr(learner, "fit") and hasattr(learner, "predict"):
        return Aggregate(learner)
    raise InputError(f"learner must be one of {', '.join(KNOWN)}, a learner or an estimator. Got {learner!r}.")
