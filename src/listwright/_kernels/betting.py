"""Bets of gamblers on a fixed grid of ratios, for confidence bounds."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats


@njit(cache=True, nogil=True)
def play(needed: Floats, ratios: Floats, tops: Floats, bottoms: Floats, variances: Floats, most: float) -> None:
    """Subtract from `needed` what each gambler wins on the pairs; one who has won stops."""
    n = len(tops)
    for g in range(len(ratios)):
        left, cap = needed[g], most / ratios[g]
        for t in range(n):
            if left <= 0:
                break
            stake = min(np.sqrt(2 * left / ((n - t) * variances[t])), cap)
            left -= np.log1p(stake * (tops[t] - ratios[g] * bottoms[t]))
        needed[g] = left
