"""The best rows of each problem."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels.parts import inner


@njit(cache=True, nogil=True)
def best_rows(scores: Floats, open_rows: Bools, offsets: Ints) -> Ints:
    """Return the best open row of each problem."""
    picks = np.empty(len(offsets) - 1, dtype=np.int64)
    for problem in range(len(picks)):
        picks[problem], best = -1, -np.inf
        for row in range(offsets[problem], offsets[problem + 1]):
            if open_rows[row] and (picks[problem] < 0 or scores[row] > best):
                picks[problem] = row
                best = scores[row]
    return picks


@inner(fastmath={"nnan", "nsz"})
def best_of(scores: Floats) -> int:
    """Return the place of the highest score, the lowest among equals; -1 if all are -inf."""
    best = -np.inf
    for score in scores:
        best = max(best, score)
    if best > -np.inf:
        for i in range(len(scores)):
            if scores[i] == best:
                return i
    return -1


@inner(fastmath={"nnan", "nsz"})
def top_of(scores: Floats, rows: Ints, picked: Floats) -> None:
    """Write the rows with the highest scores into `rows`, best first and the lowest row first among equals, and their
    scores into `picked`.
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
