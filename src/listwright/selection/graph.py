"""The exact graph of nearest neighbours, computed by blocks, and lazy greedy on a graph."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Ints
from listwright._internal.progress import ProgressCallback
from listwright._internal.threads import one_thread
from listwright._kernels.facility import lazy_graph
from listwright._kernels.tiles import nearest
from listwright.selection.constraints import RowConstraints
from listwright.selection.objectives import Objective, Solved
from listwright.selection.similarity import SimilarityMatrix

TARGETS, CANDIDATES = 512, 2048  # size of a tile
ALL = np.zeros(0, dtype=np.int64)  # stands for all columns of a dense matrix


def neighbor_graph(similarity: SimilarityMatrix, neighbors: int, tick: ProgressCallback) -> sparse.csr_array:
    """Return the similarities of each target to its nearest candidates."""
    shape = (similarity.n_targets, neighbors)
    rows, values = np.zeros(shape, dtype=np.int64), np.full(shape, -np.inf, dtype=np.float32)
    starts, band = range(0, similarity.n_targets, TARGETS), 16 * CANDIDATES
    bands = range(0, similarity.n, band)

    def work(low: int) -> None:
        block = slice(low, min(low + TARGETS, similarity.n_targets))
        targets = similarity.targets(block)
        for at in range(len(gathered)):
            tile = np.ascontiguousarray(similarity.tile(gathered[at], targets).T)
            nearest(tile, first + at * CANDIDATES, rows[block], values[block])

    with one_thread(), ThreadPoolExecutor(numba.get_num_threads()) as pool:
        for number, first in enumerate(bands):
            cuts = range(first, min(first + band, similarity.n), CANDIDATES)
            gathered = [similarity.candidates(slice(low, min(low + CANDIDATES, similarity.n))) for low in cuts]
            for done, _ in enumerate(pool.map(work, starts), start=1):
                tick("neighbours", number * len(starts) + done, len(bands) * len(starts))
    return as_graph(rows, values, similarity.n)


def as_graph(rows: Ints, values: Any, n: int) -> sparse.csr_array:
    """Return the graph by candidate, from the nearest candidates of each target, (targets, neighbors)."""
    n_targets, neighbors = rows.shape
    starts = np.arange(0, n_targets * neighbors + 1, neighbors)
    by_target = sparse.csr_array((np.maximum(values, 0.0).ravel(), rows.ravel(), starts), shape=(n_targets, n))
    return sparse.csr_array(by_target.T.tocsr())


def select_on_graph(graph: Any, weights: Floats, constraints: RowConstraints) -> tuple[Ints, Floats, Floats, float]:
    """Select rows by lazy greedy facility location on a graph, or on a dense matrix."""
    n, n_targets = graph.shape
    best = np.zeros(n_targets, dtype=graph.dtype)
    if sparse.issparse(graph):
        starts, columns, values = graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data
    else:
        starts, columns, values = np.arange(0, n * n_targets + 1, n_targets), ALL, graph.reshape(-1)
    for row in constraints.given:
        some = slice(starts[row], starts[row + 1])
        at = columns[some] if len(columns) else slice(None)
        best[at] = np.maximum(best[at], values[some])
    before = float(weights @ best.astype(np.float64))
    rows, gains, bounds = np.empty(constraints.k, dtype=np.int64), np.empty(constraints.k), np.zeros(graph.shape[0])
    count = lazy_graph(
        starts,
        columns,
        values,
        weights,
        1.0,
        best,
        constraints.costs,
        constraints.budget,
        *constraints.quotas,
        np.flatnonzero(constraints.open),
        bounds,
        rows,
        gains,
    )
    return rows[:count], gains[:count], bounds, before


@dataclass(eq=False)
class NearestNeighbors(Objective):
    """Facility location in which a target counts only its nearest candidates."""

    similarity: SimilarityMatrix
    weights: Floats
    neighbors: int
    make_graph: Callable[[SimilarityMatrix, int, ProgressCallback], Any] = neighbor_graph
    device: str = "cpu"
    graph: Any = field(default=None, repr=False)

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        if self.graph is None:
            self.graph = self.make_graph(self.similarity, self.neighbors, tick)
        return Solved(*select_on_graph(self.graph, self.weights, constraints))


@dataclass(eq=False)
class Graph(Objective):
    """Facility location on a matrix of similarities, CSR or dense, of shape (candidates, targets)."""

    graph: Any
    weights: Floats

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        return Solved(*select_on_graph(self.graph, self.weights, constraints))
