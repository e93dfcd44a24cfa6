"""Finds passages that say the same: copies, near copies, overlapping chunks and, with embeddings, paraphrases."""

from __future__ import annotations

import re

import numpy as np

from listwright._internal.arrays import Bools, Ints
from listwright._internal.linalg import unit_rows
from listwright.context.passages import Passages
from listwright.text.passages import PassageFeatures

SAME_WORDS = 0.9  # cosine of tf-idf
SAME_MEANING, SOME_WORDS = 0.95, 0.25  # cosine of embeddings, and of tf-idf beside it
_NUMBER = re.compile(r"\d+")


def candidates(texts: list[str]) -> Ints:
    """Returns the positions of passages that are not blank, exact copies (up to case and white space) only once.

    >>> candidates(["Rain fell.", "", "rain  fell.", "Wind rose."])
    array([0, 3])
    """
    seen: dict[str, int] = {}
    for row, text in enumerate(texts):
        plain = " ".join(text.split()).casefold()
        if plain:
            seen.setdefault(plain, row)
    return np.array(list(seen.values()), dtype=np.int64)


def twins_of(given: Passages, found: PassageFeatures) -> Bools:
    """Returns a (passages, passages) table: whether the passage of the row adds nothing to that of the column.

    Two passages are twins if the cosine of their tf-idf vectors is at least 0.9, or if that of their embeddings is at
    least 0.95 and they share some words. A passage with a number that the other one lacks is not a twin: reports of two
    years differ in little else. For this reason the table is not symmetric.
    """
    same = found.links["alike"] >= SAME_WORDS
    if given.embeddings is not None:
        units = unit_rows(given.embeddings)
        same |= (units @ units.T >= SAME_MEANING) & (found.links["alike"] >= SOME_WORDS)
    np.fill_diagonal(same, False)
    for row, other in np.argwhere(same):
        numbers, known = (set(_NUMBER.findall(given.texts[one])) for one in (row, other))
        same[row, other] = numbers <= known
    return same
