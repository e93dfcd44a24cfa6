"""What the shown items of a list looked like when they were picked."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats32


@njit(cache=True, nogil=True)
def earlier_distances(table: Floats32) -> tuple[Floats32, Floats32]:
    """Returns for each item of one list the smallest and the mean absolute difference to the items before it.

    `table` has one row per item, in order. Sums are in float32 and in the same order as in `nearer`, so the numbers
    agree to the last bit. The cost is the square of the list's length times the columns.
    """
    smallest, total = np.zeros_like(table), np.zeros_like(table)
    for i in range(1, len(table)):
        for k in range(i):
            for j in range(table.shape[1]):
                gap = abs(table[i, j] - table[k, j])
                total[i, j] += gap
                smallest[i, j] = gap if k == 0 else min(smallest[i, j], gap)
        for j in range(table.shape[1]):
            total[i, j] /= np.float32(i)
    return smallest, total
