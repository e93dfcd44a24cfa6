"""The paper's robot arm: failure on the 212 test environments, after learning from 30 to all 310."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.quality.jobs import Job
from benchmarks.quality.methods import METHODS, compared
from listwright.lab.datasets import read_trajectory

LENGTHS = tuple(range(1, 9))
SEEDS = 10


def jobs(data: Path) -> list[Job]:
    """A job for each method and number of training environments."""
    folder = data / "scp_trajectory"
    return [
        Job(f"trajectory/{size}/{method}", partial(_one, folder, size, method))
        for method in METHODS
        for size in (30, 70, 150, 310)
    ]


def _one(folder: Path, size: int, method: str) -> list[dict[str, Any]]:
    return compared("trajectory", "test", method, read_trajectory(folder), lengths=LENGTHS, sizes=[size], seeds=SEEDS)
