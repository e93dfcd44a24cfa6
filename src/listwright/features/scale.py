"""Scales of columns: means and deviations of the training candidates, and which columns tell anything."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, Floats32, Ints
from listwright._internal.saved import saved_as
from listwright.errors import InputError


class Moments(NamedTuple):
    n_rows: int
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, table: Floats32) -> Self:
        mean = table.mean(axis=0, dtype=np.float64, keepdims=True)
        return cls(len(table), mean[0], len(table) * table.var(axis=0, dtype=np.float64, mean=mean))

    def merge(self, other: Self) -> Self:
        """Those of the rows of both (Chan, Golub and LeVeque 1979)."""
        n_rows, apart = self.n_rows + other.n_rows, other.mean - self.mean
        mean = self.mean + apart * (other.n_rows / n_rows)
        squares = self.squares + other.squares + apart**2 * (self.n_rows * other.n_rows / n_rows)
        return type(self)(n_rows, mean, squares)


class Distinct(NamedTuple):
    alike: Ints  # by column: columns with the same number are the same
    first: Floats32  # the first row
    varies: Bools  # whether any row differs from the first

    @classmethod
    def of(cls, table: Floats32) -> Self:
        alike = np.unique(table, axis=1, return_inverse=True)[1].ravel()
        return cls(alike, table[0], (table != table[0]).any(axis=0))

    def merge(self, other: Self) -> Self:
        both = np.stack([self.alike, other.alike])
        alike = np.unique(both, axis=1, return_inverse=True)[1].ravel()
        return type(self)(alike, self.first, self.varies | other.varies | (self.first != other.first))

    def telling(self) -> Ints:
        """Return the columns that vary and do not repeat an earlier one.

        >>> Distinct.of(np.array([[1, 5, 5, 2], [1, 6, 6, 2], [1, 5, 5, 3]], dtype=np.float32)).telling()
        array([1, 3])
        """
        _, first = np.unique(self.alike, return_index=True)
        return np.sort(first[self.varies[first]])


def merge(left: Any, other: Any) -> Any:
    """Return the summary of two parts."""
    # Dicts and lists are merged entry by entry, objects by their own `merge`, of two numbers the larger is taken, and
    # anything else must be the same in both.
    if isinstance(left, dict):
        return {name: merge(entry, other[name]) for name, entry in left.items()}
    if isinstance(left, list):
        return [merge(a, b) for a, b in zip(left, other, strict=True)]
    if isinstance(left, int):
        return max(left, other)
    return left.merge(other) if hasattr(left, "merge") else left


@saved_as("features.Scale")
class Scale(NamedTuple):
    """Means and standard deviations of training columns, part of the model."""

    mean: Floats32  # what is subtracted, and what the result is divided by
    spread: Floats32

    def validation_error(self) -> str:
        if self.mean.ndim != 1 or self.mean.shape != self.spread.shape:
            return "means and spreads must be equal in number"
        return "" if (self.spread > 0).all() else "spreads must be above 0"

    @classmethod
    def of(cls, table: Any, *, standardize: bool = True) -> Scale:
        return cls.from_moments(Moments.of(dense(table)), standardize=standardize)

    @classmethod
    def from_moments(cls, moments: Moments, *, standardize: bool = True) -> Scale:
        if not standardize:
            return cls(np.zeros(len(moments.mean), np.float32), np.ones(len(moments.mean), np.float32))
        mean, spread = moments.mean, np.sqrt(moments.squares / moments.n_rows)
        flat = spread <= 1e-6 * np.maximum(np.abs(mean), 1e-30)
        return cls(mean.astype(np.float32), np.where(flat, 1.0, spread).astype(np.float32))

    def apply(self, table: Any) -> Floats32:
        """As a C-contiguous float32 array: kernels add up in that order, whatever layout came in."""
        return np.ascontiguousarray((dense(table) - self.mean) / self.spread, dtype=np.float32)


def dense(table: Any, limit: float = 8e9) -> Floats32:
    if not sparse.issparse(table):
        return table
    if 4.0 * table.shape[0] * table.shape[1] > limit:
        raise InputError(
            f"Sparse features of {table.shape[0]} x {table.shape[1]} are too large for these policy features. "
            "Reduce the columns first, for example with scikit-learn's TruncatedSVD."
        )
    return table.toarray()
