"""Vectors as a metric sees them: scaled or centred, one block of float32 at a time."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numba
import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Floats32, Ints, first_bad
from listwright.errors import InputError

BLOCK = 8192  # rows per block
DENSE = 4096  # sparse tables with at most this many columns are multiplied as dense blocks


@dataclass(frozen=True, eq=False)
class Vectors:
    """Rows whose dot products or distances are the similarities. The table itself stays as it was passed."""

    table: Any  # the rows as they were passed
    inverse: Floats32  # the factor of each row: 1 / length for cosine, else 1
    squares: Floats  # squared length of each row as `take` returns it
    centre: Floats32 | None = None  # for distances: the mean row, which `take` subtracts from dense rows
    away: Floats | None = None  # for distances: the squared distance of each row from the centre
    ready: bool = False  # whether the rows of the table are already scaled and centred

    def __len__(self) -> int:
        """Number of rows."""
        return int(self.table.shape[0])

    @property
    def width(self) -> int:
        """Numbers per row."""
        return int(self.table.shape[1])

    @property
    def wide(self) -> bool:
        """Whether `take` returns sparse rows."""
        return sparse.issparse(self.table) and self.width > DENSE

    def only(self, rows: Ints) -> Vectors:
        """Return some rows, copied, with the same scaling and centre."""
        away = None if self.away is None else self.away[rows]
        return replace(self, table=self.table[rows], inverse=self.inverse[rows], squares=self.squares[rows], away=away)

    def take(self, rows: Ints | slice) -> Any:
        """Return some rows, scaled or centred: a float32 array, or CSR for a wide sparse table."""
        if sparse.issparse(self.table):
            some = sparse.csr_array(self.table[rows].astype(np.float32).multiply(self.inverse[rows][:, None]))
            return some if self.wide else some.toarray()
        block = np.asarray(self.table[rows], dtype=np.float32)
        if self.ready:
            return block
        return block * self.inverse[rows][:, None] if self.centre is None else block - self.centre

    def doubles(self, rows: Ints | slice) -> Any:
        """Return some rows in float64, with corrected lengths."""
        some = self.take(rows).astype(np.float64)
        squared = some.multiply(some) if sparse.issparse(some) else some * some
        lengths = np.asarray(squared.sum(axis=1)).reshape(-1)
        scale = np.sqrt(self.squares[rows] / np.where(lengths > 0, lengths, 1.0))[:, None]
        return sparse.csr_array(some.multiply(scale)) if sparse.issparse(some) else some * scale

    def prepare(self) -> Vectors:
        """Return the same vectors with all rows scaled or centred in memory, unless they are on disk or sparse."""
        if self.ready or sparse.issparse(self.table) or isinstance(self.table, np.memmap):
            return self
        table = np.empty(self.table.shape, dtype=np.float32)
        for low in range(0, len(self), BLOCK):
            table[low : low + BLOCK] = self.take(slice(low, min(low + BLOCK, len(self))))
        return replace(self, table=table, ready=True)


def make_vectors(table: Any, metric: str, name: str = "vectors", centre: Floats32 | None = None) -> Vectors:
    """Return the vectors of a table for a metric."""
    n = table.shape[0]
    with ThreadPoolExecutor(numba.get_num_threads()) as pool:
        squares = np.concatenate(list(pool.map(lambda low: _squares(table, low, name), range(0, n, BLOCK))))
    ones = np.ones(n, dtype=np.float32)
    if metric in ("rbf", "euclidean"):
        return _centre(table, squares, _mean_row(table) if centre is None else centre)
    if metric != "cosine":
        return Vectors(table, ones, squares)
    zero = first_bad(squares == 0)
    if zero is not None:
        raise InputError(
            f"Row {zero} of {name} is all zeros, so it has no cosine. Leave such rows out, or use another metric."
        )
    return Vectors(table, (1.0 / np.sqrt(squares)).astype(np.float32), np.ones(n))


def _centre(table: Any, squares: Floats, centre: Floats32) -> Vectors:
    """Return vectors for distances. Dense rows are centred, which reduces rounding; sparse rows stay as they are."""
    ones = np.ones(len(squares), dtype=np.float32)
    if sparse.issparse(table):
        away = squares - 2.0 * (table @ centre.astype(np.float64)) + float(centre.astype(np.float64) @ centre)
        return Vectors(table, ones, squares, centre, np.maximum(away, 0.0))
    away = np.concatenate([_lengths(np.asarray(part, np.float32) - centre) for part in _blocks(table)])
    return Vectors(table, ones, away, centre, away)


def _mean_row(table: Any) -> Floats32:
    """Return the mean of all rows."""
    total = np.zeros(table.shape[1])
    for block in _blocks(table):
        total += np.asarray(block.sum(axis=0, dtype=np.float64)).reshape(-1)
    return (total / table.shape[0]).astype(np.float32)


def _blocks(table: Any) -> Iterator[Any]:
    """Iterate over the table in blocks of `BLOCK` rows."""
    return (table[low : low + BLOCK] for low in range(0, table.shape[0], BLOCK))


def _lengths(block: Any) -> Floats:
    """Return the squared length of each row of a block."""
    return np.einsum("ij,ij->i", block, block, dtype=np.float64)


def _squares(table: Any, low: int, name: str) -> Floats:
    """Return the squared lengths of a block, or raises `InputError` that names the row and column of nan or inf."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large for float32 is refused below
        some = table[low : low + BLOCK]
        if sparse.issparse(some):
            some = some.astype(np.float32).astype(np.float64)
            found = np.asarray(some.multiply(some).sum(axis=1)).reshape(-1)
        else:
            found = _lengths(np.asarray(some, dtype=np.float32))
    bad = first_bad(~np.isfinite(found))
    if bad is not None:
        raise InputError(_not_finite(table, low + bad, name))
    return found


def _not_finite(table: Any, row: int, name: str) -> str:
    """Return the error message that names the first number of a row that is not finite in float32."""
    numbers = table[[row]].toarray()[0] if sparse.issparse(table) else np.asarray(table[row], dtype=np.float64)
    with np.errstate(over="ignore"):
        column = first_bad(~np.isfinite(numbers.astype(np.float32))) or 0
    return f"Number {column} of row {row} of {name} is {numbers[column]}. Vectors must be finite numbers in float32."
