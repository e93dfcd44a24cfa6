"""Bets of gamblers on a fixed grid of ratios, for confidence bounds."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats
from listwright._kernels import kernel


@kernel()
def count_winners(target: float, ratios: Floats, bets: Floats, most: float) -> int:
    """Return how many gamblers win `target` before the first who does not; one who has won stops.

    Rows of `bets`: tops, bottoms, their means and the variance before each pair, the weight of a gambler's own guess in
    that variance (which is that of 0/1 values), and the pairs left. Stakes are STaR's, and Kelly's (for growth at any
    time) where none is said to be left.
    """
    tops, bottoms, mean_tops, mean_bottoms, variances, doubts, left = bets
    for g in range(len(ratios)):
        needed, cap, guess = target, most / ratios[g], min(ratios[g], 0.5) * (1 - min(ratios[g], 0.5))
        for t in range(len(tops)):
            variance = variances[t] + doubts[t] * guess
            if left[t] > 0:
                stake = min(np.sqrt(2 * needed / (left[t] * variance)), cap)
            else:
                edge = max(mean_tops[t] - ratios[g] * mean_bottoms[t], 0.0)
                stake = min(edge / (variance + edge**2), cap)
            needed -= np.log(1.0 + stake * (tops[t] - ratios[g] * bottoms[t]))
            if needed <= 1e-12:
                break
        if needed > 1e-12:
            return g
    return len(ratios)
