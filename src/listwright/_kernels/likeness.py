"""How much of a question occurs in each passage."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from listwright._kernels.bags import entries_by_stem
from listwright._kernels.needs import best_part, worth
from listwright._kernels.words import (
    FUNCTION,
    NUMBER,
    PERSON,
    PLACE,
    YEAR,
    common_run,
    longest_run,
    next_name,
    stands_in,
)

NONE = np.uint64(0)


@njit(cache=True, nogil=True)
def question_words(wholes: Any, parts: Any, part_starts: Any, weights: Any, named: Any, few: Any, once: Any) -> Any:
    """Return shares of the question's words in each passage, by weight."""
    n, total = len(wholes), max(weights.sum(), 1e-9)
    table = np.zeros((n, 7))
    in_names, in_others = max(worth(named, weights), 1e-9), max(worth(~named, weights), 1e-9)
    for i in range(n):
        table[i, 0] = worth(wholes[i], weights) / total
        table[i, 1] = worth(wholes[i] & ~named, weights) / in_others
        table[i, 2] = worth(wholes[i] & named, weights) / in_names
        table[i, 3] = best_part(parts, part_starts[i], part_starts[i + 1], NONE, weights) / total
        if part_starts[i + 1] > part_starts[i]:
            table[i, 4] = worth(parts[part_starts[i]], weights) / total
        table[i, 5] = worth(wholes[i] & few, np.ones_like(weights))
        table[i, 6] = worth(wholes[i] & once, weights) / total
    return table


@njit(cache=True, nogil=True)
def question_runs(words: Any, stems: Any, flags: Any, rarity: Any, n_question: int, places: Any) -> Any:
    """Return runs of the question in each passage."""
    table = np.zeros((len(places), 3))
    held = np.zeros(words.max() + 1, dtype=np.bool_)
    held[words[:n_question]] = True
    seen = np.full(n_question, -1, dtype=np.int64)
    for i in range(len(places)):
        best, where = 0, 0
        for at in range(places[i, 0], places[i, 1]):
            if not held[words[at]]:
                continue
            for start in range(n_question):
                if words[start] != words[at]:
                    continue
                length = common_run(words, start, n_question, at, places[i, 1])
                if length > 1 and seen[start] != i:
                    seen[start] = i
                    table[i, 0] += 1.0
                if length > best:
                    best, where = length, start
        table[i, 1] = best
        for word in range(where, where + best):
            if not flags[word] & FUNCTION:
                table[i, 2] += rarity[stems[word]]
    return table


@njit(cache=True, nogil=True)
def span_scores(words: Any, stems: Any, flags: Any, rarity: Any, spans: Any, titles: Any, places: Any) -> Any:
    """Return how far each span of the question occurs in the title and in the whole passage: shape (2, passages,
    spans).
    """
    scores = np.zeros((2, len(places), len(spans)))
    for i in range(len(places)):
        for s in range(len(spans)):
            a, b = spans[s]
            in_title = _share(stems, flags, rarity, a, b, titles[i, 0], titles[i, 1])
            in_whole = _share(stems, flags, rarity, a, b, places[i, 0], places[i, 1])
            exact = in_title > 0.0 and stands_in(words, a, b, titles[i, 0], titles[i, 1])
            scores[0, i, s] = 1.0 if exact else 0.9 * in_title
            exact |= in_whole > 0.0 and stands_in(words, a, b, places[i, 0], places[i, 1])
            scores[1, i, s] = 1.0 if exact else 0.7 * in_whole
    return scores


@njit(cache=True, nogil=True)
def _share(stems: Any, flags: Any, rarity: Any, a: int, b: int, start: int, end: int) -> float:
    """Return the share of the words a:b, by rarity, whose stems occur in start:end; of the content words if there are
    any.
    """
    total, found, content = 0.0, 0.0, is_telling(flags, a, b)
    for word in range(a, b):
        if content and flags[word] & FUNCTION:
            continue
        total += rarity[stems[word]]
        for other in range(start, end):
            if stems[other] == stems[word]:
                found += rarity[stems[word]]
                break
    return found / max(total, 1e-9)


@njit(cache=True, nogil=True)
def title_words(words: Any, stems: Any, flags: Any, rarity: Any, n_question: int, titles: Any, notes: Any) -> Any:
    """Return how the title relates to the question, shape (passages, 6)."""
    table = np.zeros((len(titles), 6))
    for i in range(len(titles)):
        start, end = titles[i]
        if end == start:
            continue
        run, _ = longest_run(words, start, end, 0, n_question)
        share = _share(stems, flags, rarity, start, end, 0, n_question)
        table[i, 0] = 1.0 if run == end - start and is_telling(flags, start, end) else 0.0
        table[i, 1] = share
        table[i, 2] = (1.0 - share) * total_rarity(stems, flags, rarity, start, end)
        table[i, 3] = run / (end - start)
        if notes[i, 1] > notes[i, 0]:
            table[i, 4] = _share(stems, flags, rarity, notes[i, 0], notes[i, 1], 0, n_question)
        table[i, 5] = end - start
    return table


@njit(cache=True, nogil=True)
def total_rarity(stems: Any, flags: Any, rarity: Any, start: int, end: int) -> float:
    """Return the summed rarity of the content words of a run, or of all its words if it has none."""
    total, content = 0.0, is_telling(flags, start, end)
    for word in range(start, end):
        if not (content and flags[word] & FUNCTION):
            total += rarity[stems[word]]
    return total


@njit(cache=True, nogil=True)
def is_telling(flags: Any, start: int, end: int) -> bool:
    """Return whether a run of words has one that is not a function word."""
    while start < end and flags[start] & FUNCTION:
        start += 1
    return start < end


@njit(cache=True, nogil=True)
def kinds_of_words(words: Any, flags: Any, n_question: int, bodies: Any) -> Any:
    """Return counts of kinds of words, shape (passages, 5)."""
    table = np.zeros((len(bodies), 5))
    for i in range(len(bodies)):
        for question in range(n_question):
            if flags[question] & NUMBER:
                table[i, 0] += 1.0 if stands_in(words, question, question + 1, bodies[i, 0], bodies[i, 1]) else 0.0
        for word in range(bodies[i, 0], bodies[i, 1]):
            table[i, 1] += flags[word] & YEAR != 0
            table[i, 2] += flags[word] & (NUMBER | YEAR) == NUMBER
            table[i, 3] += flags[word] & PERSON != 0
            table[i, 4] += flags[word] & PLACE != 0
    return table


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
