"""Numbers that identify the rows of a table."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def row_keys(words: NDArray[np.uint32], factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Returns one number per row: the sum over columns of word times factor, modulo 2^64."""
    keys = np.zeros(len(words), dtype=np.uint64)
    for row in range(len(words)):
        key = np.uint64(0)
        for column in range(words.shape[1]):
            key += words[row, column] * factors[column]
        keys[row] = key
    return keys
