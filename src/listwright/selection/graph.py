"""The exact graph of nearest neighbours, lazy greedy on a graph, and exchanges of picks after greedy."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, Floats32, Ints
from listwright._internal.progress import ProgressCallback
from listwright._internal.threads import one_thread
from listwright._kernels.facility import lazy_dense, lazy_graph
from listwright._kernels.tiles import nearest, swap_gains
from listwright.selection.constraints import RowConstraints
from listwright.selection.intake import must_fit
from listwright.selection.objectives import PAYS, Objective, Solved
from listwright.selection.similarity import Given, SimilarityMatrix, cut

TARGETS, CANDIDATES = 512, 2048  # size of a tile
SWAP_TARGETS = 4096  # targets of a tile of exchanges


def neighbor_graph(similarity: SimilarityMatrix, neighbors: int, tick: ProgressCallback) -> sparse.csr_array:
    shape = (similarity.n_targets, neighbors)
    rows, values = np.zeros(shape, dtype=np.int64), np.full(shape, -np.inf, dtype=np.float32)
    blocks, bands = cut(similarity.n_targets, TARGETS), cut(similarity.n, 16 * CANDIDATES)

    def work(block: slice) -> None:
        targets = similarity.targets(block)
        for at in range(len(gathered)):
            tile = np.ascontiguousarray(similarity.tile(gathered[at], targets).T)
            nearest(tile, band.start + at * CANDIDATES, rows[block], values[block])

    with one_thread(), ThreadPoolExecutor(numba.get_num_threads()) as pool:
        for number, band in enumerate(bands):
            lows = range(band.start, band.stop, CANDIDATES)
            gathered = [similarity.candidates(slice(low, min(low + CANDIDATES, band.stop))) for low in lows]
            for done, _ in enumerate(pool.map(work, blocks), start=1):
                tick("neighbours", number * len(blocks) + done, len(bands) * len(blocks))
    return as_graph(rows, values, similarity.n)


def as_graph(rows: Ints, values: Any, n: int) -> sparse.csr_array:
    """Return the graph by candidate, from the nearest candidates of each target, (targets, neighbors)."""
    n_targets, neighbors = rows.shape
    starts = np.arange(0, n_targets * neighbors + 1, neighbors)
    by_target = sparse.csr_array((np.maximum(values, 0.0).ravel(), rows.ravel(), starts), shape=(n_targets, n))
    return sparse.csr_array(by_target.T.tocsr())


def select_on_graph(graph: Any, weights: Floats, constraints: RowConstraints) -> tuple[Ints, Floats, Floats, float]:
    best, rows = np.zeros(graph.shape[1], dtype=graph.dtype), np.empty(constraints.k, dtype=np.int64)
    gains, bounds = np.empty(constraints.k), np.zeros(graph.shape[0])
    rules = constraints.costs, constraints.budget, *constraints.quotas
    for row in constraints.given:
        np.maximum(best, graph[[row]].toarray()[0] if sparse.issparse(graph) else graph[row], out=best)
    before = float(weights @ best.astype(np.float64))
    if sparse.issparse(graph):
        edges = graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data
        count = lazy_graph(*edges, weights, 1.0, best, *rules, np.flatnonzero(constraints.open), bounds, rows, gains)
    else:
        weights = weights if (weights != 1.0).any() else weights[:0]
        unknown = np.where(constraints.open, np.inf, -np.inf)
        count = lazy_dense(graph.reshape(-1), weights, 1.0, best, *rules, unknown, bounds, rows, gains)
    return rows[:count], gains[:count], bounds, before


class Exchange:
    """Picks with what all exchanges are measured from in one read (Schubert & Rousseeuw 2021, FasterPAM)."""

    block = 256  # rows that are measured together

    def __init__(self, similarity: SimilarityMatrix, weights: Floats, fixed: Ints, rows: Ints) -> None:
        self.similarity, self.weights, self.n_fixed = similarity, weights, len(fixed)
        self.rows = np.concatenate([fixed, rows])
        size = 4 * len(self.rows) * similarity.n_targets
        must_fit(size, f"refine= of {len(rows):,} picks", "Ask for fewer rows, or leave refine= out.")
        self.table: Floats32 = np.empty((len(self.rows), similarity.n_targets), dtype=np.float32)
        self.best, self.second = (np.zeros(similarity.n_targets, dtype=np.float32) for _ in range(2))
        self.owner = np.zeros(similarity.n_targets, dtype=np.int64)
        gathered = similarity.candidates(self.rows)
        for block in cut(similarity.n_targets, SWAP_TARGETS):
            self.table[:, block] = np.maximum(similarity.tile(gathered, similarity.targets(block)), 0.0)
            self._find_best(np.arange(block.start, block.stop))

    def _find_best(self, targets: Ints) -> None:
        some = self.table[:, targets]
        self.owner[targets] = some.argmax(axis=0)
        self.best[targets] = some.max(axis=0)
        some = some.copy()
        some[self.owner[targets], np.arange(len(targets))] = 0.0
        self.second[targets] = some.max(axis=0)

    def measure(self, rows: Ints) -> Floats:
        """Return what each exchange of a pick (column) for a row would add."""
        added, kept = np.zeros(len(rows)), np.zeros((len(rows), len(self.rows)))
        gathered = self.similarity.candidates(rows)
        for block in cut(self.similarity.n_targets, SWAP_TARGETS):
            tile = self.similarity.tile(gathered, self.similarity.targets(block))
            state = self.best[block], self.second[block], self.owner[block], self.weights[block]
            swap_gains(np.ascontiguousarray(tile, dtype=np.float32), *state, added, kept)
        lost = np.bincount(self.owner, self.weights * (self.best - self.second), minlength=len(self.rows))
        return added[:, None] + kept - lost

    def exchange(self, place: int, row: int) -> None:
        new = np.maximum(self.similarity.column(row), np.float32(0.0))
        old, self.table[place], self.rows[place] = self.table[place].copy(), new, row
        self._find_best(np.flatnonzero((new > self.second) | (old >= self.second)))

    @property
    def value(self) -> float:
        return float(self.weights @ self.best.astype(np.float64))


def refine_picks(state: Exchange, solved: Solved, constraints: RowConstraints, seconds: float) -> tuple[Solved, float]:
    """Return better picks in greedy order, and what the exchanges added; never worse than before."""
    until, before, labels = time.monotonic() + seconds, state.value, constraints.finest
    candidates, since, at = np.setdiff1d(np.flatnonzero(constraints.open), solved.rows), 0, 0
    n_blocks = -(-len(candidates) // state.block)
    while since < n_blocks and time.monotonic() < until:
        block = candidates[at * state.block : (at + 1) * state.block]
        at, since = (at + 1) % n_blocks, since + 1
        block = block[~np.isin(block, state.rows)]
        if not len(block):
            continue
        gains = np.where(_swaps(state, block, labels), state.measure(block), -np.inf)
        if gains.max() > PAYS * before:
            row, place = np.unravel_index(int(gains.argmax()), gains.shape)
            candidates = np.append(candidates, state.rows[place])
            state.exchange(int(place), int(block[row]))
            n_blocks, since = -(-len(candidates) // state.block), 0
    if state.value == before:  # nothing was exchanged
        return solved, 0.0
    # In the order in which greedy would pick them from each other.
    k, fixed = len(state.rows), np.arange(state.n_fixed)
    order, gains, _, _ = select_on_graph(state.table, state.weights, RowConstraints.free(k, k - len(fixed), fixed))
    return solved._replace(rows=state.rows[order], gains=gains), state.value - before


def _swaps(state: Exchange, block: Ints, labels: Ints | None) -> Bools:
    """Return which pick may go for which row: not those that are given, and only within a group."""
    allowed = np.ones((len(block), len(state.rows)), dtype=bool)
    allowed[:, : state.n_fixed] = False
    return allowed if labels is None else allowed & (labels[block][:, None] == labels[state.rows])


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

    def refine(self, solved: Solved, constraints: RowConstraints, seconds: float) -> tuple[Solved, float]:
        if sparse.issparse(self.graph) or constraints.has_costs:
            return super().refine(solved, constraints, seconds)
        state = Exchange(Given(self.graph), self.weights, constraints.given, solved.rows)
        return refine_picks(state, solved, constraints, seconds)
