"""Linear policies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.saved import saved_as
from listwright._kernels.rows import crossed_scores, linear_scores
from listwright.errors import InputError
from listwright.features import Rows
from listwright.policies.base import Contributions, Policy


@saved_as("policies.Linear")
@dataclass(frozen=True, eq=False)
class Linear(Policy):
    """Scores rows by a weighted sum of their features: score = weights . v.

    If features are crossed with item identity, each item's own weights times the state are added. The policy of the
    ridge, gradient and ranking learners. With built-in features its lists are built in compiled code, and it can be
    explained exactly.

    Attributes
    ----------
    weights : ndarray of float, shape (features,)
        The weight of each column.
    item_weights : ndarray of float, shape (items, z), or None
        The weights of each item for the features of the state.

    See Also
    --------
    Estimator : For learners that are not linear.

    Examples
    --------
    >>> rows = Rows(np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32), np.array([0, 0]), np.array([0, 2]))
    >>> Linear(np.array([0.5, 2.0])).score(rows)
    array([0.5, 2. ])
    """

    weights: Floats
    item_weights: Floats | None = None

    def validation_error(self) -> str:
        own = self.item_weights
        return "" if self.weights.ndim == 1 and (own is None or own.ndim == 2) else "weights are of the wrong shape"

    def score(self, rows: Rows) -> Floats:
        if rows.table.shape[1] != len(self.weights):
            raise InputError(f"This policy has {len(self.weights)} weights. Got {rows.table.shape[1]} features.")
        scores = linear_scores(rows.table, self.weights)
        if self.item_weights is not None and rows.crossed is not None:
            scores += crossed_scores(rows.crossed.items, rows.owners, rows.crossed.states, self.item_weights)
        return scores

    def linear(self) -> list[Linear]:
        return [self]

    def arrays(self) -> dict[str, Floats]:
        own = self.item_weights
        return {"weights": self.weights} | ({} if own is None else {"item_weights": np.ascontiguousarray(own)})

    def contributions(self, rows: Rows) -> Contributions:
        columns = rows.table.astype(np.float64) * self.weights
        if self.item_weights is None or rows.crossed is None:
            return Contributions(columns)
        own = self.item_weights[np.minimum(rows.crossed.items, len(self.item_weights) - 1)]
        own = np.where((rows.crossed.items < len(self.item_weights))[:, None], own, 0.0)
        crossed = rows.crossed.states[rows.owners].astype(np.float64) * own
        two = np.stack([crossed[:, 0], crossed[:, 1:].sum(axis=1)], axis=1)
        return Contributions(columns, two, ("the item itself", "the item in this state"))
