"""Five motion-planning libraries, split as in the source: is any path of the list free of collision?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.quality import protocol
from benchmarks.quality.jobs import Job
from benchmarks.quality.methods import OF_CATALOGUES, fitted, measured_rows
from listwright.datasets import read_motion_paths

FAMILY = "motion paths"
LENGTHS = tuple(range(1, 9))


def jobs(stage: str, seeds: int) -> list[Job]:
    """A job for each planning problem, seed and method; nothing is chosen here."""
    if stage == "choose":
        return []
    files = sorted(protocol.folder("motion_paths", stage).glob("*.npz"))
    return [
        Job(stage, FAMILY, f"{file.stem}/{seed}", method, partial(_one, file, seed, method), 4.0)
        for method in OF_CATALOGUES
        for file in files
        for seed in range(seeds)
    ]


def _one(file: Path, seed: int, method: str) -> list[dict[str, Any]]:
    train, test = read_motion_paths(file)
    model = fitted(OF_CATALOGUES[method], train, length=max(LENGTHS), seed=seed)
    return measured_rows(method, model, test, LENGTHS, {"set": file.stem, "train": "1.0", "seed": seed})
