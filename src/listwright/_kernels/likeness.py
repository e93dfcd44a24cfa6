"""How much of a question occurs in each passage."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from listwright._kernels.needs import best_part, worth
from listwright._kernels.spans import common_run, longest_run, stands_in
from listwright._kernels.words import FUNCTION, NUMBER, PERSON, PLACE, YEAR

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
