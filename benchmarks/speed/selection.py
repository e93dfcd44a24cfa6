"""`lw.select` against its peers: the graph of nearest neighbours, and lazy greedy on such a graph."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from apricot import FacilityLocationSelection
from scipy import sparse
from submodlib import FacilityLocationFunction

import listwright as lw
from benchmarks.gpu.data import vectors
from benchmarks.speed.timing import Record, against, compare, must
from listwright._internal.progress import silent
from listwright.selection.graph import neighbor_graph
from listwright.selection.similarity import Dots, make_vectors

N, D, K, NEIGHBORS = 20_000, 384, 1000, 50
FEW = 5  # picks against submodlib, whose first pass alone takes minutes
LARGE, VERSION_0_1 = 100_000, 53.0  # rows of the large graph, and the seconds that version 0.1 took on it


def records() -> list[Record]:
    """Making the graph against the bare product that it needs; then greedy on the same graph."""
    return [graph_against_product(), *greedy_on(symmetric_graph(N)), large_graph()]


def graph_against_product() -> Record:
    """The blocked matrix product is what an exact graph cannot do without."""
    rows = make_vectors(vectors(N, D), "cosine").prepare()
    similarity = Dots(rows, rows)

    def product() -> None:
        for low in range(0, N, 2048):
            for first in range(0, N, 512):
                rows.table[low : low + 2048] @ rows.table[first : first + 512].T

    ours = lambda: neighbor_graph(similarity, NEIGHBORS, silent)  # noqa: E731
    work = f"graph of {NEIGHBORS} nearest neighbours, {N:,} x {D}"
    return compare(work, "the bare blocked matrix product", ours=ours, theirs=product, at_least=0.4, repeats=1)


def symmetric_graph(n: int) -> Any:
    """Cosines to the nearest rows, each pair in both directions: what all three programs take."""
    rows = make_vectors(vectors(n, 64), "cosine").prepare()
    graph = neighbor_graph(Dots(rows, rows), NEIGHBORS, silent)
    both = graph.maximum(graph.T).astype(np.float64)
    parts = (both.data, both.indices.astype(np.int32), both.indptr.astype(np.int32))  # apricot takes no other integers
    return sparse.csr_matrix(parts, shape=both.shape)


def value(graph: Any, rows: Any) -> float:
    """Facility location of some rows of the graph."""
    return float(graph[rows].max(axis=0).sum())


def greedy_on(graph: Any) -> list[Record]:
    """The same graph to apricot and submodlib; ours must be worth no less."""
    return [
        against_peer("apricot lazy, sparse", apricot, graph, K),
        against_peer("submodlib lazy, sparse", submodlib, graph, FEW),
    ]


def against_peer(name: str, peer: Callable[[Any, int], Any], graph: Any, k: int) -> Record:
    """One line. The peer runs once, since it takes minutes."""
    ours = lambda: lw.select(graph, k, metric="precomputed", progress=False).rows  # noqa: E731
    start = time.perf_counter()
    theirs = peer(graph, k)
    took = time.perf_counter() - start
    must(value(graph, ours()) >= value(graph, theirs) * (1 - 1e-6), f"facility location on a graph, {name}")
    work = f"facility location greedy on a graph, n={graph.shape[0]:,}, {NEIGHBORS} neighbours, k={k:,}"
    return against(work, name, ours=ours, peer_s=took, at_least=20, repeats=3)


def apricot(graph: Any, k: int) -> Any:
    """The rows picked."""
    return FacilityLocationSelection(k, metric="precomputed", optimizer="lazy").fit(graph).ranking


def submodlib(graph: Any, k: int) -> Any:
    """The rows picked."""
    function = FacilityLocationFunction(n=graph.shape[0], mode="sparse", sijs=graph, num_neighbors=NEIGHBORS)
    return np.array([row for row, _ in function.maximize(budget=k, optimizer="LazyGreedy", show_progress=False)])


def large_graph() -> Record:
    """A graph of 100,000 rows, against the time of version 0.1 on such a graph."""
    graph = symmetric_graph(LARGE)
    ours = lambda: lw.select(graph, K, metric="precomputed", progress=False)  # noqa: E731
    work = f"facility location greedy on a graph, n={LARGE:,}, {NEIGHBORS} neighbours, k={K:,}"
    return against(work, "listwright 0.1", ours=ours, peer_s=VERSION_0_1, at_least=100, repeats=3)
