"""Importance weights for training on logs, and the warning for logs that carry little evidence."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.warn import warn
from listwright.errors import Notice
from listwright.feedback.answered import AnsweredLists


class EvidenceWarning(Notice):
    """Issued when a log says less than its length suggests: propensities are missing, or few lists match.

    Filter it with `warnings.filterwarnings("error", category=EvidenceWarning)` to stop a pipeline on weak evidence.

    See Also
    --------
    evaluate : Issues it for logs without propensities, or with few matching lists.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", EvidenceWarning)  # weak evidence stops the pipeline
    """


def importance(logged: AnsweredLists, cap: float) -> Floats:
    """Return the weight of each shown item, of shape (lists, positions): 1 / (open items * propensity), at most `cap`.

    With these weights, shown items count as if all open candidates had been equally likely. The weight is 1 where the
    propensity is unknown. The cap bounds the variance at the price of some bias.
    """
    open_rows = logged.problems.counts[:, None] - np.arange(logged.rows.shape[1])
    weights = np.minimum(cap, 1.0 / (np.maximum(open_rows, 1) * logged.propensities))
    return np.where(np.isnan(weights), 1.0, weights)


def warn_missing(missing: int, total: int, what_then: str) -> None:
    """Warn that `missing` of `total` lists have no propensities; `what_then` says how they are treated."""
    warn(
        f"{missing:,} of {total:,} lists have no propensities; they {what_then}.",
        EvidenceWarning,
    )
