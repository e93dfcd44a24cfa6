"""A heap of rows with the highest bound on top, for lazy greedy lists; the lowest row first among equals."""

from __future__ import annotations

from numba import njit

from listwright._internal.arrays import Floats, Ints


@njit(cache=True, nogil=True)
def sift(heap: Ints, size: int, at: int, bounds: Floats) -> None:
    """Puts the row at `at`, whose bound may have fallen, where it belongs. Cost: log(size)."""
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


@njit(cache=True, nogil=True)
def heapify(heap: Ints, size: int, bounds: Floats) -> None:
    """Orders the first `size` entries. Cost: about 2 * size."""
    for at in range(size // 2 - 1, -1, -1):
        sift(heap, size, at, bounds)


@njit(cache=True, nogil=True)
def drop(heap: Ints, size: int, bounds: Floats) -> int:
    """Takes the top off, and gives the new size. Cost: log(size)."""
    heap[0] = heap[size - 1]
    if size > 1:
        sift(heap, size - 1, 0, bounds)
    return size - 1
