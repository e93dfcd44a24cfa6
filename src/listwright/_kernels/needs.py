"""Which of a problem's needs a candidate and its parts meet, as bits, and what the list leaves unmet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from listwright._kernels.words import FUNCTION

MOST_NEEDS = 64


@njit(cache=True, nogil=True)
def worth(mask: Any, weights: Any) -> float:
    """Return the summed weight of the needs in a mask."""
    total, bit = 0.0, 0
    while mask:
        if mask & np.uint64(1):
            total += weights[bit]
        mask >>= np.uint64(1)
        bit += 1
    return total


@njit(cache=True, nogil=True)
def masks_of(stems: Any, flags: Any, sentences: Any, places: Any, terms: Any, n_sentences: int) -> tuple[Any, Any]:
    """Return by passage and by sentence which terms of the question occur there, as bits."""
    wholes, parts = np.zeros(len(places), dtype=np.uint64), np.zeros(n_sentences, dtype=np.uint64)
    for i in range(len(places)):
        for word in range(places[i, 0], places[i, 1]):
            term = terms[stems[word]]
            if term < 0 or flags[word] & FUNCTION:
                continue
            bit = np.uint64(1) << np.uint64(term)
            wholes[i] |= bit
            if sentences[word] >= 0:
                parts[sentences[word]] |= bit
    return wholes, parts


@njit(cache=True, nogil=True)
def best_part(parts: Any, start: int, end: int, met: Any, weights: Any) -> float:
    """Return the most that one of the parts start:end adds to what is already met."""
    best = 0.0
    for part in range(start, end):
        best = max(best, worth(parts[part] & ~met, weights))
    return best


@njit(cache=True, nogil=True)
def unmet_rows(offsets: Any, starts: Any, parts: Any, wholes: Any, weights: Any, met: Any, table: Any) -> None:
    """Fill `table` by row with four shares of its problem's needs."""
    for problem in range(len(offsets) - 1):
        own = weights[problem]
        total = max(own.sum(), 1e-9)
        before = worth(met[problem], own)
        for row in range(offsets[problem], offsets[problem + 1]):
            new = worth(wholes[row] & ~met[problem], own)
            table[row, 0] = new / total
            table[row, 1] = best_part(parts, starts[row], starts[row + 1], met[problem], own) / total
            table[row, 2] = (before + new) / total
            table[row, 3] = 1.0 - before / total


@njit(cache=True, nogil=True)
def additions(wholes: Any, parts: Any, starts: Any, weights: Any) -> tuple[Any, Any]:
    """Return two tables (row, other), as shares of the needs: what the row's best part adds to what the other meets,
    and what both meet together.
    """
    n, total = len(wholes), max(weights.sum(), 1e-9)
    added, union = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                added[i, j] = best_part(parts, starts[i], starts[i + 1], wholes[j], weights) / total
                union[i, j] = worth(wholes[i] | wholes[j], weights) / total
    return added, union


@njit(cache=True, nogil=True)
def part_worths(parts: Any, weights: Any) -> Any:
    """Return by part the share of the needs that it meets."""
    total = max(weights.sum(), 1e-9)
    return np.array([worth(part, weights) / total for part in parts])
