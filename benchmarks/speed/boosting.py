"""Boosted trees inside SCP beside the same trees alone: `python -m benchmarks.speed.boosting`.

`HistGradientBoostingRegressor` synchronises its threads at every node, so that a second user of the cores once made it
ten times slower inside `SCP` than alone. This program notes every table that `SCP` passes to it and the seconds that
`fit` then takes, fits the same tables again outside, on as many threads as scikit-learn likes and on one, and prints
the ratios. All are timed in one process, so that a busy machine slows down all of them.
"""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

import listwright as lw

Call = tuple[Any, Any, Any, float]  # table, target, weights and seconds


class Noted(HistGradientBoostingRegressor):
    """Notes each call of `fit`, in a list that clones share."""

    calls: list[Call] = []  # noqa: RUF012

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """As the base class does it."""
        started = time.perf_counter()
        super().fit(X, y, sample_weight)
        self.calls.append((X, y, sample_weight, time.perf_counter() - started))
        return self


def problems(n: int, items: int, columns: int) -> lw.Problems:
    """Made-up problems whose items succeed by the product of two columns."""
    x = np.random.default_rng(0).standard_normal((n, items, columns)).astype(np.float32)
    return lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] * x[..., 1] > 1.0))


def alone(calls: list[Call], n_trees: int, threads: int | None) -> float:
    """Seconds that the same fits take outside of SCP."""
    total = 0.0
    with threadpool_limits(threads, user_api="openmp"):
        for table, target, weights, _ in calls:
            started = time.perf_counter()
            HistGradientBoostingRegressor(max_iter=n_trees, random_state=0).fit(table, target, weights)
            total += time.perf_counter() - started
    return total


def main(n: int = 200, items: int = 20, columns: int = 8, n_trees: int = 50) -> None:
    """Prints the seconds inside and alone, and their ratios."""
    Noted.calls.clear()
    learner = Noted(max_iter=n_trees, random_state=0)
    lw.SCP(3, learner=learner, n_passes=2, random_state=0).fit(problems(n, items, columns))
    calls = list(Noted.calls)
    inside = sum(seconds for *_, seconds in calls)
    free, single = alone(calls, n_trees, None), alone(calls, n_trees, 1)
    rows, width = max(len(table) for table, *_ in calls), calls[0][0].shape[1]
    print(f"{len(calls)} fits of {n_trees} trees on up to {rows:,} rows x {width} columns")
    print(f"inside SCP {inside:.2f} s; alone {free:.2f} s, a ratio of {inside / free:.2f}")
    print(f"alone on one thread {single:.2f} s, a ratio of {inside / single:.2f}")


if __name__ == "__main__":
    main()
