"""Splits many texts into words at once, as arrays of hashes, flags and sentence numbers.

The work is done by `_kernels.words`; this module prepares the tables of characters and known words that it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Ints, starts_of
from listwright._kernels import words as kernel
from listwright._kernels.words import count_words, hashed, split_words
from listwright.text.passages.characters import tables
from listwright.text.words import FUNCTION_WORDS, word_set

Hashes = NDArray[np.uint64]

_LINKING = word_set("of the in and de la le von van der du del di da for on at to a an")  # inside names
_PERSON = word_set("he she his her him born")
_PLACE = word_set("located city town county state province district capital region village")


class Words(NamedTuple):
    """The words of several texts, one after the other."""

    starts: Ints  # by text: its first word; then the number of all words
    firsts: Ints  # by word: where it starts in the joined texts
    lasts: Ints  # by word: where it ends
    words: Hashes  # by word: equal for words that differ in case and accents only
    stems: Hashes  # by word: the same of its first five letters
    flags: NDArray[np.uint8]  # by word: bits of `_kernels.words`
    sentences: NDArray[np.int32]  # by word: the sentence of its text, from 0


def split(texts: Sequence[str]) -> Words:
    """Split texts into words."""
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(joined, dtype=np.uint32)
    places = starts_of([len(text) for text in texts])
    kinds, folds = tables()
    words = _room_for(count_words(codes, places, kinds), len(texts))
    split_words(codes, places, kinds, folds, _known(), words)
    return words


def hashes_of(words: Iterable[str]) -> Hashes:
    """Return the hash of each word, equal to the entries of `Words.words`."""
    kinds, folds = tables()
    codes = [np.frombuffer(word.encode("utf-32-le"), dtype=np.uint32) for word in words]
    return np.array([hashed(code, 0, len(code), kinds, folds)[0] for code in codes], dtype=np.uint64)


@cache
def _known() -> tuple[Hashes, NDArray[np.uint8]]:
    """Return the hashes of all words in the word lists, sorted for binary search, and bits for the lists that hold
    each.
    """
    lists = {kernel.FUNCTION: FUNCTION_WORDS, kernel.LINKING: _LINKING, kernel.PERSON: _PERSON, kernel.PLACE: _PLACE}
    bits: dict[str, int] = {}
    for bit, words in lists.items():
        for word in words:
            bits[word] = bits.get(word, 0) | bit
    numbers = hashes_of(bits)
    order = np.argsort(numbers)
    return numbers[order], np.array(list(bits.values()), dtype=np.uint8)[order]


def _room_for(count: int, n_texts: int) -> Words:
    """Allocate the arrays that the splitting kernel fills in."""
    return Words(
        starts=np.zeros(n_texts + 1, dtype=np.int64),
        firsts=np.empty(count, dtype=np.int64),
        lasts=np.empty(count, dtype=np.int64),
        words=np.empty(count, dtype=np.uint64),
        stems=np.empty(count, dtype=np.uint64),
        flags=np.empty(count, dtype=np.uint8),
        sentences=np.empty(count, dtype=np.int32),
    )
