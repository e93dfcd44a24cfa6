"""Baselines: the methods that people use today to build lists, with the same interface as `SCP`."""

from listwright.baselines.base import Baseline
from listwright.baselines.dpp import DPP
from listwright.baselines.learned_dpp import LearnedDPP
from listwright.baselines.mmr import MMR
from listwright.baselines.oracle import Oracle
from listwright.baselines.random import Random
from listwright.baselines.static_list import StaticList
from listwright.baselines.submod import SubMod
from listwright.baselines.top_k import TopK
from listwright.baselines.weighted_cover import ForestCover, NearestCover

__all__ = [
    "DPP",
    "MMR",
    "Baseline",
    "ForestCover",
    "LearnedDPP",
    "NearestCover",
    "Oracle",
    "Random",
    "StaticList",
    "SubMod",
    "TopK",
]
