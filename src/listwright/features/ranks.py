"""Ranks of numbers among those of the training states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Floats32
from listwright._internal.saved import saved_as

MOST_KNOTS = 1001


@saved_as("features.Ranks")
class Ranks(NamedTuple):
    """Columns as ranks: heavy-tailed values are spread evenly, so that distances and random splits resolve them."""

    knots: Floats  # (knots, columns): sorted training values, or as many evenly spaced ones

    def validation_error(self) -> str:
        """Return what is wrong with ranks read from a file, "" for nothing."""
        if self.knots.ndim != 2 or not len(self.knots):
            return "ranks must have knots"
        return "" if (np.diff(self.knots, axis=0) >= 0).all() else "knots must be sorted"

    @classmethod
    def of(cls, table: Floats32) -> Ranks:
        """Knots from a table of training states."""
        values = np.sort(table.astype(np.float64), axis=0)
        some = np.linspace(0, len(values) - 1, min(len(values), MOST_KNOTS)).round().astype(np.int64)
        return cls(values[some])

    def apply(self, table: Floats32) -> Floats:
        """Middle ranks, scaled to run evenly from -sqrt(3) to sqrt(3), so that their variance is 1."""
        ranks = np.empty(table.shape)
        for column, knots, values in zip(ranks.T, self.knots.T, table.T.astype(np.float64), strict=True):
            column[:] = np.searchsorted(knots, values, "left") + np.searchsorted(knots, values, "right")
        return (ranks / len(self.knots) - 1.0) * np.sqrt(3.0)
