"""Rewards, the paper's f_x: what a list is worth, computed step by step for all problems of a batch at once."""

from listwright.rewards.alpha_coverage import AlphaCoverage
from listwright.rewards.any_success import AnySuccess
from listwright.rewards.base import Reward, reward_of
from listwright.rewards.coverage import ConcaveCoverage, Coverage, ProbabilisticCoverage
from listwright.rewards.facility_location import FacilityLocation
from listwright.rewards.function import Function
from listwright.rewards.log_det import LogDet
from listwright.rewards.rouge import Rouge
from listwright.rewards.total import Total
from listwright.rewards.weighted_problems import WeightedProblems
from listwright.rewards.weighted_sum import WeightedSum

__all__ = [
    "AlphaCoverage",
    "AnySuccess",
    "ConcaveCoverage",
    "Coverage",
    "FacilityLocation",
    "Function",
    "LogDet",
    "ProbabilisticCoverage",
    "Reward",
    "Rouge",
    "Total",
    "WeightedProblems",
    "WeightedSum",
    "reward_of",
]
