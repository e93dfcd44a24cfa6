"""Scales of columns: means and deviations of the training candidates, and which columns tell anything."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats32, Ints
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features.moments import Distinct, Moments


@saved_as("features.Scale")
class Scale(NamedTuple):
    """Means and standard deviations of training columns, part of the model."""

    mean: Floats32  # what is subtracted, and what the result is divided by
    spread: Floats32

    def validation_error(self) -> str:
        """Return what is wrong with a scale read from a file, "" for nothing."""
        if self.mean.ndim != 1 or self.mean.shape != self.spread.shape:
            return "means and spreads must be equal in number"
        return "" if (self.spread > 0).all() else "spreads must be above 0"

    @classmethod
    def of(cls, table: Any, *, standardize: bool = True) -> Scale:
        """Return the scale of a table's columns; mean 0 and spread 1 with `standardize=False`."""
        return cls.from_moments(Moments.of(dense(table)), standardize=standardize)

    @classmethod
    def from_moments(cls, moments: Moments, *, standardize: bool = True) -> Scale:
        """Return the same from moments, which can be merged over parts of the data."""
        if not standardize:
            return cls(np.zeros(len(moments.mean), np.float32), np.ones(len(moments.mean), np.float32))
        mean, spread = moments.mean, np.sqrt(moments.squares / moments.n_rows)
        flat = spread <= 1e-6 * np.maximum(np.abs(mean), 1e-30)
        return cls(mean.astype(np.float32), np.where(flat, 1.0, spread).astype(np.float32))

    def apply(self, table: Any) -> Floats32:
        """(table - mean) / spread as a C-contiguous float32 array: kernels add up in that order, whatever layout came
        in.
        """
        return np.ascontiguousarray((dense(table) - self.mean) / self.spread, dtype=np.float32)


def telling(table: Floats32) -> Ints:
    """Indices of the columns that vary over the training problems and do not repeat an earlier one.

    Examples
    --------
    >>> telling(np.array([[1, 5, 1, 2], [1, 6, 1, 2], [1, 5, 1, 3]]).astype(np.float32)[:, [0, 1, 1, 3]])
    array([1, 3])
    """
    return Distinct.of(table).telling()


def dense(table: Any, limit: float = 8e9) -> Floats32:
    """Return a sparse table as a dense one; dense tables are returned as they are."""
    if not sparse.issparse(table):
        return table
    if 4.0 * table.shape[0] * table.shape[1] > limit:
        raise InputError(
            f"Sparse features of {table.shape[0]} x {table.shape[1]} are too large for these policy features. "
            "Reduce the columns first, for example with scikit-learn's TruncatedSVD."
        )
    return table.toarray()
