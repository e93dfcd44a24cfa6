"""Figure (a) of the paper: how often no trajectory in the list works, against the number of training environments.

All methods see the same nested subsets of the training environments, one chain of subsets a seed, and are tested on
the same environments. Each is fitted once for the longest list; shorter lists are its beginnings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from listwright._arrays import Floats
from listwright.baselines import Oracle, Random, StaticList
from listwright.conseqopt import ConSeqOpt
from listwright.errors import InputError
from listwright.experiments import trajectory_data
from listwright.experiments.curves import Method, failure_by_length
from listwright.experiments.records import Record, records_of
from listwright.experiments.regression import Regression
from listwright.experiments.tasks import Tick, check_repetitions, quiet, repeat
from listwright.experiments.trajectory_section import findings, section
from listwright.features.auto import paper_features
from listwright.problems import Problems
from listwright.scp import SCP

__all__ = ["METHODS", "SIZES", "findings", "run", "section"]

NAME = "trajectory"
SIZES = (10, 20, 30, 50, 70, 100, 150, 200, 250, 310)
LENGTH = 8

METHODS: dict[str, Callable[[int, int], Method]] = {
    "SCP (auto)": lambda length, seed: SCP(length, random_state=seed),
    "SCP": lambda length, seed: SCP(length, features=paper_features(), random_state=seed),
    "ConSeqOpt": lambda length, seed: ConSeqOpt(length, features=paper_features(), random_state=seed),
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
    return np.stack([failure_by_length(METHODS[name](length, seed), train[chosen], test) for name in methods])
