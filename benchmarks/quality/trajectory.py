"""The paper's robot arm, after learning from 30 to all 310 environments.

To report: failure on the 212 test environments. To choose: five folds of the training environments.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality import protocol
from benchmarks.quality.jobs import Job
from benchmarks.quality.methods import OF_CATALOGUES, fitted, measured_rows, part_of
from listwright.datasets import TrainTest, read_trajectory

FAMILY = "robot arm"
LENGTHS = tuple(range(1, 9))
SIZES = {"choose": (30, 70, 248), "report": (30, 70, 150, 310)}
SUBSETS = 10


def jobs(stage: str, seeds: int) -> list[Job]:
    """A job for each method, number of training environments and drawn subset: ten of them, whatever `seeds` says."""
    folder = protocol.folder("scp_trajectory", stage)
    return [
        Job(stage, FAMILY, f"{size}/{seed}", method, partial(_one, folder, stage, size, seed, method), size / 310)
        for method in OF_CATALOGUES
        for size in SIZES[stage]
        for seed in range(SUBSETS)
    ]


def _one(folder: Path, stage: str, size: int, seed: int, method: str) -> list[dict[str, Any]]:
    train, test = split(folder, stage, seed)
    model = fitted(OF_CATALOGUES[method], part_of(train, size, seed), length=max(LENGTHS), seed=seed)
    return measured_rows(method, model, test, LENGTHS, {"set": "trajectory", "train": str(size), "seed": seed})


def split(folder: Path, stage: str, seed: int) -> TrainTest:
    """The source's split; to choose, a fifth of its training part is held out, another one for each seed."""
    data = read_trajectory(folder)
    if stage == "report":
        return data
    held = np.arange(len(data.train)) % 5 == seed % 5
    return TrainTest(data.train[~held], data.train[held])
