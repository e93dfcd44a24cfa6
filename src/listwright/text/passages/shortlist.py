"""Narrows very many passages to those worth a closer look: by words alone, in time that is linear in the text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels.bags import Bags, bags_of, bm25
from listwright._kernels.words import CAPITAL, FUNCTION
from listwright.text.passages.likeness import ranks
from listwright.text.passages.reading import Reading, read

LEADERS = 10  # best passages whose names may lead on to others
RARE = 50  # a name leads on where at most one passage in so many holds it


def shortlist(
    question: str,
    texts: Sequence[str],
    titles: Sequence[str] | None = None,
    *,
    most: int,
    signals: Sequence[Floats] = (),
) -> Ints:
    """Choose the most promising of very many passages, before features that compare all pairs are computed."""
    n = len(texts)
    if n <= most:
        return np.arange(n)
    reading, _ = read(question, texts, [""] * n if titles is None else titles)
    bags = bags_of(reading.stems, reading.flags, reading.places, reading.n_stems)
    asked = np.zeros(reading.n_stems, dtype=bool)
    words = slice(0, reading.n_question)
    asked[reading.stems[words][reading.flags[words] & FUNCTION == 0]] = True
    own = bm25(bags, asked)
    found = [own, bm25(bags, _leads(reading, bags, own, asked)), *signals]
    best = np.min([ranks(np.asarray(one, dtype=np.float64)) for one in found], axis=0)
    return np.sort(np.argsort(best, kind="stable")[:most])


def _leads(reading: Reading, bags: Bags, scores: Floats, asked: Bools) -> Bools:
    """Flags the stems of rare names in the best passages that the question does not hold."""
    leads = np.zeros(reading.n_stems, dtype=bool)
    for row in np.argsort(-scores, kind="stable")[:LEADERS]:
        words = slice(*reading.places[row])
        leads[reading.stems[words][reading.flags[words] & CAPITAL > 0]] = True
    rare: Bools = bags.frequency <= max(2, len(scores) // RARE)
    return leads & rare & ~asked
