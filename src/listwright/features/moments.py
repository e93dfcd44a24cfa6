"""Summaries of training problems, taken part by part and merged.

A summary is a dict of moments, of facts about columns, and of numbers; problems in memory are one part, streamed ones
as many as there are shards. `Features.fit_from_summary` learns from the merged summary.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Bools, Floats, Floats32, Ints


class Moments(NamedTuple):
    """Number of rows, means and summed squared deviations of columns."""

    n_rows: int
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, table: Floats32) -> Self:
        """Moments of a table's columns, summed in float64."""
        mean = table.mean(axis=0, dtype=np.float64)
        return cls(len(table), mean, len(table) * table.var(axis=0, dtype=np.float64))

    def merged(self, other: Self) -> Self:
        """Those of the rows of both (Chan, Golub and LeVeque 1979)."""
        n_rows, apart = self.n_rows + other.n_rows, other.mean - self.mean
        mean = self.mean + apart * (other.n_rows / n_rows)
        squares = self.squares + other.squares + apart**2 * (self.n_rows * other.n_rows / n_rows)
        return type(self)(n_rows, mean, squares)


class Distinct(NamedTuple):
    """Which columns vary, and which equal another."""

    alike: Ints  # by column: columns with the same number are the same
    first: Floats32  # the first row
    varies: Bools  # whether any row differs from the first

    @classmethod
    def of(cls, table: Floats32) -> Self:
        """Of a table's columns."""
        alike = np.unique(table, axis=1, return_inverse=True)[1].ravel()
        return cls(alike, table[0], (table != table[0]).any(axis=0))

    def merged(self, other: Self) -> Self:
        """Columns are equal where they are equal in both parts."""
        both = np.stack([self.alike, other.alike])
        alike = np.unique(both, axis=1, return_inverse=True)[1].ravel()
        return type(self)(alike, self.first, self.varies | other.varies | (self.first != other.first))

    def telling(self) -> Ints:
        """Return the columns that vary and do not repeat an earlier one."""
        _, first = np.unique(self.alike, return_index=True)
        return np.sort(first[self.varies[first]])


def merged(one: Any, other: Any) -> Any:
    """Return the summary of two parts."""
    # Dicts and lists are merged entry by entry, objects by their own `merged`, of two numbers the larger is taken, and
    # anything else must be the same in both.
    if isinstance(one, dict):
        return {name: merged(entry, other[name]) for name, entry in one.items()}
    if isinstance(one, list):
        return [merged(a, b) for a, b in zip(one, other, strict=True)]
    if isinstance(one, int):
        return max(one, other)
    return one.merged(other) if hasattr(one, "merged") else one
