"""Readers that turn published data sets into `Problems`, by the split of the source where there is one."""

from listwright.datasets._fetch import fetch, list_datasets
from listwright.datasets._reading import TrainTest
from listwright.datasets.arguments import Arguments, read_arguments
from listwright.datasets.aslib import Scenario, read_aslib
from listwright.datasets.movies import Movies, read_movies
from listwright.datasets.questions import read_questions
from listwright.datasets.trajectory import read_motion_paths, read_trajectory
from listwright.datasets.trec import TrecWeb, read_trec_diversity, read_trec_web

__all__ = [
    "Arguments",
    "Movies",
    "Scenario",
    "TrainTest",
    "TrecWeb",
    "fetch",
    "list_datasets",
    "read_arguments",
    "read_aslib",
    "read_motion_paths",
    "read_movies",
    "read_questions",
    "read_trajectory",
    "read_trec_diversity",
    "read_trec_web",
]
