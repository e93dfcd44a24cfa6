"""Adjusts the policy's scores where the caller gives retriever scores or embeddings with the passages.

The shipped policy was trained on texts alone. Scores and embeddings come on unknown scales and of unknown quality, so
that each is first reduced to what it says beyond shared words, then trusted as far as it agrees with the policy.
"""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.linalg import solve
from listwright.context.passages import Passages
from listwright.text.passages import PassageFeatures

TOLD = ("bm25", "cosine", "question_words")  # what a retriever's score may repeat
PENALTY = 1.0  # of the regression on these, in passages
CAUTION = 0.7  # what a unit of log odds counts, in spreads of the model's scores
LEAST_SPREAD = 0.3


def bonus_of(given: Passages, found: PassageFeatures, alone: Floats) -> Floats:
    """Compute for each passage what to add to its score at every position of the walk."""
    bonus = np.zeros(len(given))
    if len(given) < 3 or alone.std() == 0:
        return bonus
    likely = (alone - alone.min()) / (alone.max() - alone.min())
    for signal in signals_of(given):
        news = _beyond_words(signal, found)
        share = float(likely.mean())
        apart = float(news @ likely / likely.sum() - news @ (1 - likely) / max((1 - likely).sum(), 1e-9))
        spread = max(1.0 - share * (1.0 - share) * apart**2, LEAST_SPREAD)
        bonus += CAUTION * float(alone.std()) * max(apart, 0.0) / spread * news
    return bonus


def signals_of(given: Passages) -> list[Floats]:
    """Return the given scores and the cosine to the question, each standardised to mean 0 and standard deviation 1."""
    signals = [] if given.scores is None else [given.scores]
    if given.embeddings is not None and given.query_embedding is not None:
        lengths = np.linalg.norm(given.embeddings, axis=1) * np.linalg.norm(given.query_embedding)
        signals.append(given.embeddings @ given.query_embedding / np.maximum(lengths, 1e-12))
    return [(signal - signal.mean()) / signal.std() for signal in signals if signal.std() > 0]


def _beyond_words(signal: Floats, found: PassageFeatures) -> Floats:
    """Return the residual of a ridge regression of the signal on BM25, tf-idf cosine and the share of question
    words.
    """
    # What a retriever's score merely repeats of these columns is known to the policy already and must not count twice.
    told = found.table[:, [found.names.index(name) for name in TOLD]].astype(np.float64)
    told = (told - told.mean(axis=0)) / np.maximum(told.std(axis=0), 1e-9)
    weights = solve(told.T @ told + PENALTY * np.eye(len(TOLD)), told.T @ signal)
    return np.asarray(signal - told @ weights)
