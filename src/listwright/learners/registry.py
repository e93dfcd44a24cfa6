"""Learners by name (`KNOWN`), and scikit-learn estimators as learners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from listwright._internal.parameters import clone
from listwright.errors import InputError
from listwright.learners.aggregate import Aggregate
from listwright.learners.base import Learner
from listwright.learners.exp3 import Exp3
from listwright.learners.follow_leader import FollowLeader
from listwright.learners.gradient import GradientDescent
from listwright.learners.hinge_leader import HingeLeader
from listwright.learners.majority import WeightedMajority
from listwright.learners.perturbed_leader import FollowPerturbedLeader
from listwright.learners.ridge import RidgeFTRL
from listwright.learners.softmax import SoftmaxLeader

KNOWN: dict[str, Callable[[], Learner]] = {
    "auto": RidgeFTRL,
    "ridge": RidgeFTRL,
    "gradient": GradientDescent,
    "hinge": HingeLeader,
    "hinge_rank": lambda: GradientDescent("hinge_rank"),
    "logistic_rank": lambda: GradientDescent("logistic_rank"),
    "softmax": lambda: SoftmaxLeader(by="gains"),
    "majority": WeightedMajority,
    "leader": FollowLeader,
    "perturbed_leader": FollowPerturbedLeader,
    "exp3": Exp3,
}


def as_learner(learner: Any) -> Learner:
    """Return a fresh learner from a name, a learner, or a scikit-learn estimator."""
    if isinstance(learner, str) and learner in KNOWN:
        return KNOWN[learner]()
    if isinstance(learner, Learner):
        return clone(learner)
    if hasattr(learner, "fit") and hasattr(learner, "predict"):
        return Aggregate(learner)
    raise InputError(f"learner must be one of {', '.join(KNOWN)}, a learner or an estimator. Got {learner!r}.")
