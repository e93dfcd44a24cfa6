"""Lazy greedy facility location on a graph, in which only some similarities are stored."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Ints
from listwright._kernels.heap import drop, heapify, sift


@njit(cache=True, nogil=True)
def graph_gain(low: int, high: int, columns: Ints, values: Floats, weights: Floats, best: Floats) -> float:
    """Returns the weighted rise of the targets' best similarities through the stored numbers low to high."""
    total = 0.0
    for i in range(low, high):
        rise = values[i] - best[columns[i]]
        if rise > 0:
            total += weights[columns[i]] * rise
    return total


@njit(cache=True, nogil=True)
def _lift(low: int, high: int, columns: Ints, values: Floats, best: Floats) -> None:
    """Raises the targets' best similarities to the stored numbers low to high."""
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
    room: Ints,
    heap: Ints,
    gains: Floats,
    picks: Ints,
    picked: Floats,
) -> int:
    """Picks rows by lazy greedy facility location; returns their number.

    Parameters
    ----------
    starts, columns, values : ndarray
        CSR arrays: row j says how similar candidate j is to which targets.
    weights : ndarray of float, shape (targets,)
        What each target counts.
    total : float
        What gains are divided by.
    best : ndarray, shape (targets,)
        The targets' best similarity so far; updated in place.
    costs : ndarray of float, shape (rows,)
        Rows are ranked by gain per cost.
    left : float
        What is left of the budget; rows that cost more are dropped.
    groups, room : ndarray of int
        The group of each row, and how many more rows each group takes; `room` is updated in place.
    heap : ndarray of int
        The open rows in any order; used as work space.
    gains : ndarray of float, shape (rows,)
        On return, an upper bound on the gain of each row.
    picks, picked : ndarray
        Filled with the picked rows and what each adds; their length is the most picks.

    Notes
    -----
    Gains only decrease, so an old gain bounds the new one, and a row is measured again only when it is on top of the
    heap. The cost is one read of the graph, the stored numbers of each row that is measured again, and log(rows) for
    each of these.
    """
    bounds, seen, size, n_picked = np.full(len(costs), -np.inf), np.zeros(len(costs), dtype=np.int64), len(heap), 0
    for row in heap:
        gains[row] = graph_gain(starts[row], starts[row + 1], columns, values, weights, best) / total
        bounds[row] = gains[row] / costs[row]
    heapify(heap, size, bounds)
    while size > 0 and n_picked < len(picks):
        row = heap[0]
        low, high = starts[row], starts[row + 1]
        if costs[row] > left or room[groups[row]] == 0:
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
            room[groups[row]] -= 1
            _lift(low, high, columns, values, best)
            size = drop(heap, size, bounds)
    return n_picked
