"""Columns of float32 rounded to an evenly spaced grid, for tables that are stored in little space."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from listwright._internal.arrays import Floats32

LARGEST = 0x7F7F  # upper half of the largest finite float32


@njit(cache=True, nogil=True)
def to_grid(table: Floats32, levels: int, ends: NDArray[np.uint16], steps: NDArray[np.uint16]) -> None:
    """Find a grid for each column, and the index of the grid's nearest point for each value."""
    # A grid is evenly spaced between the smallest and the largest value of its column, both rounded outwards to the
    # upper 16 bits of float32, so that all values lie within it.
    low, high = table[0].copy(), table[0].copy()
    for i in range(1, table.shape[0]):
        for j in range(table.shape[1]):
            low[j], high[j] = min(low[j], table[i, j]), max(high[j], table[i, j])
    _halve(low, False, ends[0])
    _halve(high, True, ends[1])
    rates = np.empty(table.shape[1])
    for j in range(table.shape[1]):
        width = np.float64(high[j]) - np.float64(low[j])
        rates[j] = (levels - 1) / (width if width > 0 else 1.0)
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            step = np.rint((table[i, j] - low[j]) * rates[j])
            steps[i, j] = min(max(step, 0.0), levels - 1.0)


@njit(cache=True, nogil=True)
def _halve(values: Floats32, up: bool, halves: NDArray[np.uint16]) -> None:
    """Round values outwards to the upper 16 bits of float32, in place: up for upper ends, down for lower ones."""
    bits = values.view(np.uint32)
    for j in range(len(values)):
        upper, lower = np.int64(bits[j] >> 16), bits[j] & 0xFFFF
        if (values[j] > 0) == up and lower and upper & LARGEST < LARGEST:
            upper += 1
        halves[j] = upper
        bits[j] = upper << 16
