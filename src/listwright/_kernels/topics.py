"""Gains of rewards that add up over topics: what a row brings to each topic that it touches."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Ints

PROBABILITY, SQRT, LOG, CAP = 0, 1, 2, 3


@njit(cache=True, nogil=True, inline="always")
def weighted_rise(shape: int, weight: float, level: float, amount: float, cap: float) -> float:
    """How far a topic at `level` rises when `amount` is added, times its weight.

    Written so that rounding never lets the rise grow with the level: lazy greedy relies on it.
    """
    if shape == PROBABILITY:
        return weight * (1.0 - level) * amount
    if shape == SQRT:
        return weight * (amount / (np.sqrt(level + amount) + np.sqrt(level)))
    if shape == LOG:
        return weight * np.log1p(amount / (1.0 + level))
    return weight * min(amount, max(cap - level, 0.0))


@njit(cache=True, nogil=True)
def topic_gains(
    rows: Ints,
    owners: Ints,
    row_starts: Ints,
    topics: Ints,
    amounts: Floats,
    topic_starts: Ints,
    weights: Floats,
    caps: Floats,
    levels: Floats,
    shape: int,
) -> Floats:
    """Weighted rise that each of `rows` would bring. Cost: one read of the rows' stored numbers."""
    gains = np.zeros(len(rows))
    for i in range(len(rows)):
        row = rows[i]
        base = topic_starts[owners[row]]
        for j in range(row_starts[row], row_starts[row + 1]):
            topic = base + topics[j]
            gains[i] += weighted_rise(shape, weights[topic], levels[topic], amounts[j], caps[topic])
    return gains


@njit(cache=True, nogil=True)
def raise_levels(
    picks: Ints,
    owners: Ints,
    row_starts: Ints,
    topics: Ints,
    amounts: Floats,
    topic_starts: Ints,
    levels: Floats,
    shape: int,
) -> None:
    """Adds the picked rows to `levels` in place. Cost: the picked rows' stored numbers."""
    for row in picks:
        if row >= 0:
            base = topic_starts[owners[row]]
            for j in range(row_starts[row], row_starts[row + 1]):
                topic = base + topics[j]
                levels[topic] += (1.0 - levels[topic]) * amounts[j] if shape == PROBABILITY else amounts[j]
