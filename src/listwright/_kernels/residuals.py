"""Squared distance between scores and minus the costs."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Ints


@njit(cache=True, nogil=True)
def squared_residuals(scores: Floats, costs: Floats, offsets: Ints) -> tuple[Floats, Floats]:
    """Sum over rows of (score + cost)^2 by problem, and its gradient by row. Cost: one read of the rows."""
    losses, gradient = np.zeros(len(offsets) - 1), np.empty(len(scores))
    for problem in range(len(losses)):
        for row in range(offsets[problem], offsets[problem + 1]):
            residual = scores[row] + costs[row]
            losses[problem] += residual * residual
            gradient[row] = 2.0 * residual
    return losses, gradient
