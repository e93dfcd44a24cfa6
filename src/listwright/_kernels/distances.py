"""Distances of all candidates to the items of the list."""

from __future__ import annotations

from numba import njit

from listwright._internal.arrays import Floats32, Ints


@njit(cache=True, nogil=True)
def nearer(picks: Ints, offsets: Ints, table: Floats32, smallest: Floats32, total: Floats32, lengths: Ints) -> None:
    """Takes the picks' absolute differences into `smallest` and `total` in place. Cost: one read of the rows."""
    for problem in range(len(picks)):
        pick = picks[problem]
        if pick >= 0:
            first = lengths[problem] == 0
            for row in range(offsets[problem], offsets[problem + 1]):
                for j in range(table.shape[1]):
                    gap = abs(table[row, j] - table[pick, j])
                    total[row, j] += gap
                    smallest[row, j] = gap if first else min(smallest[row, j], gap)
