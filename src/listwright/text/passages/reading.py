"""A question and its passages as numbered words, from which all features of passages are computed.

Text is split once; everything after that works on integer arrays, which the compiled kernels take.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Ints, starts_of
from listwright._internal.tokens import FUNCTION_WORDS, word_set
from listwright._kernels import words as kernel
from listwright._kernels.words import count_words, hashed, next_name, numbered, sentences_of, split_words

TEXTS = 3  # of a passage: title, note, body
OPENING = 12  # words of an untitled passage in which its name is looked for
Hashes = NDArray[np.uint64]
_LINKING = word_set("of the in and de la le von van der du del di da for on at to a an")  # inside names
_PERSON = word_set("he she his her him born")
_PLACE = word_set("located city town county state province district capital region village")
_SIGNS = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x31F0, 0x31FF))
_WIDE_SIGNS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF))  # letters throughout
_ACCENTS = ((0x0300, 0x036F), (0x0591, 0x05C7), (0x064B, 0x0652), (0x0670, 0x0670), (0x1AB0, 0x1AFF), (0x20D0, 0x20FF))
_BREAKS = '.!?;:,()"[]/{}|<>=\u201c\u201d\u2013\u2014\u00ab\u00bb\u3001\uff0c\uff1a\uff1b\u300c\u300d'
_STOPS = ".!?\u2026"
_WIDE_STOPS = "\u3002\uff01\uff1f\u0964\u061f"


class Reading(NamedTuple):
    """The words of a question, then those of each passage: its title, the note behind it, its body."""

    words: NDArray[np.int32]  # by word: a number from 0, equal where words are the same
    stems: NDArray[np.int32]  # by word: the same for its first five letters
    flags: NDArray[np.uint8]  # by word: bits of `_kernels.words`
    lengths: Ints  # by word: its letters
    sentences: Ints  # by word: the sentence, counted over all bodies; -1 outside bodies
    n_question: int  # words of the question
    n_stems: int
    titles: Ints  # (passages, 2): first word, and the word behind the last
    notes: Ints
    bodies: Ints
    places: Ints  # title, note and body together
    part_starts: Ints  # by passage: its first sentence
    part_words: Ints  # (sentences, 2)


class SourceText(NamedTuple):
    """The joined text and where the words of a reading stand in it, so that they can be quoted."""

    text: str
    words: Words

    def quote(self, first: int, stop: int) -> str:
        """Return the text of words first:stop as written, with what stands between them."""
        return self.text[self.words.firsts[first] : self.words.lasts[stop - 1]] if stop > first else ""


def read(question: str, texts: Sequence[str], titles: Sequence[str]) -> tuple[Reading, SourceText]:
    """Read a question and its passages into numbered words.

    A passage without a title is named by the first capitalised words of its opening, or else by its first two words.

    Parameters
    ----------
    question : str
        The question.
    texts, titles : sequences of str
        One text and one title per passage; a title may be "".

    Returns
    -------
    reading : Reading
        The words as numbers.
    source : Source
        The text behind them.
    """
    pieces = [question]
    for title, text in zip(titles, texts, strict=True):
        pieces += (*_split_note(title), text)
    split_text = split(pieces)
    words, _ = numbered(split_text.words)
    stems, n_stems = numbered(split_text.stems)
    ranges = np.stack([split_text.starts[:-1], split_text.starts[1:]], axis=1)
    bodies = np.ascontiguousarray(ranges[TEXTS::TEXTS])
    sentences, part_starts, part_words = sentences_of(split_text.sentences, bodies)
    reading = Reading(
        words=words,
        stems=stems,
        flags=split_text.flags,
        lengths=split_text.lasts - split_text.firsts,
        sentences=sentences,
        n_question=int(split_text.starts[1]),
        n_stems=n_stems,
        titles=_fill_titles(ranges[1::TEXTS], bodies, split_text.flags),
        notes=np.ascontiguousarray(ranges[2::TEXTS]),
        bodies=bodies,
        places=np.stack([ranges[1::TEXTS, 0], bodies[:, 1]], axis=1),
        part_starts=part_starts,
        part_words=part_words,
    )
    return reading, SourceText("".join(pieces), split_text)


def _split_note(title: str) -> tuple[str, str]:
    """Split a title from the note in brackets behind it."""
    name, opened, note = title.rstrip().rpartition("(")
    return (name, note[:-1]) if opened and note.endswith(")") and name.strip() else (title, "")


def _fill_titles(titles: Ints, bodies: Ints, flags: NDArray[np.uint8]) -> Ints:
    """Fill in the ranges of missing titles with the first name in the opening of the body, or with its first
    two words.
    """
    named = titles.copy()
    for i in np.flatnonzero(titles[:, 0] == titles[:, 1]):
        start, end = bodies[i]
        opening = min(start + OPENING, end)
        first, stop = next_name(flags, start, opening)
        named[i] = (first, stop) if first < opening else (start, min(start + 2, end))
    return named


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
    words = _allocate(count_words(codes, places, kinds), len(texts))
    split_words(codes, places, kinds, folds, _word_lists(), words)
    return words


def hashes_of(words: Iterable[str]) -> Hashes:
    """Return the hash of each word, equal to the entries of `Words.words`."""
    kinds, folds = tables()
    codes = [np.frombuffer(word.encode("utf-32-le"), dtype=np.uint32) for word in words]
    return np.array([hashed(code, 0, len(code), kinds, folds)[0] for code in codes], dtype=np.uint64)


@cache
def _word_lists() -> tuple[Hashes, NDArray[np.uint8]]:
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


def _allocate(count: int, n_texts: int) -> Words:
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


@cache
def tables() -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Build two lookup tables over the code points up to U+FFFF, once per process.

    Returns
    -------
    kinds : array of uint16
        Bits of each code point: letter, digit, sign, space, break and so on (see `_kernels.words`).
    folds : array of uint16
        The code point that it is folded to: lower case, without accents.
    """
    kinds = np.zeros(kernel.LAST_IN_TABLE + 1, dtype=np.uint16)
    folds = np.arange(kernel.LAST_IN_TABLE + 1, dtype=np.uint16)
    for first, last in _WIDE_SIGNS:
        kinds[first : last + 1] = kernel.LETTER | kernel.SIGN
    for code in np.flatnonzero(kinds == 0).tolist():
        kinds[code] = _kind(chr(code))
        if kinds[code] & kernel.LETTER:
            folds[code] = _fold(chr(code))
    return kinds, folds


