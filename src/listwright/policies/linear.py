"""A weighted sum of what is seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.saved import saved_as
from listwright._kernels.linear import crossed_scores, linear_scores
from listwright.errors import InputError
from listwright.features import Rows
from listwright.policies.base import Contributions, Policy


@saved_as("policies.Linear")
@dataclass(frozen=True, eq=False)
class Linear(Policy):
    """score = weights . v, plus the item's own weights . state where features are crossed with identity."""

    weights: Floats
    item_weights: Floats | None = None  # (items, z)

    def flaw(self) -> str:
        """What is wrong with it, where it was read from a file."""
        own = self.item_weights
        return "" if self.weights.ndim == 1 and (own is None or own.ndim == 2) else "weights are of the wrong shape"

    def score(self, rows: Rows) -> Floats:
        """Summed in float64, row by row in the same order whatever the batch."""
        if rows.table.shape[1] != len(self.weights):
            raise InputError(f"This policy has {len(self.weights)} weights. Got {rows.table.shape[1]} features.")
        scores = linear_scores(rows.table, self.weights)
        if self.item_weights is not None and rows.crossed is not None:
            scores += crossed_scores(rows.crossed.items, rows.owners, rows.crossed.states, self.item_weights)
        return scores

    def contributions(self, rows: Rows) -> Contributions:
        """Weights times columns; of crossed columns, the item's own level apart from what the state adds to it."""
        columns = rows.table.astype(np.float64) * self.weights
        if self.item_weights is None or rows.crossed is None:
            return Contributions(columns)
        crossed = rows.crossed.states[rows.owners].astype(np.float64) * self.item_weights[rows.crossed.items]
        two = np.stack([crossed[:, 0], crossed[:, 1:].sum(axis=1)], axis=1)
        return Contributions(columns, two, ("the item itself", "the item in this state"))
