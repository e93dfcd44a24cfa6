"""Facility location: gains, updates, and complete lists by lazy greedy."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Ints


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract", "nnan"})
def rise(similar: Floats, best: Floats) -> float:
    """Return the sum of how far `similar` is above `best`; differences in their own type, summed in float64."""
    total, nothing = 0.0, similar.dtype.type(0.0)
    for i in range(len(similar)):
        total += max(similar[i] - best[i], nothing)
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
def _positive(similar: Floats) -> float:
    """Return the sum of the positive numbers; nan if a number is not finite."""
    total, validation_error, nothing = 0.0, 0.0, similar.dtype.type(0.0)
    for i in range(len(similar)):
        total += max(similar[i], nothing)
        validation_error += similar[i] * nothing
    return total + validation_error


@njit(cache=True, nogil=True)
def dense_alone(
    low: int, high: int, owners: Ints, offsets: Ints, similarity: Floats, blocks: Ints, alone: Floats
) -> None:
    """Fill `alone` for rows low to high with the sum of their positive similarities; nan if one is not finite."""
    for row in range(low, high):
        start, n = offsets[owners[row]], offsets[owners[row] + 1] - offsets[owners[row]]
        first = blocks[owners[row]] + (row - start) * n
        alone[row] = _positive(similarity[first : first + n])


@njit(cache=True, nogil=True)
def dense_gains(rows: Ints, owners: Ints, offsets: Ints, similarity: Floats, blocks: Ints, best: Floats) -> Floats:
    """Return the rise of the best similarity, summed over the problem's items, for each of `rows`."""
    gains = np.empty(len(rows))
    for i in range(len(rows)):
        row = rows[i]
        start, end = offsets[owners[row]], offsets[owners[row] + 1]
        first = blocks[owners[row]] + (row - start) * (end - start)
        gains[i] = rise(similarity[first : first + end - start], best[start:end])
    return gains


@njit(cache=True, nogil=True)
def dense_add(picks: Ints, offsets: Ints, similarity: Floats, blocks: Ints, best: Floats) -> None:
    """Raise `best` in place to the similarities of the picked rows; -1 picks none."""
    for problem in range(len(picks)):
        start, end = offsets[problem], offsets[problem + 1]
        if picks[problem] >= 0:
            first = blocks[problem] + (picks[problem] - start) * (end - start)
            for i in range(end - start):
                best[start + i] = max(best[start + i], similarity[first + i])


@njit(cache=True, nogil=True)
def sparse_gains(
    rows: Ints, owners: Ints, offsets: Ints, row_starts: Ints, columns: Ints, values: Floats, best: Floats
) -> Floats:
    """Return what `dense_gains` does if only some similarities are stored, in CSR form with columns numbered within
    problems.
    """
    gains = np.zeros(len(rows))
    for i in range(len(rows)):
        row = rows[i]
        start = offsets[owners[row]]
        for j in range(row_starts[row], row_starts[row + 1]):
            gains[i] += max(values[j] - best[start + columns[j]], 0.0)
    return gains


@njit(cache=True, nogil=True)
def sparse_add(picks: Ints, offsets: Ints, row_starts: Ints, columns: Ints, values: Floats, best: Floats) -> None:
    """Raise `best` in place to the stored similarities of the picked rows."""
    for problem in range(len(picks)):
        row = picks[problem]
        if row >= 0:
            for j in range(row_starts[row], row_starts[row + 1]):
                i = offsets[problem] + columns[j]
                best[i] = max(best[i], values[j])


@njit(cache=True, nogil=True)
def _lift(best: Floats, similar: Floats) -> None:
    """Raise `best` in place to `similar`."""
    for i in range(len(best)):
        best[i] = max(best[i], similar[i])


@njit(cache=True, nogil=True)
def _lazy(
    start: int,
    bounds: Floats,
    weights: Floats,
    similarity: Floats,
    total: float,
    left: float,
    picks: Ints,
    picked: Floats,
) -> None:
    """Fill one problem's list: rows of the batch into `picks`, what each adds into `picked`."""
    # Gains only decrease, so an old one bounds the new one, and a row is measured again only if it looks better than
    # the best so far; the last runner-up is tried first, so that this is high from the start.
    n, runner_up = len(bounds), 0
    seen, gains, best_of = np.full(n, -1), np.zeros(n), np.zeros(n, dtype=similarity.dtype)
    for position in range(len(picks)):
        best, top = -1, -np.inf
        for i in range(-1, n):
            row = runner_up if i < 0 else i
            if bounds[row] < top or weights[row] > left or bounds[row] == -np.inf:
                continue
            if seen[row] < position:
                gains[row] = rise(similarity[row * n : row * n + n], best_of) / total
                bounds[row], seen[row] = gains[row] / weights[row], position
            if bounds[row] > top or (bounds[row] == top and row < best):
                best, top, runner_up = row, bounds[row], max(best, 0)
        if best < 0:
            break
        picks[position], picked[position], bounds[best] = start + best, gains[best], -np.inf
        left -= weights[best]
        _lift(best_of, similarity[best * n : best * n + n])


@njit(cache=True, nogil=True)
def lazy_facility(
    low: int,
    high: int,
    offsets: Ints,
    bounds: Floats,
    weights: Floats,
    similarity: Floats,
    blocks: Ints,
    totals: Floats,
    room: Floats,
    picks: Ints,
    picked: Floats,
) -> None:
    """Fill the lists of problems low to high by lazy greedy; see `_lazy`."""
    for i in range(low, high):
        start, end, block = offsets[i], offsets[i + 1], similarity[blocks[i] : blocks[i + 1]]
        _lazy(start, bounds[start:end], weights[start:end], block, totals[i], room[i], picks[i], picked[i])
