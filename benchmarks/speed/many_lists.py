"""Lists of 10 for 10,000 problems x 100 candidates x 32 features."""

from __future__ import annotations

import numpy as np
from pyversity import Strategy, diversify

from benchmarks.speed.one_list import K, learned
from benchmarks.speed.timing import Record, compare
from listwright import Problems

PROBLEMS, N, D = 10_000, 100, 32


def records() -> list[Record]:
    """With and without distance features."""
    rng = np.random.default_rng(0)
    table, relevance = rng.random((PROBLEMS, N, D), dtype=np.float32), rng.random((PROBLEMS, N), dtype=np.float32)
    problems = Problems.from_arrays(table)

    def loop() -> None:
        for vectors, scores in zip(table, relevance, strict=True):
            diversify(vectors, scores, K, strategy=Strategy.MMR)

    lines = []
    for distances, at_least in ((True, 15), (False, 50)):
        policy = learned(D, distances=distances)
        work = f"predict 10,000 problems x 100 x 32, k=10, {'with' if distances else 'without'} distance features"
        lines.append(
            compare(
                work,
                "a loop over pyversity MMR",
                ours=lambda p=policy: p.predict(problems),
                theirs=loop,
                at_least=at_least,
            )
        )
    return lines
