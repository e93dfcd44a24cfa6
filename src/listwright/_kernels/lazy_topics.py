"""Lazy greedy lists of rewards that add up over topics."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._arrays import Floats, Ints
from listwright._kernels.heap import heapify, sift
from listwright._kernels.topics import PROBABILITY, _rise


@njit(cache=True, nogil=True)
def _gain(topics: Ints, amounts: Floats, weights: Floats, caps: Floats, levels: Floats, shape: int) -> float:
    total = 0.0
    for j in range(len(topics)):
        topic = topics[j]
        total += weights[topic] * _rise(shape, levels[topic], amounts[j], caps[topic])
    return total


@njit(cache=True, nogil=True)
def _lift(topics: Ints, amounts: Floats, levels: Floats, shape: int) -> None:
    for j in range(len(topics)):
        level = levels[topics[j]]
        levels[topics[j]] += _rise(PROBABILITY, level, amounts[j], 0.0) if shape == PROBABILITY else amounts[j]


@njit(cache=True, nogil=True)
def _lazy(
    start: int,
    gains: Floats,
    sizes: Floats,
    row_starts: Ints,
    topics: Ints,
    amounts: Floats,
    weights: Floats,
    caps: Floats,
    shape: int,
    total: float,
    most: float,
    left: float,
    picks: Ints,
    picked: Floats,
) -> None:
    """One problem's list: rows of the batch into `picks`, what each brings into `picked`.

    `gains` are those of the empty list, divided by `total`; a list brings no more than `most` before the division. They
    only fall, so an old gain bounds the new one, and a row is measured again only while it looks best. Rows go by gain
    per size; those larger than what is `left` are skipped. Cost: the stored numbers of each row measured.
    """
    n, size, n_picks, earned = len(gains), len(gains), 0, 0.0
    heap, seen, levels = np.arange(n), np.zeros(n, dtype=np.int64), np.zeros(len(weights))
    bounds = gains / sizes
    heapify(heap, size, bounds)
    while n_picks < len(picks) and size:
        top = heap[0]
        first, last = row_starts[top], row_starts[top + 1]
        if sizes[top] <= left and seen[top] < n_picks:
            gain = _gain(topics[first:last], amounts[first:last], weights, caps, levels, shape)
            gains[top] = min(gain, max(most - earned, 0.0)) / total
            bounds[top], seen[top] = gains[top] / sizes[top], n_picks
        else:
            size -= 1
            heap[0] = heap[size]
            if sizes[top] <= left:
                picks[n_picks], picked[n_picks] = start + top, gains[top]
                n_picks += 1
                left -= sizes[top]
                earned += gains[top] * total
                _lift(topics[first:last], amounts[first:last], levels, shape)
        sift(heap, size, 0, bounds)


@njit(cache=True, nogil=True)
def lazy_topics(
    offsets: Ints,
    gains: Floats,
    sizes: Floats,
    row_starts: Ints,
    topics: Ints,
    amounts: Floats,
    topic_starts: Ints,
    weights: Floats,
    caps: Floats,
    shape: int,
    totals: Floats,
    most: Floats,
    room: Floats,
    picks: Ints,
    picked: Floats,
) -> None:
    """The lists of all problems; see `_lazy`."""
    for i in range(len(picks)):
        start, end, first, last = offsets[i], offsets[i + 1], topic_starts[i], topic_starts[i + 1]
        _lazy(
            start,
            gains[start:end],
            sizes[start:end],
            row_starts[start : end + 1],
            topics,
            amounts,
            weights[first:last],
            caps[first:last],
            shape,
            totals[i],
            most[i],
            room[i],
            picks[i],
            picked[i],
        )
