"""Figure (a) of the paper: how often no trajectory in the list works, against the number of training environments.

All methods see the same nested subsets of the training environments, one chain of subsets per seed, and are tested on
the same environments. SCP learns one policy for lists of a given length, so it is fitted for every length; the others
build short lists as beginnings of long ones and are fitted once. At the largest size, SCP is also taken apart: from the
algorithm as the paper prints it to SCP with effort="fast", one change at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats
from listwright.baselines import Oracle, Random, StaticList
from listwright.datasets import read_trajectory
from listwright.datasets._fetch import locate
from listwright.errors import InputError
from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.scp import SCP
from listwright.evaluation import compare
from listwright.experiments.methods import Regression
from listwright.experiments.records import Record, check_repetitions, record, records_of, repeat
from listwright.experiments.trajectory_section import CHANGE, STARVED, findings, section
from listwright.features import FirstPosition
from listwright.features.auto import paper_features
from listwright.learners import RidgeFTRL
from listwright.problems import Problems
from listwright.simulate import trajectory

__all__ = ["METHODS", "SIZES", "STEPS", "findings", "problems", "run", "section"]

NAME = "trajectory"
FILE = "scp_trajectory.npz"
SIZES = (10, 20, 30, 50, 70, 100, 150, 200, 250, 310)
LENGTHS = (1, 2, 3, 4, 5, 8)
PASSES = 3  # of SCP and ConSeqOpt over the training environments
WHOLE = 3  # repetitions where all training environments are used: only the order of the states differs between them

FAST: dict[str, Any] = {"effort": "fast", "n_passes": PASSES}
PAPER: dict[str, Any] = {"features": paper_features()}
# ConSeqOpt's learners share nothing, so that weights between positions have no meaning.
SEPARATE: dict[str, Any] = {"n_passes": PASSES, "weighting": "uniform"}
# Algorithm 2 as printed: one pass, an update after every state, and the squared loss on the costs themselves.
PRINTED: dict[str, Any] = {**PAPER, **FAST, "n_passes": 1, "batch_size": 1, "skip_saturated": False}
ON_COSTS: dict[str, Any] = {**PRINTED, "learner": RidgeFTRL(center=False, target="cost")}
RANKING: dict[str, Any] = {**PRINTED, "learner": "hinge_rank"}

METHODS: dict[str, Any] = {
    "SCP": SCP(**FAST),
    "ConSeqOpt": ConSeqOpt(**SEPARATE),
    "SCP, paper's features": SCP(**PAPER, **FAST),
    "ConSeqOpt, paper's features": ConSeqOpt(**PAPER, **SEPARATE),
    "Regression": Regression(),
    "Static list": StaticList(),
    "Random": Random(),
    "Oracle": Oracle(),
}


class AblationStep(NamedTuple):
    """One change on the way from the printed algorithm to `effort="fast"`."""

    base: str | None  # the row that it changes
    method: Any  # the method with the change


STEPS: dict[str, AblationStep] = {
    "SCP as printed": AblationStep(None, SCP(**ON_COSTS)),
    "as printed, best round": AblationStep("SCP as printed", SCP(**ON_COSTS, keep="best")),
    "hinge ranking": AblationStep("SCP as printed", SCP(**RANKING)),
    "hinge, best round": AblationStep("hinge ranking", SCP(**RANKING, keep="best")),
    "+ centring": AblationStep("SCP as printed", SCP(**PRINTED)),
    "+ batches": AblationStep("+ centring", SCP(**{**PRINTED, "batch_size": "auto"})),
    "+ three passes": AblationStep("+ batches", SCP(**{**PRINTED, "batch_size": "auto", "n_passes": PASSES})),
    "+ solved states skipped": AblationStep("+ three passes", METHODS["SCP, paper's features"]),
    "+ first position crossed": AblationStep(
        "+ solved states skipped", SCP(features=paper_features() + FirstPosition(), **FAST)
    ),
    "+ identity (SCP above)": AblationStep("+ solved states skipped", METHODS["SCP"]),
    "ConSeqOpt, paper's features": AblationStep("+ solved states skipped", METHODS["ConSeqOpt, paper's features"]),
}


def problems(folder: Path | None = None) -> tuple[Problems, Problems]:
    """Return problems for training and testing: the paper's own by name or folder, or simulated ones."""
    if folder is None:
        return trajectory.problems()
    folder = locate(folder)
    for path in (folder / FILE, folder / Path(FILE).stem / FILE):
        if path.is_file():
            return read_trajectory(path)
    raise InputError(f"There is no {FILE} in {folder}. Leave --data out to use the simulated arm.")


def run(
    *,
    data: Path | None = None,
    seeds: int = 10,
    jobs: int = 1,
    sizes: Sequence[int] = SIZES,
    lengths: Sequence[int] = LENGTHS,
    methods: Sequence[str] = tuple(METHODS),
    steps: Sequence[str] = tuple(STEPS),
) -> list[Record]:
    """Measure the failure of every method at every training size and length, and of every step at the largest size."""
    check_repetitions(seeds)
    train, test = problems(data)
    if not sizes or min(sizes) < 1 or max(sizes) > len(train):
        raise InputError(f"sizes must be between 1 and {len(train)}, the training environments. Got {list(sizes)}.")
    sizes = sorted(sizes)
    wanted = {size: [*methods, *(steps if size == sizes[-1] else ())] for size in sizes}
    repetitions = {size: min(seeds, WHOLE) if size == len(train) else seeds for size in sizes}
    tasks = [
        (train, test, size, seed, tuple(lengths), name)
        for size in sizes
        for name in dict.fromkeys(wanted[size])
        for seed in range(repetitions[size])
    ]
    results = repeat(_run_method, tasks, jobs=jobs)
    by_task = {(task[2], task[5], task[3]): result for task, result in zip(tasks, results, strict=True)}

    def failures(size: int, names: Sequence[str]) -> Floats:
        """(methods, lengths, environments), averaged over the repetitions."""
        seeds = range(repetitions[size])
        return np.array([np.mean([by_task[size, name, seed] for seed in seeds], 0) for name in names])

    by_size = [records_of(NAME, methods, size, lengths, failures(size, methods)) for size in sizes if methods]
    records = [record for part in by_size for record in part]
    new = [name for name in steps if name not in methods]
    if new:
        records += records_of(NAME, new, sizes[-1], lengths, failures(sizes[-1], new))
    return records + (_changes(steps, sizes[-1], lengths, failures(sizes[-1], steps)) if steps else [])


def _run_method(train: Problems, test: Problems, size: int, seed: int, lengths: Sequence[int], name: str) -> Floats:
    """Return the failure of one method after training on one subset, shape (lengths, environments)."""
    method = METHODS[name] if name in METHODS else STEPS[name].method
    comparison = compare(
        {name: method},
        train,
        test=test,
        lengths=lengths,
        train_sizes=[size],
        seeds=[seed],
        refit_lengths=isinstance(method, SCP),
    )
    return 1.0 - comparison.values["value"].reshape(len(lengths), len(test))


def _changes(steps: Sequence[str], n_train: int, lengths: Sequence[int], failures: Floats) -> list[Record]:
    """Return what each step changes, compared with its base row, averaged over the lengths of `STARVED`."""
    chosen = [index for index, length in enumerate(lengths) if length in STARVED]
    means = dict(zip(steps, failures[:, chosen].mean(axis=1), strict=True)) if chosen else {}
    return [
        record(NAME, name, n_train=n_train, length=0, metric=CHANGE, values=means[name] - means[base])
        for name, base in ((name, STEPS[name].base) for name in means)
        if base in means
    ]
