"""Policies: functions that pick the next item of a list."""

from listwright.policies.base import Policy, Uniform
from listwright.policies.distribution import ItemDistribution, PolicyDistribution, RandomPolicy
from listwright.policies.estimator import Estimator
from listwright.policies.linear import Linear
from listwright.policies.mixture import PolicyMixture, Sequence
from listwright.policies.perturbed import ItemLeader, PolicyLeader

__all__ = [
    "Estimator",
    "ItemDistribution",
    "ItemLeader",
    "Linear",
    "Policy",
    "PolicyDistribution",
    "PolicyLeader",
    "PolicyMixture",
    "RandomPolicy",
    "Sequence",
    "Uniform",
]
