"""Passages as bags of word stems."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Ints
from listwright._kernels.words import FUNCTION


class Bags(NamedTuple):
    """Which stems each passage contains, and how often. Function words are left out."""

    starts: Ints  # where the entries of each passage start
    stems: NDArray[np.int32]  # the stem of each entry
    counts: Floats  # how often the passage contains it
    lengths: Floats  # words counted
    frequency: Ints  # number of passages that contain the stem


@njit(cache=True, nogil=True)
def bags_of(stems: Any, flags: Any, places: Any, n_stems: int) -> Any:
    """Return the bags of the passages `places[i, 0]:places[i, 1]`."""
    n = len(places)
    starts = np.zeros(n + 1, dtype=np.int64)
    most = 0
    for i in range(n):
        most += places[i, 1] - places[i, 0]
    entries, counts = np.empty(most, dtype=np.int32), np.zeros(most)
    lengths, frequency = np.zeros(n), np.zeros(n_stems, dtype=np.int64)
    last, where = np.full(n_stems, -1, dtype=np.int64), np.empty(n_stems, dtype=np.int64)
    count = 0
    for i in range(n):
        for word in range(places[i, 0], places[i, 1]):
            if flags[word] & FUNCTION:
                continue
            stem = stems[word]
            if last[stem] != i:
                last[stem], where[stem] = i, count
                entries[count] = stem
                frequency[stem] += 1
                count += 1
            counts[where[stem]] += 1.0
            lengths[i] += 1.0
        starts[i + 1] = count
    return Bags(starts, entries[:count], counts[:count], lengths, frequency)


@njit(cache=True, nogil=True)
def entries_by_stem(stems: Any, n_stems: int) -> tuple[Any, Any]:
    """Return by stem where its entries start in the second array, which holds the entries in order."""
    starts = np.zeros(n_stems + 1, dtype=np.int64)
    for stem in stems:
        starts[stem + 1] += 1
    starts = np.cumsum(starts)
    free, entries = starts[:-1].copy(), np.empty(len(stems), dtype=np.int64)
    for entry in range(len(stems)):
        entries[free[stems[entry]]] = entry
        free[stems[entry]] += 1
    return starts, entries


@njit(cache=True, nogil=True)
def bm25(bags: Any, is_term: Any) -> Any:
    """Return the Okapi BM25 score of each passage for the stems that are terms of the question (k1 = 1.2, b = 0.75)."""
    n = len(bags.lengths)
    scores, mean = np.zeros(n), max(bags.lengths.mean(), 1.0)
    for i in range(n):
        room = 1.2 * (0.25 + 0.75 * bags.lengths[i] / mean)
        for entry in range(bags.starts[i], bags.starts[i + 1]):
            stem = bags.stems[entry]
            if is_term[stem]:
                held = bags.frequency[stem]
                rarity = np.log1p((n - held + 0.5) / (held + 0.5))
                scores[i] += rarity * 2.2 * bags.counts[entry] / (bags.counts[entry] + room)
    return scores


@njit(cache=True, nogil=True)
def likenesses(bags: Any, rarity: Any, is_term: Any, rare: Any) -> tuple[Any, Any, Any]:
    """Return tf-idf cosines of the passages, and what rare words they share."""
    n = len(bags.lengths)
    squares, asked = np.zeros(n), np.zeros(n)
    pairs, shared = np.zeros((n, n)), np.zeros((n, n))
    starts, entries = entries_by_stem(bags.stems, len(bags.frequency))
    weights, passages = np.empty(len(entries)), np.empty(len(entries), dtype=np.int64)
    for i in range(n):
        for entry in range(bags.starts[i], bags.starts[i + 1]):
            stem = bags.stems[entry]
            weight = bags.counts[entry] * rarity[stem]
            weights[entry], passages[entry] = weight, i
            squares[i] += weight * weight
            asked[i] += weight * rarity[stem] if is_term[stem] else 0.0
    for stem in range(len(bags.frequency)):
        for a in entries[starts[stem] : starts[stem + 1]]:
            for b in entries[starts[stem] : starts[stem + 1]]:
                if a < b:
                    pairs[passages[a], passages[b]] += weights[a] * weights[b]
                    if rare[stem] and not is_term[stem]:
                        shared[passages[a], passages[b]] += rarity[stem]
    lengths = np.maximum(np.sqrt(squares), 1e-9)
    cosines = (pairs + pairs.T) / lengths / lengths.reshape(-1, 1)
    return asked / lengths, cosines, shared + shared.T
