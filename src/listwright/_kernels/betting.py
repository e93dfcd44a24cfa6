"""Bets of gamblers on a fixed grid of ratios, for confidence bounds."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats
from listwright._kernels import kernel

SIDE_BY_SIDE = 8  # gamblers, whose bets a processor computes at the same time
WON = 1e-12  # what may be missing of the target


@kernel()
def count_winners(target: float, ratios: Floats, pairs: Floats, most: float, prior: float) -> int:
    """Return how many gamblers win `target` before the first who does not; one who has won stops."""
    # Rows of `pairs`: tops, bottoms, and the pairs left. Stakes are STaR's, and Kelly's (for growth at any time) where
    # none is said to be left. A gambler expects of the next payment the mean and the mean square of earlier ones;
    # before the first, the square is that of 0/1 values, which counts as `prior` pairs.
    needed, some = np.empty(SIDE_BY_SIDE), np.empty(SIDE_BY_SIDE)
    for first in range(0, len(ratios), SIDE_BY_SIDE):
        for g in range(SIDE_BY_SIDE):
            some[g] = ratios[min(first + g, len(ratios) - 1)]
        needed[:] = target
        _bet(needed, some, pairs, most, prior)
        for g in range(min(SIDE_BY_SIDE, len(ratios) - first)):
            if needed[g] > WON:
                return first + g
    return len(ratios)


@kernel()
def _bet(needed: Floats, ratios: Floats, pairs: Floats, most: float, prior: float) -> None:
    """Take from what each gambler needs what the bets on all pairs win."""
    caps, guesses = most / ratios, prior * np.minimum(ratios, 0.5) * (1 - np.minimum(ratios, 0.5))
    sum_top = sum_bottom = square_top = product = square_bottom = 0.0  # over earlier pairs
    for t in range(pairs.shape[1]):
        top, bottom, left = pairs[0, t], pairs[1, t], pairs[2, t]
        for g in range(SIDE_BY_SIDE):
            ratio = ratios[g]
            square = square_top + ratio * (ratio * square_bottom - product)
            square = (max(square, 0.0) + guesses[g]) / (prior + t)
            if left > 0:
                stake = np.sqrt(2 * max(needed[g], 0.0) / (left * square))
            else:
                edge = (0.5 + sum_top - ratio * (1.0 + sum_bottom)) / (1 + t)
                stake = max(edge, 0.0) / square
            if needed[g] > WON:
                needed[g] -= np.log(1.0 + min(stake, caps[g]) * (top - ratio * bottom))
        if needed.max() <= WON:
            break
        sum_top, sum_bottom = sum_top + top, sum_bottom + bottom
        square_top, product = square_top + top * top, product + 2 * top * bottom
        square_bottom += bottom * bottom
