"""Boosted trees inside SCP beside the same trees alone: `python -m benchmarks.speed.boosting`.

`HistGradientBoostingRegressor` synchronises its threads at every node, so that a second user of the cores once made it
ten times slower inside `SCP` than alone. Each time that `SCP` fits it, this program fits the same table three times in
turn: as SCP does, as a script does (one thread per core), and on one thread. It prints the seconds and the ratios; a
busy machine slows down all three.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

import listwright as lw

TURNS = 3


class Timed(HistGradientBoostingRegressor):
    """Times `fit` as it is called, on one thread per core, and on one thread, in counters that clones share."""

    seconds: ClassVar[Counter[str]] = Counter()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits in all three ways, in turns; what is kept does not depend on the threads."""
        for _ in range(TURNS):
            self._timed("inside SCP", X, y, sample_weight)
            for name, threads in (("alone", os.cpu_count()), ("alone on one thread", 1)):
                with threadpool_limits(threads, user_api="openmp"):
                    self._timed(name, X, y, sample_weight)
        return self

    def _timed(self, name: str, *data: Any) -> None:
        started = time.perf_counter()
        super().fit(*data)
        self.seconds[name] += time.perf_counter() - started


def problems(n: int, items: int, columns: int) -> lw.Problems:
    """Made-up problems whose items succeed by the product of two columns."""
    x = np.random.default_rng(0).standard_normal((n, items, columns)).astype(np.float32)
    return lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] * x[..., 1] > 1.0))


def main(n: int = 100, items: int = 20, columns: int = 8, n_trees: int = 30) -> None:
    """Prints the seconds of each way, and the ratios."""
    Timed.seconds.clear()
    learner = Timed(max_iter=n_trees, random_state=0)
    lw.SCP(3, learner=learner, n_passes=2, random_state=0).fit(problems(n, items, columns))
    inside = Timed.seconds["inside SCP"]
    for name, seconds in Timed.seconds.items():
        print(f"{name}: {seconds:.2f} s, inside SCP takes {inside / seconds:.2f} of it")


if __name__ == "__main__":
    main()
