"""A question and its passages as numbered words, from which all features of passages are computed.

Text is split once; everything after that works on integer arrays, which the compiled kernels take.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Ints
from listwright._kernels.spans import next_name
from listwright._kernels.words import numbered, sentences_of
from listwright.text.passages.words import Words, split

TEXTS = 3  # of a passage: title, note, body
OPENING = 12  # words of an untitled passage in which its name is looked for


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


class Source(NamedTuple):
    """The joined text and where the words of a reading stand in it, so that they can be quoted."""

    text: str
    found: Words

    def quote(self, first: int, stop: int) -> str:
        """Return the text of words first:stop as written, with what stands between them."""
        return self.text[self.found.firsts[first] : self.found.lasts[stop - 1]] if stop > first else ""


def read(question: str, texts: Sequence[str], titles: Sequence[str]) -> tuple[Reading, Source]:
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
        pieces += (*_noted(title), text)
    found = split(pieces)
    words, _ = numbered(found.words)
    stems, n_stems = numbered(found.stems)
    ranges = np.stack([found.starts[:-1], found.starts[1:]], axis=1)
    bodies = np.ascontiguousarray(ranges[TEXTS::TEXTS])
    sentences, part_starts, part_words = sentences_of(found.sentences, bodies)
    reading = Reading(
        words=words,
        stems=stems,
        flags=found.flags,
        lengths=found.lasts - found.firsts,
        sentences=sentences,
        n_question=int(found.starts[1]),
        n_stems=n_stems,
        titles=_named(ranges[1::TEXTS], bodies, found.flags),
        notes=np.ascontiguousarray(ranges[2::TEXTS]),
        bodies=bodies,
        places=np.stack([ranges[1::TEXTS, 0], bodies[:, 1]], axis=1),
        part_starts=part_starts,
        part_words=part_words,
    )
    return reading, Source("".join(pieces), found)


def _noted(title: str) -> tuple[str, str]:
    """Split a title from the note in brackets behind it."""
    name, opened, note = title.rstrip().rpartition("(")
    return (name, note[:-1]) if opened and note.endswith(")") and name.strip() else (title, "")


def _named(titles: Ints, bodies: Ints, flags: NDArray[np.uint8]) -> Ints:
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
