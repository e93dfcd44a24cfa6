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
    """Return the positions of passages that are not blank, exact copies (up to case and white space) only once."""
    seen: dict[str, int] = {}
    for row, text in enumerate(texts):
        plain = " ".join(text.split()).casefold()
        if plain:
            seen.setdefault(plain, row)
    return np.array(list(seen.values()), dtype=np.int64)


def twins_of(given: Passages, found: PassageFeatures) -> Bools:
    """Return a (passages, passages) table: whether the passage of the row adds nothing to that of the column."""
    same = found.links["alike"] >= SAME_WORDS
    if given.embeddings is not None:
        units = unit_rows(given.embeddings)
        same |= (units @ units.T >= SAME_MEANING) & (found.links["alike"] >= SOME_WORDS)
    np.fill_diagonal(same, False)
    for row, other in np.argwhere(same):
        numbers, known = (set(_NUMBER.findall(given.texts[one])) for one in (row, other))
        same[row, other] = numbers <= known
    return same
