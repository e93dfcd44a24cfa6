"""Published data sets as problems, read from files that you have; nothing is downloaded."""

from listwright.datasets._splits import TrainTest
from listwright.datasets.arguments import Arguments, read_arguments
from listwright.datasets.aslib import Scenario, read_aslib
from listwright.datasets.motion_paths import read_motion_paths
from listwright.datasets.movies import Movies, read_movies
from listwright.datasets.questions import read_questions
from listwright.datasets.trajectory import read_trajectory
from listwright.datasets.trec import read_trec_diversity

__all__ = [
    "Arguments",
    "Movies",
    "Scenario",
    "TrainTest",
    "read_arguments",
    "read_aslib",
    "read_motion_paths",
    "read_movies",
    "read_questions",
    "read_trajectory",
    "read_trec_diversity",
]
