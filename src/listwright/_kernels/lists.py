"""Lists filled in a given order."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Ints


@njit(cache=True, nogil=True)
def fill(order: Ints, offsets: Ints, sizes: Floats, room: Floats, length: int) -> Ints:
    """(problems, length): each problem's rows in the order given, those that do not fit skipped, -1 behind the end.

    `order` holds the rows of problem i at offsets[i]:offsets[i + 1]. Without a budget, `sizes` is empty.
    """
    rows = np.full((len(offsets) - 1, length), -1, dtype=np.int64)
    for problem in range(len(rows)):
        left, position = room[problem], 0
        for i in range(offsets[problem], offsets[problem + 1]):
            if position == length:
                break
            size = sizes[order[i]] if len(sizes) else 0.0
            if size <= left:
                rows[problem, position] = order[i]
                position += 1
                left -= size
    return rows
