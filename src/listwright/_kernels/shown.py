"""What the shown items of a list looked like when they were picked."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats32


@njit(cache=True, nogil=True)
def earlier_distances(table: Floats32) -> tuple[Floats32, Floats32]:
    """By item of one list, given in order: the smallest and the mean absolute difference to the items before it.

    In float32 and in the same order as `nearer`, so that the numbers are the same to the last bit.
    Cost: the square of the list's length times the columns.
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
