"""Sentences of passages, counted over all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def sentences_of(sentences: Any, bodies: Any) -> tuple[Any, Any, Any]:
    """By word its sentence, counted over all bodies (-1 outside them); where each body's sentences start; and
    (sentences, 2), the words of each. `sentences` counts within each text."""
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
