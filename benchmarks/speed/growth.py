"""How time grows with the size of an input, as a power of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.speed.one_list import learned
from listwright import Problems
from listwright.features import Rows, Volume
from listwright.learners import RidgeFTRL
from listwright.learners.examples import Examples
from listwright.learners.losses import hinge_rank


class Slope(NamedTuple):
    """Least-squares slope of log time over log size."""

    what: str
    by: str
    power: float
    at_most: float


def slope(
    what: str, by: str, sizes: tuple[int, ...], make: Callable[[int], Callable[[], Any]], at_most: float = 1.1
) -> Slope:
    """Best of five at each size."""
    seconds = []
    for size in sizes:
        call = make(size)
        call()
        seconds.append(min(_seconds(call) for _ in range(5)))
    return Slope(what, by, float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]), at_most)


def slopes() -> list[Slope]:
    """All of them."""
    rng = np.random.default_rng(0)

    def ranking(n: int) -> Callable[[], Any]:
        scores, costs = rng.normal(size=n), rng.random(n)
        return lambda: hinge_rank(scores, costs, [0, n])

    def predict(problems: int = 1000, n: int = 100, d: int = 32, k: int = 10) -> Callable[[], Any]:
        policy, some = learned(d), Problems.from_arrays(rng.random((problems, n, d), dtype=np.float32))
        return lambda: policy.predict(some, length=k)

    return [
        slope("pairwise hinge loss", "candidates", (6_250, 12_500, 25_000, 50_000, 100_000), ranking, 1.15),
        slope("predict", "candidates", (50, 100, 200, 400), lambda n: predict(n=n)),
        slope("predict", "features", (16, 32, 64, 128), lambda d: predict(d=d)),
        slope("predict", "list length", (5, 10, 20, 40), lambda k: predict(k=k)),
        slope("predict", "problems", (500, 1000, 2000, 4000), lambda problems: predict(problems=problems)),
        slope("ridge leader, one update", "examples seen before", (10, 40, 160), ridge, 0.1),
        slope("volume features, a whole list", "list length", (8, 16, 32, 64), volume, 2.0),
    ]


def ridge(seen: int) -> Callable[[], Any]:
    """An update after `seen` others."""
    rng, learner, n = np.random.default_rng(0), RidgeFTRL(1.0), 3000
    rows = Rows(rng.random((n, 50), dtype=np.float32), np.repeat(np.arange(100), 30), np.arange(101) * 30)
    every = np.ones(n, dtype=bool)
    examples = Examples(rows, rng.random(n), 1.0, 0, every, np.full(100, -1), np.ones(100, dtype=bool))
    for _ in range(seen):
        learner.learn(examples)

    def update() -> None:
        learner.learn(examples)
        learner.policy()

    return update


def volume(length: int) -> Callable[[], Any]:
    """The features of each position of a list."""
    rng = np.random.default_rng(0)
    problems = Problems.from_arrays(rng.normal(size=(1, 2000, 128)).astype(np.float32))
    feature = Volume().fit(problems)

    def walked() -> None:
        seen = feature.start(problems)
        for row in range(length):
            seen = feature.add(seen, np.array([row]))
            feature.columns(seen)

    return walked


def _seconds(call: Callable[[], Any]) -> float:
    """Processor time: other work on the machine does not count."""
    start = time.process_time()
    call()
    return time.process_time() - start
