"""Passages that say the same: near copies, overlapping chunks and, where embeddings tell, the same in other words."""

from __future__ import annotations

import re

import numpy as np

from listwright._internal.arrays import Bools, Floats
from listwright.context.passages import Passages
from listwright.text.passages import PassageFeatures

SAME_WORDS = 0.9  # cosine of tf-idf
SAME_MEANING, SOME_WORDS = 0.95, 0.25  # cosine of embeddings, and of tf-idf beside it
_NUMBER = re.compile(r"\d+")


def twins_of(given: Passages, found: PassageFeatures) -> Bools:
    """(passages, passages): whether a passage says what another one says already.

    A passage with a number that the other one lacks is no twin: reports of two years differ in little else.
    """
    same = found.links["alike"] >= SAME_WORDS
    if given.embeddings is not None:
        same |= (_cosines(given.embeddings) >= SAME_MEANING) & (found.links["alike"] >= SOME_WORDS)
    np.fill_diagonal(same, False)
    for row, other in np.argwhere(same):
        numbers, known = (set(_NUMBER.findall(given.texts[one])) for one in (row, other))
        same[row, other] = numbers <= known
    return same


def _cosines(vectors: Floats) -> Floats:
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    cosines: Floats = units @ units.T
    return cosines
