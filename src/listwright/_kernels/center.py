"""Numbers relative to the mean of their state."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Ints


@njit(cache=True, nogil=True)
def center(values: Floats, offsets: Ints, centered: Floats) -> None:
    """Writes values less their state's column means into `centered`. Cost: two reads and a write of values."""
    means = np.empty(values.shape[1])
    for state in range(len(offsets) - 1):
        start, end = offsets[state], offsets[state + 1]
        means[:] = 0.0
        for i in range(start, end):
            for j in range(len(means)):
                means[j] += values[i, j]
        for j in range(len(means)):
            means[j] /= max(end - start, 1)
        for i in range(start, end):
            for j in range(len(means)):
                centered[i, j] = values[i, j] - means[j]
