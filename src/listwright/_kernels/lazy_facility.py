"""Lazy greedy lists of a facility location."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._arrays import Floats, Ints
from listwright._kernels.facility import _rise
from listwright._kernels.heap import heapify, sift


@njit(cache=True, nogil=True)
def _lift(best: Floats, similar: Floats) -> None:
    for i in range(len(best)):
        best[i] = max(best[i], similar[i])


@njit(cache=True, nogil=True)
def _lazy(
    start: int,
    gains: Floats,
    weights: Floats,
    similarity: Floats,
    total: float,
    left: float,
    picks: Ints,
    picked: Floats,
) -> None:
    """One problem's list: rows of the batch into `picks`, what each brings into `picked`.

    `gains` are those of the empty list. They only fall, so an old gain bounds the new one, and a row is measured again
    only while it looks best. Rows go by gain per weight; those that weigh more than is `left` are skipped.
    Cost: one read of n similarities for each row measured.
    """
    n, size, n_picks = len(gains), len(gains), 0
    heap, seen, best = np.arange(n), np.zeros(n, dtype=np.int64), np.zeros(n)
    bounds = gains / weights
    heapify(heap, size, bounds)
    while n_picks < len(picks) and size:
        top = heap[0]
        similar = similarity[top * n : top * n + n]
        if weights[top] <= left and seen[top] < n_picks:
            gains[top] = _rise(similar, best) / total
            bounds[top], seen[top] = gains[top] / weights[top], n_picks
        else:
            size -= 1
            heap[0] = heap[size]
            if weights[top] <= left:
                picks[n_picks], picked[n_picks] = start + top, gains[top]
                n_picks += 1
                left -= weights[top]
                _lift(best, similar)
        sift(heap, size, 0, bounds)


@njit(cache=True, nogil=True)
def lazy_facility(
    low: int,
    high: int,
    offsets: Ints,
    gains: Floats,
    weights: Floats,
    similarity: Floats,
    blocks: Ints,
    totals: Floats,
    room: Floats,
    picks: Ints,
    picked: Floats,
) -> None:
    """The lists of problems low to high; see `_lazy`."""
    for i in range(low, high):
        start, end, block = offsets[i], offsets[i + 1], similarity[blocks[i] : blocks[i + 1]]
        _lazy(start, gains[start:end], weights[start:end], block, totals[i], room[i], picks[i], picked[i])
