"""Bridges: names that two passages share and that the question does not contain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from listwright._kernels.bags import entries_by_stem
from listwright._kernels.needs import worth
from listwright._kernels.spans import next_name
from listwright._kernels.words import FUNCTION, NUMBER

SHORTEST = 3  # letters of a name
MOST = 2.0  # what a bridge may count


@njit(cache=True, nogil=True)
def name_words(reading: Any, is_term: Any, worths: Any, best: Any) -> tuple[Any, Any, Any]:
    """Return the words of names that are not in the question: passage, stem, and the highest worth of a sentence with
    it.
    """
    owners, stems = np.empty(len(reading.words), dtype=np.int64), np.empty(len(reading.words), dtype=np.int64)
    heights, slots = np.zeros(len(reading.words)), np.full(reading.n_stems, -1, dtype=np.int64)
    count = 0
    for i in range(len(reading.bodies)):
        known = count
        at, stop = reading.titles[i]
        start, end = reading.bodies[i]
        while at < end:
            for word in range(at, stop):
                stem = reading.stems[word]
                if slots[stem] < known and _is_name_word(reading, word, is_term):
                    slots[stem], owners[count], stems[count] = count, i, stem
                    count += 1
            at, stop = next_name(reading.flags, max(stop, start), end)
        for word in range(reading.places[i, 0], end):
            slot = slots[reading.stems[word]]
            if slot >= known and not reading.flags[word] & FUNCTION:
                inside = reading.sentences[word] >= 0 and not reading.titles[i, 0] <= word < reading.titles[i, 1]
                heights[slot] = max(heights[slot], worths[reading.sentences[word]] if inside else best[i])
    return owners[:count], stems[:count], heights[:count]


@njit(cache=True, nogil=True)
def _is_name_word(reading: Any, word: int, is_term: Any) -> bool:
    """Return whether a word is long enough, no function word or number, and not in the question."""
    long_enough = reading.lengths[word] >= SHORTEST
    return bool(long_enough and not reading.flags[word] & (FUNCTION | NUMBER) and not is_term[reading.stems[word]])


@njit(cache=True, nogil=True)
def bridges(owners: Any, stems: Any, heights: Any, rarity: Any, n: int) -> tuple[Any, Any]:
    """Return two tables (passage, other) over the name words that both contain: the summed rarity, and the highest
    product of rarity and the worths of the best sentences in both.
    """
    shared, best = np.zeros((n, n)), np.zeros((n, n))
    starts, entries = entries_by_stem(stems, len(rarity))
    for stem in range(len(rarity)):
        for a in entries[starts[stem] : starts[stem + 1]]:
            for b in entries[starts[stem] : starts[stem + 1]]:
                if a != b:
                    product = rarity[stem] * (0.1 + heights[a]) * (0.1 + heights[b])
                    shared[owners[a], owners[b]] += rarity[stem]
                    best[owners[a], owners[b]] = max(best[owners[a], owners[b]], product)
    return shared, best


@njit(cache=True, nogil=True)
def bridged_additions(reading: Any, needs: Any, owners: Any, stems: Any, rarity: Any) -> Any:
    """Return a table (passage, other): what a sentence of the passage adds to the other, weighted by the names they
    share.
    """
    wholes, parts, weights = needs
    n, total = len(wholes), max(weights.sum(), 1e-9)
    table, shared = np.zeros((n, n)), np.zeros(n)
    starts, entries = entries_by_stem(stems, len(rarity))
    holder, seen = np.full(len(rarity), -1, dtype=np.int64), np.full(len(rarity), -1, dtype=np.int64)
    entry = 0
    for i in range(n):
        while entry < len(owners) and owners[entry] == i:
            holder[stems[entry]] = i
            entry += 1
        for sentence in range(reading.part_starts[i], reading.part_starts[i + 1]):
            shared[:] = 0.0
            for part in range(2):
                first, end = reading.titles[i] if part else reading.part_words[sentence]
                for stem in reading.stems[first:end]:
                    if holder[stem] == i and seen[stem] != sentence:
                        seen[stem] = sentence
                        for k in entries[starts[stem] : starts[stem + 1]]:
                            shared[owners[k]] += rarity[stem]
            for j in range(n):
                if j != i and shared[j] > 0.0:
                    added = worth(parts[sentence] & ~wholes[j], weights) / total
                    table[i, j] = max(table[i, j], added * min(np.log1p(shared[j]), MOST))
    return table
