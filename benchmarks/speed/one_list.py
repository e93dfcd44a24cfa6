"""One list of 10 from 1000 candidates, d = 128: a learned policy, and our own MMR and DPP."""

from __future__ import annotations

from typing import Any

import numpy as np
from pyversity import Strategy, diversify

from benchmarks.speed.timing import Record, compare, must
from listwright import SCP, Problems
from listwright.baselines import DPP, MMR
from listwright.features import Candidate, Distance, Position
from listwright.rewards import AnySuccess

N, D, K = 1000, 128, 10


def learned(d: int, *, distances: bool = True) -> SCP:
    """A policy trained on a little data; what it costs to use does not depend on what it learned."""
    rng = np.random.default_rng(0)
    features = rng.random((40, 20, d), dtype=np.float32)
    problems = Problems.from_arrays(features, reward=AnySuccess(features[:, :, 0] > 0.9))
    seen = Candidate() + Distance() + Position() if distances else Candidate() + Position()
    return SCP(K, features=seen, n_passes=2, random_state=0).fit(problems)


def records() -> list[Record]:
    """The policy against MMR and SSD, then the same methods against each other."""
    rng = np.random.default_rng(1)
    vectors, relevance = rng.random((N, D), dtype=np.float32), rng.random(N, dtype=np.float32)
    policy, problems = learned(D), Problems.from_arrays(vectors[None])
    peer = lambda strategy: lambda: diversify(vectors, relevance, K, strategy=strategy)  # noqa: E731
    work = "list of 10 from 1000 candidates, d=128, learned policy with distance features"
    lines = [
        (work, Strategy.MMR, lambda: policy.predict(problems), 0.9),
        (work, Strategy.SSD, lambda: policy.predict(problems), 3),
    ]
    measured = Problems.from_arrays(relevance[None, :, None], vectors=vectors[None])
    for baseline, strategy in (
        (MMR(0.5, relevance=0, length=K), Strategy.MMR),
        (DPP(relevance=0, length=K), Strategy.DPP),
    ):
        fitted = baseline.fit(measured)
        work = f"list of 10 from 1000 candidates, d=128, our own {strategy.name}"
        lines.append((work, strategy, lambda fitted=fitted: fitted.predict(measured), 2.5))
    check(measured, vectors, relevance)
    return [
        compare(
            work, f"pyversity {strategy.name}", ours=ours, theirs=peer(strategy), at_least=least, repeats=30, inner=5
        )
        for work, strategy, ours, least in lines
    ]


def check(measured: Problems, vectors: Any, relevance: Any) -> None:
    """MMR has one definition: the same list."""
    mine = MMR(0.5, relevance=0, length=K).fit(measured).predict(measured)[0]
    theirs = diversify(vectors, relevance, K, strategy=Strategy.MMR).indices
    must(mine.tolist() == theirs.tolist(), "MMR lists")
