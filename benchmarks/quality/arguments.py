"""Arguments (ArgKP, training debates to test debates): share of key points covered by the first 1 to 5."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import listwright as lw
from benchmarks.quality.jobs import Job
from benchmarks.quality.methods import rows
from benchmarks.quality.rivals import FacilityGreedy, TunedDPP, TunedMMR
from listwright.baselines import MMR, Oracle, TopK
from listwright.lab.datasets import read_arguments

LENGTHS = (1, 2, 3, 4, 5)

METHODS: dict[str, Any] = {
    "SCP best": lw.SCP(effort="best"),
    "SCP fast": lw.SCP(),
    "ConSeqOpt": lw.ConSeqOpt(),
    "boosting top-k": TopK("boosting"),
    "centroid": MMR(0.0),
    "MMR": TunedMMR(),
    "DPP": TunedDPP(),
    "facility location": FacilityGreedy(),
    "oracle": Oracle(),
}


def jobs(data: Path) -> list[Job]:
    """A job for each method."""
    file = data / "argkp" / "argkp2021.jsonl.gz"
    return [Job(f"arguments/{method}", partial(_one, file, method)) for method in METHODS]


def _one(file: Path, method: str) -> list[dict[str, Any]]:
    """Fits one method on the training debates and tests it on the test debates."""
    arguments = read_arguments(file)
    train, test = (arguments.problems[arguments.split == split] for split in ("train", "test"))
    found = lw.compare({method: METHODS[method]}, train, test=test, lengths=LENGTHS)
    return rows("arguments", "test", found)
