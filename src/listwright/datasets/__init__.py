"""Readers that turn published data sets into `Problems`.

Each `read_...` function takes the path of files, or the name of a published set (`list_datasets()`), which `fetch`
downloads from its own source at the first use. Where a source defines a split, it is returned too: as a `TrainTest`
pair, as folds, or as a label per problem. Features of a problem never depend on other problems of the file, so that no
information leaks from test to training problems. Records that are left out are counted in a `ReadingNote`, a warning.
"""

from listwright.datasets._fetch import TrainTest, fetch, list_datasets
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
