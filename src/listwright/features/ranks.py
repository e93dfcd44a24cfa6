"""Where a number stands among those of the training states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Floats32
from listwright._internal.saved import saved_as

MOST_KNOTS = 1001


@saved_as("features.Ranks")
class Ranks(NamedTuple):
    """Columns as ranks: what is heavy-tailed is spread evenly, so that distances and random cuts find it.

    Examples
    --------
    >>> ranks = Ranks.of(np.array([[1.0], [10.0], [100.0]], dtype=np.float32))
    >>> ranks.apply(np.array([[0.0], [10.0], [5000.0]], dtype=np.float32)).round(2).tolist()
    [[-1.73], [0.0], [1.73]]
    """

    knots: Floats  # (knots, columns): sorted training values, or as many evenly spaced ones

    def flaw(self) -> str:
        """What is wrong with it, where it was read from a file."""
        if self.knots.ndim != 2 or not len(self.knots):
            return "ranks must have knots"
        return "" if (np.diff(self.knots, axis=0) >= 0).all() else "knots must be sorted"

    @classmethod
    def of(cls, table: Floats32) -> Ranks:
        """From the training states."""
        values = np.sort(table.astype(np.float64), axis=0)
        some = np.linspace(0, len(values) - 1, min(len(values), MOST_KNOTS)).round().astype(np.int64)
        return cls(values[some])

    def apply(self, table: Floats32) -> Floats:
        """Middle ranks, even from -sqrt(3) to sqrt(3): their variance is 1."""
        ranks = np.empty(table.shape)
        for column, knots, values in zip(ranks.T, self.knots.T, table.T.astype(np.float64), strict=True):
            column[:] = np.searchsorted(knots, values, "left") + np.searchsorted(knots, values, "right")
        return (ranks / len(self.knots) - 1.0) * np.sqrt(3.0)
