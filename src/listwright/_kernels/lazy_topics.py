"""Lazy greedy lists of rewards that add up over topics."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Ints
from listwright._kernels.topics import PROBABILITY, weighted_rise


@njit(cache=True, nogil=True)
def _sum(topics: Ints, amounts: Floats, first: int, last: int, worth: Floats) -> float:
    total = 0.0
    for j in range(first, last):
        total += worth[topics[j]] * amounts[j]
    return total


@njit(cache=True, nogil=True)
def _gain(
    topics: Ints, amounts: Floats, first: int, last: int, weights: Floats, caps: Floats, levels: Floats, shape: int
) -> float:
    total = 0.0
    for j in range(first, last):
        topic = topics[j]
        total += weighted_rise(shape, weights[topic], levels[topic], amounts[j], caps[topic])
    return total


@njit(cache=True, nogil=True)
def _lift(topics: Ints, amounts: Floats, weights: Floats, levels: Floats, worth: Floats, shape: int) -> None:
    for j in range(len(topics)):
        topic = topics[j]
        levels[topic] += (1.0 - levels[topic]) * amounts[j] if shape == PROBABILITY else amounts[j]
        worth[topic] = weights[topic] * (1.0 - levels[topic])


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
    only fall, so an old gain bounds the new one, and a row is measured again only where it looks better than the best
    so far; the last runner-up goes first, so that this is high from the start. Rows go by gain per size; those larger
    than what is `left` are skipped. Cost: a read of the gains for each position, and the stored numbers of each row
    measured: less than to keep a heap in order, since a row has few of them.
    """
    n, runner_up, earned = len(gains), 0, 0.0
    seen, levels, worth, bounds = np.zeros(n, dtype=np.int64), np.zeros(len(weights)), weights.copy(), gains / sizes
    for position in range(len(picks)):
        best, top = -1, -np.inf
        for i in range(-1, n):
            row = runner_up if i < 0 else i
            if bounds[row] < top or sizes[row] > left or seen[row] < 0:
                continue
            if seen[row] < position:
                first, last = row_starts[row], row_starts[row + 1]
                if shape == PROBABILITY:
                    gain = _sum(topics, amounts, first, last, worth)
                else:
                    gain = _gain(topics, amounts, first, last, weights, caps, levels, shape)
                gains[row] = min(gain, max(most - earned, 0.0)) / total
                bounds[row], seen[row] = gains[row] / sizes[row], position
            if bounds[row] > top or (bounds[row] == top and row < best) or best < 0:
                best, top, runner_up = row, bounds[row], max(best, 0)
        if best < 0:
            break
        first, last = row_starts[best], row_starts[best + 1]
        picks[position], picked[position], seen[best] = start + best, gains[best], -1
        left -= sizes[best]
        earned += gains[best] * total
        _lift(topics[first:last], amounts[first:last], weights, levels, worth, shape)


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
