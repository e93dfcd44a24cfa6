"""Words of texts, character by character, a number for each of them, and how often passages hold them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from listwright._kernels import outer

# What a character is.
LETTER, UPPER, LOWER, DIGIT, SIGN, DROPPED, SPACE, LINE, BREAK, STOP, WIDE_STOP = (1 << bit for bit in range(11))
# What a word is.
CAPITAL, NUMBER, YEAR, FUNCTION, APART, LINKING, PERSON, PLACE = (1 << bit for bit in range(8))

LAST_IN_TABLE = 0xFFFF  # the last code point in the tables of characters
STEM = 5  # characters
FULL_STOP = 46
OFFSET, PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)  # of the FNV-1a hash


@outer()
def split_words(
    kinds: Any, folds: Any, starts: Any, firsts: Any, lasts: Any, sentences: Any, words: Any, stems: Any, flags: Any
) -> Any:
    """Fill in where words are, their sentences, hashes and bits; turn `starts` from characters into words."""
    # A word is a run of letters and digits, or two signs; pairs of signs overlap. A sentence ends at a full stop
    # followed by a blank, unless a lower-case letter comes next or the stop belongs to an initial; at a blank line; and
    # at a line end that is not followed by a lower-case letter.
    count, at = 0, 0
    for text in range(len(starts) - 1):
        end, before, sentence, length_before = starts[text + 1], count, 0, 0
        starts[text] = count
        marks, dots, lines, broken, stopped, ended = 0, 0, 0, True, False, False
        while at < end:
            kind = kinds[at]
            if not kind & LETTER:
                if not kind & SPACE:
                    marks += 1
                    dots += folds[at] == FULL_STOP
                lines += kind & LINE != 0
                broken |= kind & BREAK != 0
                ended |= (stopped and kind & SPACE != 0) or kind & WIDE_STOP != 0
                stopped |= kind & STOP != 0
                at += 1
                continue
            initial = marks == 1 and dots == 1 and length_before == 1
            lower = kind & LOWER != 0
            ends = (ended and not lower and not initial) or lines > 1 or (lines == 1 and not lower)
            sentence += ends and count > before
            stop, run = at + 1, not kind & SIGN
            while stop < end and (run or stop == at + 1):
                following = kinds[stop]
                if (following & SIGN != 0) == run or not following & (LETTER | DROPPED):
                    break
                stop += 1
            number, stem, length, digits = OFFSET, OFFSET, 0, True
            for place in range(at, stop):
                if not kinds[place] & DROPPED:
                    number = (number ^ np.uint64(folds[place])) * PRIME
                    digits &= kinds[place] & DIGIT != 0
                    length += 1
                    if length == STEM:
                        stem = number
            firsts[count], lasts[count], sentences[count], words[count] = at, stop, sentence, number
            stems[count] = number if length < STEM or digits else stem
            flags[count] = (NUMBER if digits else 0) | (APART if ends or (broken and not initial) else 0)
            count += 1
            length_before = stop - at
            paired = not run and length_before == 2 and stop < end and kinds[stop] & SIGN != 0
            at = at + 1 if paired else stop
            marks, dots, lines, broken, stopped, ended = 0, 0, 0, False, False, False
    starts[len(starts) - 1] = count


@outer()
def number_keys(keys: Any, slots: Any, known: Any, numbers: Any) -> Any:
    """Fill in a number from 0 for each key, equal keys alike, in order of first use; return how many there are."""
    count, last = 0, len(slots) - 1
    for i in range(len(keys)):
        slot = np.int64(keys[i] & np.uint64(last))
        while slots[slot] >= 0 and known[slots[slot]] != keys[i]:
            slot = (slot + 1) & last
        if slots[slot] < 0:
            slots[slot] = count
            known[count] = keys[i]
            count += 1
        numbers[i] = slots[slot]
    return count


@outer()
def count_stems(
    stems: Any, flags: Any, places: Any, latest: Any, starts: Any, entries: Any, counts: Any, previous: Any
) -> None:
    """Fill in which stems each passage holds, in order of first use, how often, and the entry that held it before."""
    count = 0  # function words are left out
    for i in range(len(places)):
        for word in range(places[i, 0], places[i, 1]):
            if flags[word] & FUNCTION:
                continue
            stem = stems[word]
            if latest[stem] < starts[i]:
                previous[count], entries[count], latest[stem] = latest[stem], stem, count
                count += 1
            counts[latest[stem]] += 1.0
        starts[i + 1] = count


@outer()
def pair_entries(latest: Any, previous: Any, owners: Any, weights: Any, values: Any, products: Any, sums: Any) -> None:
    """Sum over the stems that two passages share, in their order: products of weights, and values of the stems."""
    for stem in range(len(latest)):
        later = latest[stem]
        while later >= 0:
            i, earlier = owners[later], previous[later]
            while earlier >= 0:
                j = owners[earlier]
                products[i, j] += weights[later] * weights[earlier]
                sums[i, j] += values[stem]
                products[j, i], sums[j, i] = products[i, j], sums[i, j]
                earlier = previous[earlier]
            later = previous[later]


@outer()
def match_runs(words: Any, n_question: int, places: Any, held: Any, worth: Any, seen: Any, table: Any) -> None:
    """Fill in by passage at how many words of the question a run of it begins, the longest run, and its worth."""
    for i in range(len(places)):
        best, where = 0, 0
        for at in range(places[i, 0], places[i, 1]):
            if not held[words[at]]:
                continue
            for start in range(n_question):
                if words[start] != words[at]:
                    continue
                most, length = min(n_question - start, places[i, 1] - at), 1
                while length < most and words[start + length] == words[at + length]:
                    length += 1
                if length > 1 and seen[start] != i:
                    seen[start] = i
                    table[i, 0] += 1.0
                if length > best:
                    best, where = length, start
        table[i, 1] = best
        for word in range(where, where + best):
            table[i, 2] += worth[word]


@outer(error_model="numpy")
def pair_titles(
    words: Any, stems: Any, sentences: Any, titles: Any, bodies: Any, telling: Any, counts: Any, shares: Any,
    parts: Any, new: Any, latest: Any, previous: Any, owners: Any, held: Any, mentions: Any, inside: Any, unasked: Any,
) -> None:  # fmt: skip
    """Fill in by pair 1 + the highest share of a sentence with the title, and the shares of title words in the body."""
    n = len(titles)
    for j in range(n):
        for at in range(bodies[j, 0], bodies[j, 1]):
            previous[at], latest[words[at]], held[stems[at]] = latest[words[at]], at, j
        for i in range(n):
            for word in range(titles[i, 0], titles[i, 1]):
                if i != j and counts[word] and held[stems[word]] == j:
                    inside[i, j] += parts[word]
                    unasked[i, j] += new[word]
    for i in range(n):
        at = latest[words[titles[i, 0]]] if telling[i] else -1
        while at >= 0:
            j, length = owners[at], 0
            most = min(titles[i, 1] - titles[i, 0], bodies[j, 1] - at)
            while length < most and words[titles[i, 0] + length] == words[at + length]:
                length += 1
            if j != i and length == titles[i, 1] - titles[i, 0]:
                mentions[i, j] = max(mentions[i, j], 1.0 + shares[sentences[at]])
            at = previous[at]


@outer(error_model="numpy")
def pair_names(latest: Any, previous: Any, owners: Any, heights: Any, rarity: Any, shared: Any, bridges: Any) -> None:
    """Fill in by pair the summed rarity of the names that both hold, and the highest product of rarity and heights."""
    for stem in range(len(latest)):
        place = latest[stem]
        while place >= 0:
            i, other = owners[place], latest[stem]
            while other >= 0:
                j = owners[other]
                if i != j:
                    shared[i, j] += rarity[stem]
                    bridges[i, j] = max(bridges[i, j], rarity[stem] * (0.1 + heights[place]) * (0.1 + heights[other]))
                other = previous[other]
            place = previous[place]


@outer(error_model="numpy")
def add_bridged(
    ranges: Any, sentences: Any, stems: Any, entry: Any, latest: Any, previous: Any, owners: Any, rarity: Any,
    most: float, seen: Any, sums: Any, added: Any, table: Any,
) -> None:  # fmt: skip
    """Fill in by pair the most that a sentence of the first adds to the second, weighted by the names both hold."""
    for sentence in range(len(sentences)):
        i = sentences[sentence]
        for part in range(2):
            for word in range(ranges[sentence, 2 * part], ranges[sentence, 2 * part + 1]):
                stem = stems[word]
                if entry[i, stem] < 0 or seen[stem] == sentence:
                    continue
                seen[stem], other = sentence, latest[stem]
                while other >= 0:
                    sums[owners[other]] += rarity[stem]
                    other = previous[other]
        for j in range(len(sums)):
            if sums[j] > 0.0:
                if j != i:
                    table[i, j] = max(table[i, j], added[sentence, j] * min(math.log1p(sums[j]), most))
                sums[j] = 0.0
