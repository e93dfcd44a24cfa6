"""Estimates how much memory learning takes, before it starts."""

from __future__ import annotations

from listwright._internal.ragged import FOLDS
from listwright.estimators.basis import AT_ONCE, EXACT, RANK
from listwright.estimators.wide import WIDE
from listwright.learners import as_learner
from listwright.problems import Problems
from listwright.tables import Scan

COPIES = 16  # measured: 4-byte copies of a batch's columns at the peak
SUMS = FOLDS + 3  # tables of products: one per fold, and those that a solution takes
SMALL = 2 << 20  # what the smallest of wide tables takes
NEW = 49  # columns that many are summed up in


def learning_bytes(problems: Problems | Scan) -> int:
    """About how many bytes learning takes beside the problems themselves, for a linear policy."""
    if not isinstance(problems, Problems):
        return problems.max_memory
    context = 0 if problems.context is None else problems.context.shape[1]
    if problems.n_features <= WIDE:
        return _narrow(problems, problems.n_features + context)
    rows, columns = problems.n_rows, problems.n_features
    rank = columns if columns <= EXACT and columns <= rows else rows if rows <= EXACT else RANK
    summing_up = SMALL + 8 * rows * columns + 8 * SUMS * rank**2 + 8 * min(rows, AT_ONCE) * columns
    return max(summing_up, _narrow(problems, NEW + context))


def _narrow(problems: Problems, columns: int) -> int:
    """Estimate the bytes for a table of few columns."""
    row = 4 * columns
    batch = as_learner("ridge").batch_size(len(problems), problems.n_rows) / len(problems) * problems.n_rows
    return int(2 * row * problems.n_rows + COPIES * row * batch + 8 * SUMS * (3 * columns + 2) ** 2)
