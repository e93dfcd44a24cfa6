"""Lazy greedy lists of a facility location."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Ints
from listwright._kernels.facility import rise


@njit(cache=True, nogil=True)
def _lift(best: Floats, similar: Floats) -> None:
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
    """One problem's list: rows of the batch into `picks`, what each brings into `picked`.

    Rows go by gain per weight; those that weigh more than is `left` are skipped. Gains only fall, so that an old one
    bounds the new one, and a row is measured again only where it looks better than the best so far; the last runner-up
    goes first, so that this is high from the start. Rows are taken in the order of memory: it costs a few more of them
    than best first, and less time. Cost: one read of n similarities for each row measured.
    """
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
    """The lists of problems low to high; see `_lazy`. `bounds`, by row: no gain per weight is higher."""
    for i in range(low, high):
        start, end, block = offsets[i], offsets[i + 1], similarity[blocks[i] : blocks[i + 1]]
        _lazy(start, bounds[start:end], weights[start:end], block, totals[i], room[i], picks[i], picked[i])
