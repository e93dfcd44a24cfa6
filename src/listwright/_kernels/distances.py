"""Distances of candidates, and of shown items, to the items that the list contained before."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats32, Ints


@njit(cache=True, nogil=True)
def nearer(picks: Ints, offsets: Ints, table: Floats32, smallest: Floats32, total: Floats32, lengths: Ints) -> None:
    """Update the distances of all rows to their problem's list by one more pick per problem, in place."""
    for problem in range(len(picks)):
        pick = picks[problem]
        if pick >= 0:
            first = lengths[problem] == 0
            for row in range(offsets[problem], offsets[problem + 1]):
                for j in range(table.shape[1]):
                    gap = abs(table[row, j] - table[pick, j])
                    total[row, j] += gap
                    smallest[row, j] = gap if first else min(smallest[row, j], gap)


@njit(cache=True, nogil=True)
def earlier_distances(table: Floats32) -> tuple[Floats32, Floats32]:
    """Return for each item of one list the smallest and the mean absolute difference to the items before it."""
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
