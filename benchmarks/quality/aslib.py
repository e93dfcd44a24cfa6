"""ASlib scenarios with their official ten folds: which solvers to try on an instance?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.quality import protocol
from benchmarks.quality.jobs import Job
from benchmarks.quality.methods import OF_CATALOGUES, fitted, measured_rows, part_of
from listwright.datasets import read_aslib

FAMILY = "solvers"
LENGTHS = (1, 2, 3, 5, 8)
SHARES = (0.15, 1.0)  # of the training instances
SETS = {"choose": "aslib_dev", "report": "aslib"}
BYTES = 300_000  # of a scenario of usual size
FOLDS = {"choose": (1, 4, 7), "report": tuple(range(1, 11))}


def jobs(stage: str, seeds: int) -> list[Job]:
    """A job for each scenario, fold, seed and method."""
    scenarios = sorted(path for path in protocol.folder(SETS[stage], stage).iterdir() if path.is_dir())
    return [
        Job(
            stage,
            FAMILY,
            f"{scenario.name}/{fold}/{seed}",
            method,
            partial(_one, scenario, fold, seed, method),
            sum(file.stat().st_size for file in scenario.iterdir()) / BYTES,
        )
        for method in OF_CATALOGUES
        for scenario in scenarios
        for fold in FOLDS[stage]
        for seed in range(seeds)
    ]


def _one(scenario: Path, fold: int, seed: int, method: str) -> list[dict[str, Any]]:
    train, test = read_aslib(scenario).split(fold)
    records = []
    for share in SHARES:
        model = fitted(OF_CATALOGUES[method], part_of(train, share, seed), length=max(LENGTHS), seed=seed)
        labels = {"set": scenario.name, "train": str(share), "seed": seed}
        records += measured_rows(method, model, test, LENGTHS, labels)
    return records
