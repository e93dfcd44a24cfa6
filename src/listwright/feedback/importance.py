"""Weights that turn what one policy showed into what another would have, and warnings where they carry little."""

from __future__ import annotations

import warnings

import numpy as np

from listwright._internal.arrays import Floats
from listwright.feedback.records import Record


class EvidenceWarning(UserWarning):
    """A log says less than its length suggests."""


def importance(record: Record, cap: float) -> Floats:
    """By revealed position: even odds among the open items over the propensity, at most `cap`; 1 where not known.

    >>> from listwright.problems import Problems
    >>> problem = Problems.from_arrays([[0.1], [0.2], [0.3]], offsets=[0, 3])
    >>> record = Record.of("a", problem, picks=[2, 0], propensities=[2 / 3, 0.25], outcomes=[1, 0])
    >>> importance(record, cap=10.0)
    array([0.5, 2. ])
    """
    seen = len(record.outcomes)
    open_rows = record.problem.n_rows - np.arange(seen)
    weights = np.minimum(cap, 1.0 / (open_rows * record.propensities[:seen]))
    return np.where(np.isnan(weights), 1.0, weights)


def warn_missing(missing: int, total: int, what_then: str) -> None:
    """Says that propensities are missing."""
    warnings.warn(
        f"{missing:,} of {total:,} lists have no propensities; they {what_then}.", EvidenceWarning, stacklevel=3
    )
