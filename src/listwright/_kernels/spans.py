"""Runs of words: names (consecutive capitalised words), and where one run of words occurs in another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from listwright._kernels.words import APART, CAPITAL, FUNCTION, LINKING


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
