"""Greedy list of a determinantal point process: Cholesky rows, updated only where they can matter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from listwright._arrays import Floats, Ints
from listwright._kernels.cosines import Space, dense_dot, sparse_dot
from listwright._kernels.heap import heapify, sift

FLAT = 1e-10  # squared length below which the list spans a row already


class Seen(NamedTuple):
    """What is known of each row so far."""

    quality: Floats
    bounds: Floats  # no score is higher
    left_over: Floats  # squared length of the part that the picks compared with do not span
    compared: Ints  # number of picks compared with
    explained: Floats  # Cholesky rows, by row within the problem at hand


@njit(cache=True, nogil=True)
def _measure(row: int, first: int, picks: Ints, n_picks: int, space: Space, seen: Seen) -> None:
    """Takes off the row what the picks explain that it was not compared with yet."""
    dense, starts, columns, values, inverse = space
    quality, bounds, left_over, compared, explained = seen
    for i in range(compared[row], n_picks):
        pick, part = picks[i], 0.0
        if left_over[pick] > FLAT:
            if len(starts) == 0:
                part = dense_dot(dense[row], dense[pick])
            else:
                part = sparse_dot(row, pick, starts, columns, values)
            part *= inverse[row] * inverse[pick]
            for j in range(i):
                part -= explained[row - first, j] * explained[pick - first, j]
            part /= np.sqrt(left_over[pick])
        explained[row - first, i] = part
        left_over[row] = max(left_over[row] - part * part, 0.0)
    compared[row] = n_picks
    bounds[row] = quality[row] + np.log(max(left_over[row], FLAT))


@njit(cache=True, nogil=True)
def _fill(heap: Ints, picks: Ints, sizes: Floats, left: float, space: Space, seen: Seen) -> Floats:
    """One list, into `picks`. What a pick explains can only lower a row, so only rows that look best are measured."""
    n_picks, size, first, scores = 0, len(heap), heap[0], np.zeros(len(picks))
    heapify(heap, size, seen.bounds)
    while n_picks < len(picks) and size:
        best = heap[0]
        fits = len(sizes) == 0 or sizes[best] <= left
        if fits and seen.compared[best] < n_picks:
            _measure(best, first, picks, n_picks, space, seen)
        else:
            size -= 1
            heap[0] = heap[size]
            if fits:
                picks[n_picks], scores[n_picks] = best, seen.bounds[best]
                n_picks += 1
                left -= sizes[best] if len(sizes) else 0.0
        sift(heap, size, 0, seen.bounds)
    return scores


@njit(cache=True, nogil=True)
def dpp_lists(
    offsets: Ints, quality: Floats, space: Space, sizes: Floats, room: Floats, length: int
) -> tuple[Ints, Floats]:
    """Rows picked, (problems, length) with -1 behind the end, and what each adds to the log-determinant.

    `quality` is the log of a row's squared quality. Without a budget, `sizes` is empty.
    Cost: at most one read of the table for each position.
    """
    left_over, most = np.where(space.inverse > 0, 1.0, 0.0), np.diff(offsets).max()
    seen = Seen(
        quality,
        quality + np.log(np.maximum(left_over, FLAT)),
        left_over,
        np.zeros(len(quality), dtype=np.int64),
        np.empty((most, min(length, most))),
    )
    rows = np.full((len(offsets) - 1, length), -1, dtype=np.int64)
    scores = np.zeros(rows.shape)
    for problem in range(len(rows)):
        heap = np.arange(offsets[problem], offsets[problem + 1])
        scores[problem] = _fill(heap, rows[problem], sizes, room[problem], space, seen)
    return rows, scores
