"""Learners: no-regret updates from cost-sensitive examples."""

from listwright.learners.aggregate import Aggregate
from listwright.learners.base import Learner
from listwright.learners.gradient import GradientDescent
from listwright.learners.per_position import PerPosition
from listwright.learners.registry import as_learner
from listwright.learners.ridge import RidgeLeader

__all__ = ["Aggregate", "GradientDescent", "Learner", "PerPosition", "RidgeLeader", "as_learner"]
