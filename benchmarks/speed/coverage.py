"""Coverage greedy, 20,000 x 2,000 at 1 %, k = 100."""

from __future__ import annotations

from typing import Any

import numpy as np
from apricot import MaxCoverageSelection
from scipy import sparse
from submodlib import SetCoverFunction

from benchmarks.speed.timing import Record, compare, must
from listwright import Problems, greedy
from listwright.rewards import Coverage

N, TOPICS, K = 20_000, 2_000, 100


def ours(covers: Any) -> Any:
    """The rows picked."""
    reward = Coverage(covers, normalize=False)
    problems = Problems.from_arrays(np.zeros((N, 1), np.float32), offsets=[0, N], reward=reward)
    return greedy(problems, K).rows[0]


def submodlib(sets: list[set[int]]) -> Any:
    """The rows picked."""
    function = SetCoverFunction(n=N, cover_set=sets, num_concepts=TOPICS)
    found = function.maximize(budget=K, optimizer="LazyGreedy", show_progress=False)
    return np.array([row for row, _ in found])


def apricot(dense: Any) -> Any:
    """The rows picked."""
    return MaxCoverageSelection(K, optimizer="lazy").fit(dense).ranking


def records() -> list[Record]:
    """Both peers, each with the layout that it takes."""
    covers = sparse.random(N, TOPICS, 0.01, format="csr", random_state=0, data_rvs=np.ones)
    sets = [set(covers.indices[a:b].tolist()) for a, b in zip(covers.indptr[:-1], covers.indptr[1:], strict=True)]
    table = covers.toarray()
    mine = table[ours(covers)].any(axis=0).sum()
    found = []
    for name, peer, given, at_least in (
        ("submodlib lazy", submodlib, sets, 10),
        ("apricot lazy", apricot, table, 100),
    ):
        theirs = table[peer(given)].any(axis=0).sum()
        note = f"topics covered: ours {mine}, {name} {theirs}; greedy lists differ by who goes first among equal gains"
        must(mine >= 0.995 * theirs, note)
        work = "coverage greedy, 20,000 x 2,000 at 1 %, k=100"
        found.append(
            compare(
                work, name, ours=lambda: ours(covers), theirs=lambda p=peer, g=given: p(g), at_least=at_least, note=note
            )
        )
    return found
