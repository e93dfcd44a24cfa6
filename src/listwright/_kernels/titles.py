"""Titles of passages that occur in other passages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from listwright._kernels.likeness import is_telling, total_rarity
from listwright._kernels.spans import common_run
from listwright._kernels.words import FUNCTION


@njit(cache=True, nogil=True)
def title_mentions(reading: Any, worths: Any) -> Any:
    """Return a table (passage, other): if the title occurs in the other's body, 1 + the highest worth of a sentence
    with it.
    """
    n, words = len(reading.titles), reading.words
    mentions = np.zeros((n, n))
    starts, places, passages = _places(words, reading.bodies)
    for i in range(n):
        first, end = reading.titles[i]
        if not is_telling(reading.flags, first, end):
            continue
        for k in range(starts[words[first]], starts[words[first] + 1]):
            j, at = passages[k], places[k]
            if j != i and common_run(words, first, end, at, reading.bodies[j, 1]) == end - first:
                mentions[i, j] = max(mentions[i, j], 1.0 + worths[reading.sentences[at]])
    return mentions


@njit(cache=True, nogil=True)
def _places(words: Any, bodies: Any) -> tuple[Any, Any, Any]:
    """Return by word where its places start in the second array; the places of all body words; and the passage
    of each.
    """
    counts = np.zeros(words.max() + 2, dtype=np.int64)
    for i in range(len(bodies)):
        for at in range(bodies[i, 0], bodies[i, 1]):
            counts[words[at] + 1] += 1
    starts = np.cumsum(counts)
    free = starts[:-1].copy()
    places, passages = np.empty(starts[-1], dtype=np.int64), np.empty(starts[-1], dtype=np.int64)
    for i in range(len(bodies)):
        for at in range(bodies[i, 0], bodies[i, 1]):
            places[free[words[at]]] = at
            passages[free[words[at]]] = i
            free[words[at]] += 1
    return starts, places, passages


@njit(cache=True, nogil=True)
def title_shares(reading: Any, rarity: Any, is_term: Any) -> tuple[Any, Any]:
    """Return how much of each title occurs in the other passages."""
    titles, bodies, flags, stems = reading.titles, reading.bodies, reading.flags, reading.stems
    n = len(titles)
    shares, new = np.zeros((n, n)), np.zeros((n, n))
    held = np.full(len(rarity), -1, dtype=np.int64)
    totals = np.array([total_rarity(stems, flags, rarity, titles[i, 0], titles[i, 1]) for i in range(n)])
    telling = np.array([is_telling(flags, titles[i, 0], titles[i, 1]) for i in range(n)])
    for j in range(n):
        for word in range(bodies[j, 0], bodies[j, 1]):
            held[stems[word]] = j
        for i in range(n):
            if i == j:
                continue
            for word in range(titles[i, 0], titles[i, 1]):
                stem = stems[word]
                if held[stem] != j or (telling[i] and flags[word] & FUNCTION):
                    continue
                shares[i, j] += rarity[stem] / max(totals[i], 1e-9)
                new[i, j] += 0.0 if is_term[stem] else rarity[stem]
    return shares, new


@njit(cache=True, nogil=True)
def same_titles(reading: Any) -> Any:
    """Return a table (passage, other) with 1 if two passages have the same title."""
    n, titles = len(reading.titles), reading.titles
    table = np.zeros((n, n))
    for i in range(n):
        length = titles[i, 1] - titles[i, 0]
        for j in range(i):
            if length and titles[j, 1] - titles[j, 0] == length:
                same = common_run(reading.words, titles[i, 0], titles[i, 1], titles[j, 0], titles[j, 1]) == length
                table[i, j] = table[j, i] = 1.0 if same else 0.0
    return table
