"""Bets of gamblers on a fixed grid of ratios, for confidence bounds."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats
from listwright._kernels import kernel


@kernel()
def count_winners(target: float, ratios: Floats, pairs: Floats, most: float, prior: float) -> int:
    """Return how many gamblers win `target` before the first who does not; one who has won stops.

    Rows of `pairs`: tops, bottoms, and the pairs left. Stakes are STaR's, and Kelly's (for growth at any time) where
    none is said to be left. A gambler expects of the next payment the mean and the mean square of earlier ones; before
    the first, the square is that of 0/1 values, which counts as `prior` pairs.
    """
    tops, bottoms, left = pairs
    sums, squares = np.zeros((2, len(tops) + 1)), np.zeros((3, len(tops) + 1))  # over earlier pairs
    for t in range(len(tops)):
        top, bottom = tops[t], bottoms[t]
        sums[0, t + 1], sums[1, t + 1] = sums[0, t] + top, sums[1, t] + bottom
        squares[0, t + 1] = squares[0, t] + top * top
        squares[1, t + 1] = squares[1, t] + 2 * top * bottom
        squares[2, t + 1] = squares[2, t] + bottom * bottom
    for g in range(len(ratios)):
        ratio = ratios[g]
        needed, cap, guess = target, most / ratio, prior * min(ratio, 0.5) * (1 - min(ratio, 0.5))
        for t in range(len(tops)):
            square = squares[0, t] + ratio * (ratio * squares[2, t] - squares[1, t])
            square = (max(square, 0.0) + guess) / (prior + t)
            if left[t] > 0:
                stake = min(np.sqrt(2 * needed / (left[t] * square)), cap)
            else:
                edge = (0.5 + sums[0, t] - ratio * (1.0 + sums[1, t])) / (1 + t)
                stake = min(max(edge, 0.0) / square, cap)
            needed -= np.log(1.0 + stake * (tops[t] - ratio * bottoms[t]))
            if needed <= 1e-12:
                break
        if needed > 1e-12:
            return g
    return len(ratios)
