"""Coverage greedy, 20,000 x 2,000 at 1 %, k = 100."""

from __future__ import annotations

from collections.abc import Callable
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
    picks = function.maximize(budget=K, optimizer="LazyGreedy", show_progress=False)
    return np.array([row for row, _ in picks])


def apricot(dense: Any) -> Any:
    """The rows picked."""
    return MaxCoverageSelection(K, optimizer="lazy").fit(dense).ranking


def draw(seed: int) -> tuple[Any, list[set[int]], Any]:
    """Random data in the layouts that ours, submodlib and apricot take."""
    covers = sparse.random(N, TOPICS, 0.01, format="csr", random_state=seed, data_rvs=np.ones)
    sets = [set(covers.indices[a:b].tolist()) for a, b in zip(covers.indptr[:-1], covers.indptr[1:], strict=True)]
    return covers, sets, covers.toarray()


def covered(layout: int, select: Callable[[Any], Any], draws: int) -> list[int]:
    """Topics that the lists cover, draw by draw."""
    made = (draw(seed) for seed in range(draws))
    return [int(data[2][select(data[layout])].any(axis=0).sum()) for data in made]


def records() -> list[Record]:
    """Both peers. Greedy lists differ by who goes first among equal gains, so that values are compared over draws."""
    lines, data = [], draw(0)
    for name, peer, layout, draws, at_least in (
        ("submodlib lazy", submodlib, 1, 12, 10),
        ("apricot lazy", apricot, 2, 6, 100),
    ):
        mine, theirs = covered(0, ours, draws), covered(layout, peer, draws)
        note = (
            f"topics covered over {draws} draws of the data: ours {sum(mine)}, {name} {sum(theirs)}; in the one "
            f"that is timed {mine[0]} and {theirs[0]}. Many gains are equal, and which of them comes first is a matter "
            "of chance"
        )
        must(sum(mine) >= sum(theirs), note)
        calls = {"ours": lambda: ours(data[0]), "theirs": lambda p=peer, g=data[layout]: p(g)}
        work = "coverage greedy, 20,000 x 2,000 at 1 %, k=100"
        lines.append(compare(work, name, **calls, at_least=at_least, note=note, repeats=9))
    return lines
