"""A question and its passages as numbered words, from which all features of passages are computed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Bools, Hashes, Ints, starts_of
from listwright._internal.tokens import FUNCTION_WORDS, word_set
from listwright._kernels import words as kernel
from listwright._kernels.words import number_keys, split_words

TEXTS = 3  # of a passage: title, note, body
OPENING = 12  # words of an untitled passage in which its name is looked for
_LINKING = word_set("of the in and de la le von van der du del di da for on at to a an")  # inside names
_PERSON = word_set("he she his her him born")
_PLACE = word_set("located city town county state province district capital region village")
_SIGNS = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x31F0, 0x31FF))
_WIDE_SIGNS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF))  # letters throughout
_ACCENTS = ((0x0300, 0x036F), (0x0591, 0x05C7), (0x064B, 0x0652), (0x0670, 0x0670), (0x1AB0, 0x1AFF), (0x20D0, 0x20FF))
_BREAKS = '.!?;:,()"[]/{}|<>=\u201c\u201d\u2013\u2014\u00ab\u00bb\u3001\uff0c\uff1a\uff1b\u300c\u300d'
_STOPS = ".!?\u2026"
_WIDE_STOPS = "\u3002\uff01\uff1f\u0964\u061f"
LONGEST_YEAR = 4  # digits
BEGINS, GOES_ON, LINKS = 1, 2, 4  # what a word may do in a name


def _mark(flags: int) -> int:
    """Return a digit: whether a word with these bits may begin a name, continue it, or stand inside of it."""
    begins = flags & (kernel.CAPITAL | kernel.FUNCTION) == kernel.CAPITAL
    goes_on = flags & (kernel.CAPITAL | kernel.APART) == kernel.CAPITAL
    links = flags & (kernel.LINKING | kernel.CAPITAL | kernel.APART) == kernel.LINKING
    return ord("0") | begins * BEGINS | goes_on * GOES_ON | links * LINKS


_MARKS = bytes(map(_mark, range(256)))
_NAME = re.compile(rb"[13](?:4{0,2}[23])*")
_LINKED_NAME = re.compile(rb"[13][23]*4{1,2}[23](?:4{0,2}[23])*")  # one with a word inside that only links


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
    owners: Ints  # by word: its passage, -1 for words of the question
    content: Bools  # by word: whether it is no function word
    in_title: Bools  # by word


class SourceText(NamedTuple):
    """The joined text and where the words of a reading stand in it, so that they can be quoted."""

    text: str
    words: Words

    def quote(self, first: int, stop: int) -> str:
        """Return the text of words first:stop as written, with what stands between them."""
        return self.text[self.words.firsts[first] : self.words.lasts[stop - 1]] if stop > first else ""


def read(question: str, texts: Sequence[str], titles: Sequence[str]) -> tuple[Reading, SourceText]:
    """Read a question and its passages, whose titles may be "", into numbered words, and the text behind them."""
    pieces = [question]
    for title, text in zip(titles, texts, strict=True):
        pieces += (*_split_note(title), text)
    split_text = split(pieces)
    words, _ = numbers_of(split_text.words)
    stems, n_stems = numbers_of(split_text.stems)
    ranges = np.stack([split_text.starts[:-1], split_text.starts[1:]], axis=1)
    bodies = np.ascontiguousarray(ranges[TEXTS::TEXTS])
    sentences, part_starts, part_words = _sentences(split_text.sentences, bodies)
    titled = _fill_titles(ranges[1::TEXTS], bodies, split_text.flags)
    places = np.stack([ranges[1::TEXTS, 0], bodies[:, 1]], axis=1)
    in_title = np.zeros(len(words), dtype=bool)
    in_title[words_in(titled)[1]] = True
    reading = Reading(
        words=words,
        stems=stems,
        flags=split_text.flags,
        lengths=split_text.lasts - split_text.firsts,
        sentences=sentences,
        n_question=int(split_text.starts[1]),
        n_stems=n_stems,
        titles=titled,
        notes=np.ascontiguousarray(ranges[2::TEXTS]),
        bodies=bodies,
        places=places,
        part_starts=part_starts,
        part_words=part_words,
        owners=np.repeat(np.arange(-1, len(places)), np.append(split_text.starts[1], places[:, 1] - places[:, 0])),
        content=split_text.flags & kernel.FUNCTION == 0,
        in_title=in_title,
    )
    return reading, SourceText("".join(pieces), split_text)


def words_in(ranges: Ints) -> tuple[Ints, Ints]:
    """Return the words of several ranges (first word, word after the last): the range of each, and the word."""
    lengths = ranges[:, 1] - ranges[:, 0]
    before = np.repeat(ranges[:, 0] - starts_of(lengths)[:-1], lengths)
    return np.repeat(np.arange(len(ranges)), lengths), before + np.arange(len(before))


def _split_note(title: str) -> tuple[str, str]:
    name, opened, note = title.rstrip().rpartition("(")
    return (name, note[:-1]) if opened and note.endswith(")") and name.strip() else (title, "")


def _fill_titles(titles: Ints, bodies: Ints, flags: NDArray[np.uint8]) -> Ints:
    """Fill in missing titles with the first name in the opening of the body, or with its first two words."""
    named, marks = titles.copy(), flags.tobytes().translate(_MARKS)
    for i in np.flatnonzero(titles[:, 0] == titles[:, 1]).tolist():
        start, end = bodies[i].tolist()
        match = _NAME.search(marks, start, min(start + OPENING, end))
        named[i] = match.span() if match else (start, min(start + 2, end))
    return named


def find_names(flags: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """Return the first word of each name, such as "Duke of the North", and the word after it."""
    return [match.span() for match in _NAME.finditer(flags.tobytes().translate(_MARKS))]


def name_words(reading: Reading) -> Bools:
    """Return by content word whether it stands in a name; that of an untitled passage ends with its title."""
    marks = np.frombuffer(_MARKS, dtype=np.uint8)[reading.flags]
    ends = reading.titles[:, 1]
    marks[ends[ends < len(marks)]] &= ~np.uint8(GOES_ON | LINKS)
    inside = marks & BEGINS > 0
    if (reading.content & (marks & LINKS > 0)).any():
        for match in _LINKED_NAME.finditer(marks.tobytes()):
            inside[slice(*match.span())] = True
    return inside


def _sentences(sentences: NDArray[np.int32], bodies: Ints) -> tuple[Ints, Ints, Ints]:
    """Return `Reading.sentences`, `part_starts` and `part_words`: sentences are numbered over all bodies."""
    filled = bodies[:, 1] > bodies[:, 0]
    counts = np.zeros(len(bodies), dtype=np.int64)
    counts[filled] = sentences[bodies[filled, 1] - 1] + 1
    starts = starts_of(counts)
    owners, inside = words_in(bodies)
    numbers = np.full(len(sentences), -1, dtype=np.int64)
    numbers[inside] = starts[owners] + sentences[inside]
    firsts = np.flatnonzero(np.diff(numbers[inside], prepend=-1))
    ends = np.append(firsts[1:], len(inside))[: len(firsts)] - 1
    return numbers, starts, np.stack([inside[firsts], inside[ends] + 1], axis=1)


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
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    starts = starts_of([len(text) for text in texts])
    in_table, beyond = np.minimum(codes, kernel.LAST_IN_TABLE), codes > kernel.LAST_IN_TABLE
    kinds, folds = (table[in_table] for table in tables())
    folds = np.where(beyond, codes, folds)
    kinds[beyond] = kernel.LETTER | kernel.SIGN  # signs that stand alone
    made: list[Any] = [
        np.empty(len(codes), dtype) for dtype in (np.int64, np.int64, np.int32, np.uint64, np.uint64, np.uint8)
    ]
    split_words(kinds, folds, starts, *made)
    firsts, lasts, sentences, words, stems, flags = (array[: starts[-1]] for array in made)
    words, stems = _mix(words), _mix(stems)
    _add_flags(flags, kinds[firsts], codes[firsts], lasts - firsts, words)
    return Words(starts, firsts, lasts, words, stems, flags, sentences)


def _mix(hashes: Hashes) -> Hashes:
    """Return hashes with their high bits mixed into the low ones, which hash tables use."""
    return hashes ^ (hashes >> np.uint64(29))


def _add_flags(flags: NDArray[np.uint8], kinds: Any, codes: Any, lengths: Ints, words: Hashes) -> None:
    """Add the bits of words that depend on their first characters and on the lists of known words."""
    known, bits = _word_lists()
    at = np.minimum(np.searchsorted(known, words), len(known) - 1)
    flags |= np.where(known[at] == words, bits[at], np.uint8(0))
    flags[kinds & (kernel.UPPER | kernel.DIGIT) > 0] |= kernel.CAPITAL
    starts_year = (codes == ord("1")) | (codes == ord("2"))
    flags[(flags & kernel.NUMBER > 0) & (lengths == LONGEST_YEAR) & starts_year] |= kernel.YEAR


def numbers_of(keys: Hashes) -> tuple[NDArray[np.int32], int]:
    """Return a number from 0 for each key, equal keys alike, in order of first use; and how many numbers there are."""
    slots = np.full(max(16, 1 << (2 * len(keys) - 1).bit_length()), -1, dtype=np.int32)
    numbers = np.empty(len(keys), dtype=np.int32)
    return numbers, number_keys(keys, slots, np.empty(len(keys), dtype=np.uint64), numbers)


def hashes_of(words: Iterable[str]) -> Hashes:
    """Return the hash of each word, equal to the entries of `Words.words`."""
    hashes = []
    for word in words:
        number = int(kernel.OFFSET)
        for character in word:
            number = ((number ^ _fold(character)) * int(kernel.PRIME)) % (1 << 64)
        hashes.append(number)
    return _mix(np.array(hashes, dtype=np.uint64))


@cache
def _word_lists() -> tuple[Hashes, NDArray[np.uint8]]:
    """Return the sorted hashes of all words in the word lists, and bits for the lists that hold each."""
    lists = {kernel.FUNCTION: FUNCTION_WORDS, kernel.LINKING: _LINKING, kernel.PERSON: _PERSON, kernel.PLACE: _PLACE}
    bits: dict[str, int] = {}
    for bit, words in lists.items():
        for word in words:
            bits[word] = bits.get(word, 0) | bit
    numbers = hashes_of(bits)
    order = np.argsort(numbers)
    return numbers[order], np.array(list(bits.values()), dtype=np.uint8)[order]


@cache
def tables() -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Return by code point up to U+FFFF its bits (see `_kernels.words`), and its lower case without accents."""
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
    return any(first <= code <= last for first, last in ranges)
