"""Sentences of passages, numbered over all passages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def sentences_of(sentences: Any, bodies: Any) -> tuple[Any, Any, Any]:
    """Numbers the sentences of all bodies consecutively.

    Parameters
    ----------
    sentences : ndarray of int, shape (words,)
        The sentence of each word within its text.
    bodies : ndarray of int, shape (passages, 2)
        First word of each body, and the word after its last.

    Returns
    -------
    tuple of ndarray
        By word its sentence (-1 outside bodies); where the sentences of each body start; and, of shape (sentences, 2),
        the first word of each and the word after its last.
    """
    n, count = len(bodies), 0
    starts = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        if bodies[i, 1] > bodies[i, 0]:
            count += sentences[bodies[i, 1] - 1] + 1
        starts[i + 1] = count
    numbers = np.full(len(sentences), -1, dtype=np.int64)
    words = np.zeros((count, 2), dtype=np.int64)
    for i in range(n):
        for word in range(bodies[i, 0], bodies[i, 1]):
            here = starts[i] + sentences[word]
            if words[here, 1] == 0:
                words[here, 0] = word
            words[here, 1] = word + 1
            numbers[word] = here
    return numbers, starts, words
