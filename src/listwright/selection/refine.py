"""Exchanges of picks for other rows after greedy, as in k-medoids, until none pays or time is up."""

from __future__ import annotations

import time

import numpy as np

from listwright._internal.arrays import Bools, Floats, Floats32, Ints
from listwright._kernels.tiles import swap_gains
from listwright.selection.constraints import RowConstraints
from listwright.selection.graph import select_on_graph
from listwright.selection.memory import must_fit
from listwright.selection.similarity import SimilarityMatrix

CANDIDATES, TARGETS = 256, 4096  # size of a tile
PAYS = 1e-7  # share of the value that an exchange must add


class Exchange:
    """Picks whose nearest and second nearest targets are known, so that all exchanges are measured in one read.

    An exchange is worth the same for all picks but the one that leaves (Schubert & Rousseeuw 2021, FasterPAM).
    """

    def __init__(self, similarity: SimilarityMatrix, weights: Floats, fixed: Ints, rows: Ints) -> None:
        self.similarity, self.weights, self.n_fixed = similarity, weights, len(fixed)
        self.rows = np.concatenate([fixed, rows])
        size = 4 * len(self.rows) * similarity.n_targets
        must_fit(size, f"refine= of {len(rows):,} picks", "Ask for fewer rows, or leave refine= out.")
        self.table: Floats32 = np.empty((len(self.rows), similarity.n_targets), dtype=np.float32)
        self.best, self.second = (np.zeros(similarity.n_targets, dtype=np.float32) for _ in range(2))
        self.owner = np.zeros(similarity.n_targets, dtype=np.int64)
        gathered = similarity.candidates(self.rows)
        for low in range(0, similarity.n_targets, TARGETS):
            block = slice(low, min(low + TARGETS, similarity.n_targets))
            self.table[:, block] = np.maximum(similarity.tile(gathered, similarity.targets(block)), 0.0)
            self._find_best(np.arange(block.start, block.stop))

    def _find_best(self, targets: Ints) -> None:
        """Find the most similar pick of some targets, and the similarity of the second."""
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
        for low in range(0, self.similarity.n_targets, TARGETS):
            block = slice(low, min(low + TARGETS, self.similarity.n_targets))
            tile = self.similarity.tile(gathered, self.similarity.targets(block))
            state = self.best[block], self.second[block], self.owner[block], self.weights[block]
            swap_gains(np.ascontiguousarray(tile, dtype=np.float32), *state, added, kept)
        lost = np.bincount(self.owner, self.weights * (self.best - self.second), minlength=len(self.rows))
        return added[:, None] + kept - lost

    def exchange(self, place: int, row: int) -> None:
        """Put a row in the place of a pick."""
        gathered = self.similarity.candidates(np.array([row]))
        new = np.empty(self.similarity.n_targets, dtype=np.float32)
        for low in range(0, len(new), TARGETS):
            block = slice(low, min(low + TARGETS, len(new)))
            new[block] = np.maximum(self.similarity.tile(gathered, self.similarity.targets(block))[0], 0.0)
        old, self.table[place], self.rows[place] = self.table[place].copy(), new, row
        self._find_best(np.flatnonzero((new > self.second) | (old >= self.second)))

    @property
    def value(self) -> float:
        """The value of all picks."""
        return float(self.weights @ self.best.astype(np.float64))


def refine_picks(
    similarity: SimilarityMatrix, weights: Floats, rows: Ints, constraints: RowConstraints, seconds: float
) -> tuple[Ints, Floats, float]:
    """Return better picks in greedy order, what each adds, and what the exchanges added; never worse than before."""
    state, until = Exchange(similarity, weights, constraints.given, rows), time.monotonic() + seconds
    before, labels = state.value, constraints.finest
    candidates, since, at = np.setdiff1d(np.flatnonzero(constraints.open), rows), 0, 0
    n_blocks = -(-len(candidates) // CANDIDATES)
    while since < n_blocks and time.monotonic() < until:
        block = candidates[at * CANDIDATES : (at + 1) * CANDIDATES]
        at, since = (at + 1) % n_blocks, since + 1
        block = block[~np.isin(block, state.rows)]
        gains = (
            np.where(_swaps(state, block, labels), state.measure(block), -np.inf) if len(block) else np.zeros((0, 1))
        )
        if gains.size and gains.max() > PAYS * before:
            row, place = np.unravel_index(int(gains.argmax()), gains.shape)
            candidates = np.append(candidates, state.rows[place])
            state.exchange(int(place), int(block[row]))
            n_blocks, since = -(-len(candidates) // CANDIDATES), 0
    return *_in_greedy_order(state, weights), state.value - before


def _swaps(state: Exchange, block: Ints, labels: Ints | None) -> Bools:
    """Return which pick may go for which row: not those that are given, and only within a group."""
    allowed = np.ones((len(block), len(state.rows)), dtype=bool)
    allowed[:, : state.n_fixed] = False
    return allowed if labels is None else allowed & (labels[block][:, None] == labels[state.rows])


def _in_greedy_order(state: Exchange, weights: Floats) -> tuple[Ints, Floats]:
    """Return the picks in the order in which greedy would pick them from each other, and what each adds."""
    k, fixed = len(state.rows), np.arange(state.n_fixed)
    order, gains, _, _ = select_on_graph(state.table, weights, RowConstraints.free(k, k - len(fixed), fixed))
    return state.rows[order], gains
