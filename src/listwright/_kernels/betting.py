"""Bets of gamblers on a fixed grid of ratios, for confidence bounds."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats
from listwright._kernels import kernel


@kernel()
def count_winners(
    target: float, ratios: Floats, tops: Floats, bottoms: Floats, variances: Floats, left: Floats, most: float
) -> int:
    """Return how many gamblers win `target` before the first who does not; one who has won stops."""
    for g in range(len(ratios)):
        needed, cap = target, most / ratios[g]
        for t in range(len(tops)):
            stake = min(np.sqrt(2 * needed / (left[t] * variances[t])), cap)
            needed -= np.log(1.0 + stake * (tops[t] - ratios[g] * bottoms[t]))
            if needed <= 1e-12:
                break
        if needed > 1e-12:
            return g
    return len(ratios)
