"""Policies: functions that pick the next item of a list."""

from listwright.policies.base import Policy, Uniform
from listwright.policies.distribution import ItemDistribution, PolicyDistribution
from listwright.policies.estimator import Estimator
from listwright.policies.linear import Linear
from listwright.policies.mixture import PolicyMixture
from listwright.policies.perturbed import ItemLeader, PolicyLeader
from listwright.policies.random import RandomPolicy
from listwright.policies.sequence import Sequence

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
