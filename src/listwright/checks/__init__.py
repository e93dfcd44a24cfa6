"""Tests of the laws that rewards, features and learners obey, for use on your own classes, and of training data."""

from listwright.checks.base import LawBroken, check_features, check_learner
from listwright.checks.reward import Finding, check_reward, examine

__all__ = ["Finding", "LawBroken", "check_features", "check_learner", "check_reward", "examine"]
