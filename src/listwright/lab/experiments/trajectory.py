"""Figure (a) of the paper: how often no trajectory in the list works, against the number of training environments.

All methods see the same nested subsets of the training environments, one chain of subsets a seed, and are tested on
the same environments. SCP learns one policy for lists of a given length, so it is fitted for several; the others build
short lists as beginnings of long ones and are fitted once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from listwright._internal.arrays import Floats
from listwright.baselines import Oracle, Random, StaticList
from listwright.errors import InputError
from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.scp import SCP
from listwright.features import Features
from listwright.features.auto import paper_features
from listwright.lab.experiments import trajectory_data
from listwright.lab.experiments.curves import Method, failure_by_length
from listwright.lab.experiments.records import Record, records_of
from listwright.lab.experiments.regression import Regression
from listwright.lab.experiments.tasks import Tick, check_repetitions, quiet, repeat
from listwright.lab.experiments.trajectory_section import findings, section
from listwright.problems import Problems

__all__ = ["METHODS", "SIZES", "findings", "run", "section"]

NAME = "trajectory"
SIZES = (10, 20, 30, 50, 70, 100, 150, 200, 250, 310)
LENGTH = 8

FITTED = (1, 2, 3, 5, 8)  # lengths that SCP is fitted for; between them, a list is the beginning of the next longer
PASSES = 3  # of SCP and ConSeqOpt over the training environments


def _scp(length: int, features: Features | str) -> Method:
    return SCP(length, features=features, n_passes=PASSES, random_state=0)


def _conseqopt(length: int, features: Features | str) -> Method:
    """Its learners share nothing, so weights between positions have no meaning."""
    return ConSeqOpt(length, features=features, n_passes=PASSES, weighting="uniform", random_state=0)


METHODS: dict[str, Callable[[int, int], Method]] = {
    "SCP": lambda length, seed: _scp(length, "auto"),
    "ConSeqOpt": lambda length, seed: _conseqopt(length, "auto"),
    "SCP, paper's features": lambda length, seed: _scp(length, paper_features()),
    "ConSeqOpt, paper's features": lambda length, seed: _conseqopt(length, paper_features()),
    "Regression": lambda length, seed: Regression(length),
    "Static list": lambda length, seed: StaticList(length),
    "Random": lambda length, seed: Random(length, random_state=seed),
    "Oracle": lambda length, seed: Oracle(length),
}


def run(
    *,
    data: Path | None = None,
    seeds: int = 10,
    jobs: int = 1,
    tick: Tick = quiet,
    sizes: Sequence[int] = SIZES,
    length: int = LENGTH,
    methods: Sequence[str] = tuple(METHODS),
) -> list[Record]:
    """Failure of every method for every size of the training set and every length up to `length`.

    >>> records = run(seeds=1, sizes=[20], length=3, methods=["Static list", "Oracle"])
    >>> [(record["method"], record["length"], record["mean"]) for record in records][-1]
    ('Oracle', 3, 0.0)
    """
    check_repetitions(seeds)
    train, test = trajectory_data.problems(data)
    if not sizes or min(sizes) < 1 or max(sizes) > len(train):
        raise InputError(f"sizes must be between 1 and {len(train)}, the training environments. Got {list(sizes)}.")
    tasks = [(train, test, size, seed, length, tuple(methods)) for size in sizes for seed in range(seeds)]
    found = np.array(repeat(_one, tasks, jobs=jobs, tick=tick)).reshape(len(sizes), seeds, len(methods), length)
    return [record for row, size in enumerate(sizes) for record in records_of(NAME, methods, size, found[row])]


def _one(train: Problems, test: Problems, size: int, seed: int, length: int, methods: Sequence[str]) -> Floats:
    """(methods, lengths): failure after training on one subset. Subsets of one seed are nested."""
    chosen = np.random.default_rng([seed, 7]).permutation(len(train))[:size]
    return np.stack([_failures(name, seed, length, train[chosen], test) for name in methods])


def _failures(name: str, seed: int, length: int, train: Problems, test: Problems) -> Floats:
    fitted = [one for one in FITTED if one < length] if name.startswith("SCP") else []
    return failure_by_length(lambda one: METHODS[name](one, seed), [*fitted, length], train, test)
