"""Time of one recommendation and of its feedback: 100 candidates of 32 features, lists of five."""

from __future__ import annotations

import time

import numpy as np

import listwright as lw


def times(rounds: int = 600, warm_up: int = 100) -> dict[str, float]:
    """Medians in milliseconds."""
    rng = np.random.default_rng(0)
    learner = lw.OnlineSCP(random_state=0)
    spent = np.empty((rounds, 2))
    for i in range(rounds):
        problem = lw.Problems.from_arrays(rng.random((1, 100, 32), dtype=np.float32))
        clicks = rng.random(5) < 0.3
        start = time.perf_counter()
        lists = learner.recommend(problem)
        shown = time.perf_counter()
        learner.feedback(lists.list_ids, [clicks])
        spent[i] = shown - start, time.perf_counter() - shown
    recommend, feedback = 1000.0 * np.median(spent[warm_up:], axis=0)
    return {"recommend, ms": float(recommend), "feedback, ms": float(feedback)}
