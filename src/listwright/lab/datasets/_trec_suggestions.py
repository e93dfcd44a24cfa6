"""How well documents answer the suggestions of a query, computed from BM25 scores alone.

`read_trec_web` offers both measures as aspects: scores scaled within the query, and the part of each score that comes
from words which only the suggestion has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._internal.arrays import Floats

NOTHING = 1e-5  # contributions of a word below this are rounding


def scaled_answers(record: dict[str, Any]) -> Floats:
    """(documents, suggestions): BM25 of each suggestion, from 0 to 1 within the query; of the query where it has none.

    >>> scaled_answers({"bm25": [0.0, 1.0], "bm25_suggestions": [[2.0, 4.0], [3.0, None]]})
    array([[0., 1.],
           [1., 0.]])
    """
    scores = _numbers(record["bm25_suggestions"] or [record["bm25"]])
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    return ((scores - low) / np.where(high - low > 1e-12, high - low, 1.0)).T


def own_word_answers(record: dict[str, Any]) -> Floats:
    """(documents, suggestions): the part of BM25 that comes from words which are not in the query, from 0 to 1.

    BM25 adds up over words, so the scores of the query and of its suggestions are linear in what each word contributes
    to each document; the contributions are solved for by least squares.

    >>> texts = {"text": "jaguar", "suggestions": ["jaguar car", "jaguar cat"]}
    >>> own_word_answers(texts | {"bm25": [1.0, 1.0], "bm25_suggestions": [[3.0, 1.0], [1.0, 2.0]]}).round(3)
    array([[1., 0.],
           [0., 1.]])
    """
    texts = [str(record["text"]), *map(str, record["suggestions"])]
    scores = _numbers([record["bm25"], *record["bm25_suggestions"]])[: len(texts)]
    words = list(dict.fromkeys(word for text in texts for word in text.split()))
    counts = np.array([[text.split().count(word) for word in words] for text in texts[: len(scores)]], dtype=np.float64)
    contributions = np.linalg.pinv(counts) @ scores
    contributions[np.abs(contributions) < NOTHING] = 0.0
    own = np.array([word not in texts[0].split() for word in words])
    answers = np.clip((counts[1:] * own) @ contributions if len(scores) > 1 else 0.0 * scores, 0.0, None)
    return (answers / (answers.max(axis=1, keepdims=True) + 1e-9)).T


def _numbers(rows: Any) -> Floats:
    """Returns scores as floats, with 0 for missing ones."""
    return np.array([[0.0 if value is None else float(value) for value in row] for row in rows])