def _kind(character: str) -> int:
    """Return the bits of one character, from its Unicode category and the lists above."""
    code, category = ord(character), unicodedata.category(character)
    if _within(code, _ACCENTS):
        return kernel.DROPPED
    if category[0] in "LNM":
        bits = kernel.LETTER | (kernel.SIGN if _within(code, _SIGNS) else 0)
        bits |= kernel.UPPER if category in ("Lu", "Lt") else kernel.LOWER if category == "Ll" else 0
        return bits | (kernel.DIGIT if character.isdigit() else 0)
    if character.isspace():
        return kernel.SPACE | (kernel.LINE if character in "\n\u2028\u2029" else 0)
    bits = kernel.BREAK if character in _BREAKS + _WIDE_STOPS + _STOPS else 0
    bits |= kernel.STOP if character in _STOPS else 0
    return bits | (kernel.WIDE_STOP if character in _WIDE_STOPS else 0)


def _fold(character: str) -> int:
    """Return the code point of the base letter in lower case; of a ligature, that of its first letter."""
    base = unicodedata.normalize("NFKD", character)[0].lower()[0]
    return min(ord(base), kernel.LAST_IN_TABLE)


def _within(code: int, ranges: Any) -> bool:
    """Return whether a code point lies in one of several ranges, ends included."""
    return any(first <= code <= last for first, last in ranges)
