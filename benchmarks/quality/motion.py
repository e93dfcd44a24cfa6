"""Five motion-planning libraries, split as in the source: is any path of the list free of collision?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.quality.jobs import Job
from benchmarks.quality.methods import METHODS, compared
from listwright.lab.datasets import read_motion_paths

LENGTHS = tuple(range(1, 9))


def jobs(data: Path) -> list[Job]:
    """A job for each problem and method."""
    files = sorted((data / "motion_paths").glob("*.npz"))
    return [Job(f"motion/{file.stem}/{method}", partial(_one, file, method)) for method in METHODS for file in files]


def _one(file: Path, method: str) -> list[dict[str, Any]]:
    return compared(file.stem, "test", method, read_motion_paths(file), lengths=LENGTHS, sizes=[1.0])
