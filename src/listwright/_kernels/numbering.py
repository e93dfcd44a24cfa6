"""Numbers for the columns that each problem uses."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Ints


@njit(cache=True, nogil=True)
def number_columns(owners: Ints, columns: Ints, n_problems: int, n_columns: int) -> tuple[Ints, Ints, Ints]:
    """The pairs problem * n_columns + column in use, in order; the number of each entry's column among those of its
    problem, from 0; and how many each problem uses.

    Cost: two passes over the entries, and one over a table of all problems and columns.
    """
    number, used, counts = np.full(n_problems * n_columns, -1), 0, np.zeros(n_problems, dtype=np.int64)
    for i in range(len(columns)):
        number[owners[i] * n_columns + columns[i]] = 0
    pairs = np.empty((number == 0).sum(), dtype=np.int64)
    for problem in range(n_problems):
        for pair in range(problem * n_columns, (problem + 1) * n_columns):
            if number[pair] == 0:
                number[pair] = counts[problem]
                pairs[used] = pair
                counts[problem] += 1
                used += 1
    numbers = np.empty(len(columns), dtype=np.int64)
    for i in range(len(columns)):
        numbers[i] = number[owners[i] * n_columns + columns[i]]
    return pairs, numbers, counts
