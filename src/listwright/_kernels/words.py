"""Words of texts, character by character: where they are, a number for each, and the sentences that they form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

# What a character is.
LETTER, UPPER, LOWER, DIGIT, SIGN, DROPPED, SPACE, LINE, BREAK, STOP, WIDE_STOP = (1 << bit for bit in range(11))
# What a word is.
CAPITAL, NUMBER, YEAR, FUNCTION, APART, LINKING, PERSON, PLACE = (1 << bit for bit in range(8))

LAST_IN_TABLE = 0xFFFF
STEM = 5  # characters
LONGEST_YEAR = 4

OFFSET, PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)  # of the FNV-1a hash
_SHIFT = np.uint64(29)


@njit(cache=True, nogil=True)
def kind_of(code: int, kinds: Any) -> int:
    """Return the bits of a character; characters beyond the table are signs that stand alone."""
    return int(kinds[code]) if code <= LAST_IN_TABLE else LETTER | SIGN


@njit(cache=True, nogil=True)
def end_of_word(codes: Any, start: int, end: int, kinds: Any) -> int:
    """Return where the word at `start` ends: a run of letters and digits, or one sign and the next."""
    if kind_of(codes[start], kinds) & SIGN:
        paired = start + 1 < end and kind_of(codes[start + 1], kinds) & SIGN
        return start + 2 if paired else start + 1
    stop = start + 1
    while stop < end:
        kind = kind_of(codes[stop], kinds)
        if kind & SIGN or not kind & (LETTER | DROPPED):
            break
        stop += 1
    return stop


@njit(cache=True, nogil=True)
def after_word(codes: Any, start: int, stop: int, end: int, kinds: Any) -> int:
    """Return where to continue after a word: pairs of signs overlap, and the last sign of a run is already in a
    pair.
    """
    if stop - start < 2 or not kind_of(codes[start], kinds) & SIGN:
        return stop
    more = stop < end and kind_of(codes[stop], kinds) & SIGN
    return start + 1 if more else stop


@njit(cache=True, nogil=True)
def count_words(codes: Any, starts: Any, kinds: Any) -> int:
    """Return the number of words of all texts together."""
    count = 0
    for text in range(len(starts) - 1):
        at, end = starts[text], starts[text + 1]
        while at < end:
            if kind_of(codes[at], kinds) & LETTER:
                at = after_word(codes, at, end_of_word(codes, at, end, kinds), end, kinds)
                count += 1
            else:
                at += 1
    return count


@njit(cache=True, nogil=True)
def mixed(key: Any) -> Any:
    """Return the key with its high bits mixed into the low ones, which hash tables use."""
    return key ^ (key >> _SHIFT)


@njit(cache=True, nogil=True)
def hashed(codes: Any, start: int, stop: int, kinds: Any, folds: Any) -> tuple[Any, Any, bool]:
    """Return hashes of a word and of its first letters, and whether it is all digits; case and accents are ignored."""
    number, stem, length, digits = OFFSET, OFFSET, 0, True
    for at in range(start, stop):
        code = codes[at]
        kind = kind_of(code, kinds)
        if kind & DROPPED:
            continue
        folded = np.uint64(folds[code]) if code <= LAST_IN_TABLE else np.uint64(code)
        number = (number ^ folded) * PRIME
        digits &= kind & DIGIT != 0
        length += 1
        if length == STEM:
            stem = number
    if length < STEM or digits:
        stem = number
    return mixed(number), mixed(stem), digits


@njit(cache=True, nogil=True)
def flags_of(codes: Any, start: int, stop: int, digits: bool, word: Any, kinds: Any, known: Any) -> int:
    """Return what kind of word it is, by its characters and by the lists of `known` words, (sorted hashes, bits)."""
    flags = CAPITAL if kind_of(codes[start], kinds) & (UPPER | DIGIT) else 0
    at = np.searchsorted(known[0], word)
    if at < len(known[0]) and known[0][at] == word:
        flags |= known[1][at]
    if digits:
        flags |= NUMBER
        if stop - start == LONGEST_YEAR and codes[start] in (49, 50):  # 1066, 2026
            flags |= YEAR
    return flags


@njit(cache=True, nogil=True)
def split_words(codes: Any, starts: Any, kinds: Any, folds: Any, known: Any, out: Any) -> None:
    """Split all texts into words and sentences: fill in the arrays of `text.passages.reading.Words`."""
    # A sentence ends at a full stop followed by a blank, unless a lower-case letter comes next or the stop belongs to
    # an initial; at a blank line; and at a line end that is not followed by a lower-case letter.
    count = 0
    for text in range(len(starts) - 1):
        out.starts[text] = count
        at, end, sentence, length_before = starts[text], starts[text + 1], 0, 0
        marks, dots, lines, broken, stopped, ended = 0, 0, 0, True, False, False
        while at < end:
            code = codes[at]
            kind = kind_of(code, kinds)
            if not kind & LETTER:
                if not kind & SPACE:
                    marks += 1
                    dots += code == 46
                lines += kind & LINE != 0
                broken |= kind & BREAK != 0
                ended |= (stopped and kind & SPACE != 0) or kind & WIDE_STOP != 0
                stopped |= kind & STOP != 0
                at += 1
                continue
            initial = marks == 1 and dots == 1 and length_before == 1
            lower = kind & LOWER != 0
            ends = (ended and not lower and not initial) or lines > 1 or (lines == 1 and not lower)
            sentence += ends and count > out.starts[text]
            stop = end_of_word(codes, at, end, kinds)
            word, stem, digits = hashed(codes, at, stop, kinds, folds)
            flags = flags_of(codes, at, stop, digits, word, kinds, known)
            flags |= APART if ends or (broken and not initial) else 0
            out.firsts[count], out.lasts[count], out.sentences[count] = at, stop, sentence
            out.words[count], out.stems[count], out.flags[count] = word, stem, flags
            count += 1
            length_before = stop - at
            at = after_word(codes, at, stop, end, kinds)
            marks, dots, lines, broken, stopped, ended = 0, 0, 0, False, False, False
    out.starts[len(starts) - 1] = count


@njit(cache=True, nogil=True)
def numbered(keys: Any) -> tuple[Any, int]:
    """Return a number from 0 for each key, equal keys alike, in order of first use; and how many numbers there are."""
    size = 16
    while size < 2 * len(keys):
        size *= 2
    mask = np.uint64(size - 1)
    slots = np.full(size, -1, dtype=np.int32)
    known = np.empty(len(keys), dtype=np.uint64)
    numbers = np.empty(len(keys), dtype=np.int32)
    count = 0
    for i in range(len(keys)):
        slot = np.int64(keys[i] & mask)
        while slots[slot] >= 0 and known[slots[slot]] != keys[i]:
            slot = (slot + 1) & (size - 1)
        if slots[slot] < 0:
            slots[slot] = count
            known[count] = keys[i]
            count += 1
        numbers[i] = slots[slot]
    return numbers, count


@njit(cache=True, nogil=True)
def sentences_of(sentences: Any, bodies: Any) -> tuple[Any, Any, Any]:
    """Numbers the sentences of all bodies consecutively."""
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


@njit(cache=True, nogil=True)
def next_name(flags: Any, at: int, end: int) -> tuple[int, int]:
    """Return first word and end of the next run of capitalised words from `at` on, such as "Duke of the North"; (end,
    end) after the last.
    """
    while at < end and not (flags[at] & CAPITAL and not flags[at] & FUNCTION):
        at += 1
    stop = min(at + 1, end)
    while stop < end and not flags[stop] & APART:
        ahead = stop
        while ahead < end and ahead < stop + 2 and flags[ahead] & (LINKING | CAPITAL | APART) == LINKING:
            ahead += 1
        if ahead == end or not flags[ahead] & CAPITAL or flags[ahead] & APART:
            break
        stop = ahead + 1
    return at, stop


@njit(cache=True, nogil=True)
def names_in(flags: Any, start: int, end: int) -> Any:
    """Return the first word of each name and the word after it, shape (names, 2)."""
    found = np.empty((end - start, 2), dtype=np.int64)
    count, at = 0, start
    while True:
        at, stop = next_name(flags, at, end)
        if at >= end:
            return found[:count]
        found[count, 0], found[count, 1] = at, stop
        count += 1
        at = stop


@njit(cache=True, nogil=True)
def common_run(words: Any, a: int, a_end: int, b: int, b_end: int) -> int:
    """Return how many words from `a` on equal those from `b` on."""
    length = 0
    while a + length < a_end and b + length < b_end and words[a + length] == words[b + length]:
        length += 1
    return length


@njit(cache=True, nogil=True)
def stands_in(words: Any, a: int, a_end: int, b: int, b_end: int) -> bool:
    """Return whether the words a:a_end occur consecutively somewhere in b:b_end."""
    for start in range(b, b_end - (a_end - a) + 1):
        if words[start] == words[a] and common_run(words, a, a_end, start, b_end) == a_end - a:
            return True
    return False


@njit(cache=True, nogil=True)
def longest_run(words: Any, a: int, a_end: int, b: int, b_end: int) -> tuple[int, int]:
    """Return the length of the longest run of a:a_end that occurs in b:b_end, and where it starts in a."""
    best, where = 0, a
    for start in range(a, a_end):
        for other in range(b, b_end):
            if words[start] == words[other]:
                length = common_run(words, start, a_end, other, b_end)
                if length > best:
                    best, where = length, start
    return best, where
