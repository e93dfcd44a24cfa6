"""Facility location greedy, n = 5000, k = 100: similarity given, and from vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from apricot import FacilityLocationSelection
from submodlib import FacilityLocationFunction

from benchmarks.speed.timing import Record, compare, must
from listwright import Problems, greedy
from listwright.rewards import FacilityLocation

N, D, K = 5000, 64, 100


def vectors() -> Any:
    """Rows of unit length in 50 clusters."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(50, D))
    table = np.abs(centres[rng.integers(50, size=N)] + 0.7 * rng.normal(size=(N, D)))
    return (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float32)


def ours(similarity: Any) -> Any:
    """The rows picked."""
    reward = FacilityLocation(similarity, normalize=False)
    problems = Problems.from_arrays(np.zeros((N, 1), np.float32), offsets=[0, N], reward=reward)
    return greedy(problems, K).rows[0]


def apricot(similarity: Any) -> Any:
    """The rows picked."""
    return FacilityLocationSelection(K, metric="precomputed", optimizer="lazy").fit(similarity).ranking


def submodlib(similarity: Any) -> Any:
    """The rows picked; the kernel goes in as it is."""
    function = FacilityLocationFunction(n=N, mode="dense", sijs=similarity, separate_rep=False)
    picks = function.maximize(budget=K, optimizer="LazyGreedy", show_progress=False)
    return np.array([row for row, _ in picks])


def value(similarity: Any, rows: Any) -> float:
    """What a list is worth."""
    return float(similarity[rows].max(axis=0).sum(dtype=np.float64))


def records() -> list[Record]:
    """Both works against both peers."""
    table = vectors()
    similarity = table @ table.T
    mine = value(similarity, ours(similarity))
    lines, kernel = [], similarity.astype(np.float64)
    for name, peer, given in (("apricot lazy", apricot, kernel), ("submodlib lazy", submodlib, similarity)):
        must(mine >= value(similarity, peer(given)) * (1 - 1e-6), f"facility location, {name}")
        work = "facility location greedy, n=5000, k=100, similarity given"
        lines.append(
            compare(
                work, name, ours=lambda: ours(similarity), theirs=lambda p=peer, g=given: p(g), at_least=20, repeats=3
            )
        )
    work = "the same from vectors, d=64, similarity included"
    fit = lambda: FacilityLocationSelection(K, metric="cosine", optimizer="lazy").fit(table)  # noqa: E731
    made = lambda: submodlib_from(table)  # noqa: E731
    for name, theirs in (("apricot lazy", fit), ("submodlib lazy", made)):
        lines.append(compare(work, name, ours=lambda: ours(table @ table.T), theirs=theirs, at_least=5, repeats=3))
    return lines


def submodlib_from(table: Any) -> Any:
    """Its own kernel, then its lazy greedy."""
    function = FacilityLocationFunction(n=N, mode="dense", data=table, metric="cosine", separate_rep=False)
    return function.maximize(budget=K, optimizer="LazyGreedy", show_progress=False)
