"""Clicks that no line can tell: ridge regression against boosted trees that are trained in the background."""

from __future__ import annotations

from typing import Any

import numpy as np

import listwright as lw
from listwright.evaluation.intervals import estimate

VISITS, TESTED, CANDIDATES, LENGTH = 3000, 2000, 12, 3
SEEDS = 4


def compare_learners() -> dict[str, Any]:
    """Clicks per list on new visitors after learning from visits that each learner drew itself."""
    values = {name: np.array([_tested(name, seed) for seed in range(SEEDS)]) for name in ("ridge", "boosting")}
    ahead = estimate(values["boosting"] - values["ridge"])
    assert ahead is not None
    means = {name: float(value.mean()) for name, value in values.items()}
    return means | {"ahead": [ahead.mean, ahead.low, ahead.high]}


def _chances(rows: Any) -> Any:
    """Items of a middling first feature, or where the second and the third go together."""
    appeal = 3.0 * (np.abs(rows[:, 0] - 0.5) < 0.15) + 2.0 * ((rows[:, 1] > 0.5) == (rows[:, 2] > 0.5))
    return 1.0 / (1.0 + np.exp(4.0 - appeal))


def _tested(name: str, seed: int) -> float:
    rng = np.random.default_rng([seed, 6])
    learner = lw.OnlineSCP(LENGTH, learner=name, random_state=seed)
    learner.begin(lw.Problems.from_arrays(np.random.default_rng(seed).random((200, CANDIDATES, 4))))
    for visit in range(VISITS):
        problem = lw.Problems.from_arrays(rng.random((1, CANDIDATES, 4)))
        lists = learner.recommend(problem, list_ids=[str(visit)])
        learner.feedback(str(visit), rng.random(LENGTH) < _chances(problem.features[lists[0]]))
    test = lw.Problems.from_arrays(np.random.default_rng([seed, 7]).random((TESTED, CANDIDATES, 4)))
    rows = learner.predict(test).rows
    return float(_chances(test.features[rows.ravel()]).reshape(rows.shape).sum(axis=1).mean())
