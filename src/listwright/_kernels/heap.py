"""A heap of rows with the highest bound on top, for lazy greedy; among equals the lowest row is first."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._kernels.parts import inlined, inner


@inner()
def sift(heap: Ints, size: int, at: int, bounds: Floats) -> None:
    """Move the row at place `at`, whose bound may have decreased, down to where it belongs, in log(size) steps."""
    row = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        one, other = heap[child], heap[min(child + 1, size - 1)]
        if bounds[other] > bounds[one] or (bounds[other] == bounds[one] and other < one):
            child, one = child + 1, other
        if bounds[one] < bounds[row] or (bounds[one] == bounds[row] and one > row):
            break
        heap[at] = one
        at = child
    heap[at] = row


@inlined
def heapify(heap: Ints, size: int, bounds: Floats) -> None:
    """Order the first `size` entries as a heap, in about 2 * size steps."""
    for at in range(size // 2 - 1, -1, -1):
        sift(heap, size, at, bounds)


@inlined
def drop(heap: Ints, size: int, bounds: Floats) -> int:
    """Remove the top and return the new size, in log(size) steps."""
    heap[0] = heap[size - 1]
    if size > 1:
        sift(heap, size - 1, np.int64(0), bounds)
    return size - 1
