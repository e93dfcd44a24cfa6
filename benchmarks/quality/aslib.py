"""Eight ASlib scenarios with their official ten folds: which solvers to try on an instance?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.quality.jobs import Job
from benchmarks.quality.methods import METHODS, compared
from listwright.lab.datasets import TrainTest, read_aslib

LENGTHS = (1, 2, 3, 5, 8)
SHARES = (0.15, 1.0)  # of the training instances


def jobs(data: Path) -> list[Job]:
    """A job for each scenario, fold and method."""
    folders = sorted(folder.parent for folder in (data / "aslib").glob("*/runs.parquet"))
    return [
        Job(f"aslib/{folder.name}/{fold}/{method}", partial(_one, folder, fold, method))
        for method in METHODS
        for folder in folders
        for fold in range(1, 11)
    ]


def _one(folder: Path, fold: int, method: str) -> list[dict[str, Any]]:
    scenario = read_aslib(folder)
    return compared(scenario.name, str(fold), method, TrainTest(*scenario.split(fold)), lengths=LENGTHS, sizes=SHARES)
