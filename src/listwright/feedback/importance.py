"""Weights that turn what one policy showed into what another would have, and warnings where they carry little."""

from __future__ import annotations

import warnings

import numpy as np

from listwright._internal.arrays import Floats
from listwright.feedback.log import Answered


class EvidenceWarning(UserWarning):
    """A log says less than its length suggests."""


def importance(logged: Answered, cap: float) -> Floats:
    """By shown item: even odds among the open items over the propensity, at most `cap`; 1 where not known.

    With such weights, what was shown counts as if all candidates had been equally likely.
    """
    open_rows = logged.problems.counts[:, None] - np.arange(logged.rows.shape[1])
    weights = np.minimum(cap, 1.0 / (np.maximum(open_rows, 1) * logged.propensities))
    return np.where(np.isnan(weights), 1.0, weights)


def warn_missing(missing: int, total: int, what_then: str) -> None:
    """Says that propensities are missing."""
    warnings.warn(
        f"{missing:,} of {total:,} lists have no propensities; they {what_then}.", EvidenceWarning, stacklevel=3
    )
