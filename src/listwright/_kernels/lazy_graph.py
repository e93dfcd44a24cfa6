"""Lazy greedy facility location on a graph, in which only some similarities are stored."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Ints
from listwright._kernels.constraints import has_room, use_up
from listwright._kernels.heap import drop, heapify, sift


@njit(cache=True, nogil=True)
def graph_gain(low: int, high: int, columns: Ints, values: Floats, weights: Floats, best: Floats) -> float:
    """Return the weighted rise of the targets' best similarities through the stored numbers low to high."""
    total = 0.0
    for i in range(low, high):
        rise = values[i] - best[columns[i]]
        if rise > 0:
            total += weights[columns[i]] * rise
    return total


@njit(cache=True, nogil=True)
def _lift(low: int, high: int, columns: Ints, values: Floats, best: Floats) -> None:
    """Raise the targets' best similarities to the stored numbers low to high."""
    for i in range(low, high):
        best[columns[i]] = max(best[columns[i]], values[i])


@njit(cache=True, nogil=True)
def lazy_graph(
    starts: Ints,
    columns: Ints,
    values: Floats,
    weights: Floats,
    total: float,
    best: Floats,
    costs: Floats,
    left: float,
    groups: Ints,
    counts: Ints,
    amounts: Floats,
    further: Floats,
    heap: Ints,
    gains: Floats,
    picks: Ints,
    picked: Floats,
) -> int:
    """Pick rows by lazy greedy facility location; return their number."""
    bounds, seen, size, n_picked = np.full(len(costs), -np.inf), np.zeros(len(costs), dtype=np.int64), len(heap), 0
    for row in heap:
        gains[row] = graph_gain(starts[row], starts[row + 1], columns, values, weights, best) / total
        bounds[row] = gains[row] / costs[row]
    heapify(heap, size, bounds)
    while size > 0 and n_picked < len(picks):
        row = heap[0]
        low, high = starts[row], starts[row + 1]
        if costs[row] > left or not has_room(row, groups, counts, amounts, further):
            size = drop(heap, size, bounds)
        elif seen[row] < n_picked:
            gains[row] = graph_gain(low, high, columns, values, weights, best) / total
            bounds[row], seen[row] = gains[row] / costs[row], n_picked
            sift(heap, size, np.int64(0), bounds)
        else:
            picks[n_picked], picked[n_picked] = row, gains[row]
            n_picked += 1
            gains[row] = 0.0
            left -= costs[row]
            use_up(row, groups, counts, amounts, further)
            _lift(low, high, columns, values, best)
            size = drop(heap, size, bounds)
    return n_picked
