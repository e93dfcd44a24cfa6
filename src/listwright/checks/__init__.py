"""Tests of the laws that rewards, features and learners obey, for use on your own classes."""

from listwright.checks.base import LawBroken, check_features, check_learner
from listwright.checks.reward import check_reward

__all__ = ["LawBroken", "check_features", "check_learner", "check_reward"]
