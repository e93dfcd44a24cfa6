"""Arguments (ArgKP, training debates to test debates): share of key points covered by the first 1 to 5."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.quality import protocol
from benchmarks.quality.jobs import Job
from benchmarks.quality.methods import OF_FEATURES, fitted, measured_rows
from benchmarks.quality.rivals import FacilityGreedy, TunedDPP
from listwright.baselines import MMR, Oracle
from listwright.datasets import read_arguments

FAMILY = "key points"
LENGTHS = (1, 2, 3, 4, 5)
METHODS: dict[str, Any] = OF_FEATURES | {
    "centroid": MMR(0.0),
    "DPP": TunedDPP(),
    "facility location": FacilityGreedy(),
    "oracle": Oracle(),
}


def jobs(stage: str, seeds: int) -> list[Job]:
    """A job for each method and seed; nothing is chosen here."""
    if stage == "choose":
        return []
    protocol.folder("argkp", stage)
    return [
        Job(stage, FAMILY, str(seed), method, partial(_one, seed, method), 4.0)
        for method in METHODS
        for seed in range(seeds)
    ]


def _one(seed: int, method: str) -> list[dict[str, Any]]:
    """Fits one method on the training debates and tests it on the other debates."""
    arguments = read_arguments("argkp")
    train, test = arguments.problems[arguments.split == "train"], arguments.problems[arguments.split != "train"]
    model = fitted(METHODS[method], train, length=max(LENGTHS), seed=seed)
    return measured_rows(method, model, test, LENGTHS, {"set": "ArgKP", "train": "1.0", "seed": seed})
