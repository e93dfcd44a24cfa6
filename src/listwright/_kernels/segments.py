"""The best rows of a problem."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Bools, Floats, Ints


@njit(cache=True, nogil=True)
def best_rows(scores: Floats, open_rows: Bools, offsets: Ints) -> Ints:
    """The open row with the highest score in each problem; the lowest row among equals; -1 where none is open.

    Cost: one read of scores.
    """
    picks = np.full(len(offsets) - 1, -1, dtype=np.int64)
    for problem in range(len(picks)):
        best = -np.inf
        for row in range(offsets[problem], offsets[problem + 1]):
            if open_rows[row] and (picks[problem] < 0 or scores[row] > best):
                picks[problem] = row
                best = scores[row]
    return picks


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def best_of(scores: Floats) -> int:
    """The highest score; the lowest row among equals; -1 where none can be picked. Cost: one read, or a bit more."""
    best = -np.inf
    for score in scores:
        best = max(best, score)
    if best > -np.inf:
        for i in range(len(scores)):
            if scores[i] == best:
                return i
    return -1


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def top_of(scores: Floats, rows: Ints, picked: Floats) -> None:
    """Fills in the rows with the highest scores, best first, the lowest row first among equals; and their scores.

    Where fewer can be picked, the rest is left as it was. Cost: one read, and a move of those behind for each new one.
    """
    n_found, least = 0, -np.inf
    for row in range(len(scores)):
        score = scores[row]
        if score > least:
            at = min(n_found, len(rows) - 1)
            while at > 0 and picked[at - 1] < score:
                rows[at], picked[at] = rows[at - 1], picked[at - 1]
                at -= 1
            rows[at], picked[at] = row, score
            n_found = min(n_found + 1, len(rows))
            least = picked[-1] if n_found == len(rows) else -np.inf
