"""Tastes that change: learning with and without a half-life, on visitors that drift and on visitors that do not."""

from __future__ import annotations

from typing import Any

import numpy as np

import listwright as lw
from listwright.evaluation.intervals import estimate

VISITS, CANDIDATES, COLUMNS, LENGTH = 6000, 12, 6, 3
HALF_LIFE = 1500.0
TURN = 2 * np.pi / 4000  # of the taste, per visit
SEEDS = 6


def compare_half_lives() -> dict[str, Any]:
    """Clicks per list over the second half of the visits, for each kind of visitors; differences by seed."""
    return {kind: _differences(kind) for kind in ("drifting", "steady")}


def _differences(kind: str) -> dict[str, Any]:
    values = {life: np.array([_played(kind, life, seed) for seed in range(SEEDS)]) for life in (None, HALF_LIFE)}
    ahead = estimate(values[HALF_LIFE] - values[None])
    assert ahead is not None
    return {
        "without": float(values[None].mean()),
        "with": float(values[HALF_LIFE].mean()),
        "ahead": [ahead.mean, ahead.low, ahead.high],
    }


def _played(kind: str, half_life: float | None, seed: int) -> float:
    """What the lists shown in the second half were worth, in truth."""
    rng = np.random.default_rng([seed, 5])
    learner = lw.OnlineSCP(LENGTH, half_life=half_life, random_state=seed)
    start = lw.Problems.from_arrays(np.random.default_rng(seed).random((200, CANDIDATES, COLUMNS)))
    learner.begin(start)
    worth = np.zeros(VISITS)
    for visit in range(VISITS):
        problem = lw.Problems.from_arrays(rng.random((1, CANDIDATES, COLUMNS)))
        angle = TURN * visit if kind == "drifting" else 0.0
        taste = np.zeros(COLUMNS)
        taste[:2] = np.cos(angle), np.sin(angle)
        chances = 1.0 / (1.0 + np.exp(1.5 - 4.0 * (problem.features - 0.5) @ taste))
        lists = learner.recommend(problem, list_ids=[str(visit)])
        shown = chances[lists[0]]
        worth[visit] = shown.sum()
        learner.feedback(str(visit), rng.random(LENGTH) < shown)
    return float(worth[VISITS // 2 :].mean())
