"""What a choice costs: how far its gain is below the best."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Bools, Floats, Ints


@njit(cache=True, nogil=True)
def costs_of(gains: Floats, options: Bools, offsets: Ints) -> Floats:
    """By row: the highest gain among its problem's options less its own; 0 for what is no option.

    Cost: two reads of the gains.
    """
    costs = np.zeros(len(gains))
    for problem in range(len(offsets) - 1):
        best = -np.inf
        for row in range(offsets[problem], offsets[problem + 1]):
            if options[row] and gains[row] > best:
                best = gains[row]
        for row in range(offsets[problem], offsets[problem + 1]):
            if options[row]:
                costs[row] = best - gains[row]
    return costs
