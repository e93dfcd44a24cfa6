"""Similarities between candidates and targets, computed tile by tile, so that the whole matrix never exists."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Self

import numba
import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Floats32, Ints, first_bad
from listwright._internal.threads import one_thread
from listwright._kernels.tiles import add_capped_sums
from listwright.errors import InputError

BLOCK = 8192  # rows per block
LONGEST = 1e34  # squared length of rows whose products float32 can add up
DENSE = 4096  # sparse tables with at most this many columns are multiplied as dense blocks


def cut(n: int, step: int) -> list[slice]:
    """Return n rows as blocks of at most `step`."""
    return [slice(low, min(low + max(step, 1), n)) for low in range(0, n, max(step, 1))]


def map_blocks(work: Callable[[slice], Any], n: int, step: int) -> list[Any]:
    """Return work(block) for all blocks of n rows, measured by several threads, each with BLAS on one."""
    blocks = cut(n, step)
    with one_thread(), ThreadPoolExecutor(numba.get_num_threads()) as pool:
        return list(pool.map(work, blocks) if len(blocks) > 1 else map(work, blocks))


@dataclass(frozen=True, eq=False)
class Vectors:
    """Rows whose dot products or distances are the similarities. The table itself stays as it was passed."""

    table: Any  # the rows as they were passed
    inverse: Floats32  # the factor of each row: 1 / length for cosine, else 1
    squares: Floats  # squared length of each row as `take` returns it
    centre: Any = None  # for distances: the mean row, which `take` subtracts from dense rows; float64 if these are
    away: Floats | None = None  # for distances: the squared distance of each row from the centre
    ready: bool = False  # whether the rows of the table are already scaled and centred

    def __len__(self) -> int:
        return int(self.table.shape[0])

    @property
    def width(self) -> int:
        return int(self.table.shape[1])

    @property
    def wide(self) -> bool:
        """Whether `take` returns sparse rows."""
        return sparse.issparse(self.table) and self.width > DENSE

    def only(self, rows: Ints) -> Vectors:
        away = None if self.away is None else self.away[rows]
        return replace(self, table=self.table[rows], inverse=self.inverse[rows], squares=self.squares[rows], away=away)

    def take(self, rows: Ints | slice) -> Any:
        """Return some rows, scaled or centred: a float32 array, or CSR for a wide sparse table."""
        if sparse.issparse(self.table):
            some = sparse.csr_array(self.table[rows].astype(np.float32).multiply(self.inverse[rows][:, None]))
            return some if self.wide else some.toarray()
        if self.centre is not None and not self.ready:
            return (np.asarray(self.table[rows]) - self.centre).astype(np.float32, copy=False)
        block = np.asarray(self.table[rows], dtype=np.float32)
        return block if self.ready else block * self.inverse[rows][:, None]

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
        for block in cut(len(self), BLOCK):
            table[block] = self.take(block)
        return replace(self, table=table, ready=True)


def make_vectors(table: Any, metric: str, name: str = "vectors", centre: Any = None) -> Vectors:
    n = table.shape[0]
    with ThreadPoolExecutor(numba.get_num_threads()) as pool:
        squares = np.concatenate(list(pool.map(lambda low: _squares(table, low, name), range(0, n, BLOCK))))
    if metric != "cosine":
        rows = Vectors(table, np.ones(n, dtype=np.float32), squares)
        rows = rows if metric == "dot" else _centre(rows, _mean_row(table) if centre is None else centre)
        long = first_bad(rows.squares > LONGEST)
        if long is not None:
            what = f"The numbers of row {long} of {name} are too large for metric={metric!r} in float32"
            raise InputError(f"{what}. Divide all vectors by a number, or use metric='cosine'.")
        return rows
    zero = first_bad(squares == 0)
    if zero is not None:
        what = f"Row {zero} of {name} is all zeros, so it has no cosine"
        raise InputError(f"{what}. Leave such rows out, or use another metric.")
    return Vectors(table, (1.0 / np.sqrt(squares)).astype(np.float32), np.ones(n))


def _centre(rows: Vectors, centre: Any) -> Vectors:
    """Return vectors for distances. Dense rows are centred, which reduces rounding; sparse rows stay as they are."""
    if sparse.issparse(rows.table):
        from_mean = rows.squares - 2.0 * (rows.table @ centre.astype(np.float64)) + lengths_of(centre[None])
        return replace(rows, centre=centre, away=np.maximum(from_mean, 0.0))
    rows = replace(rows, centre=centre)
    away = np.concatenate([lengths_of(rows.take(block)) for block in cut(len(rows), BLOCK)])
    return replace(rows, squares=away, away=away)


def _mean_row(table: Any) -> Any:
    """Return the mean of all rows, in float64 if the table is, so that what all rows share leaves no rounding."""
    total = np.zeros(table.shape[1])
    for block in cut(table.shape[0], BLOCK):
        total += np.asarray(table[block].sum(axis=0, dtype=np.float64)).reshape(-1)
    return (total / table.shape[0]).astype(np.float64 if table.dtype.itemsize == 8 else np.float32)


def as_dense(rows: Any, dtype: Any = np.float32) -> Any:
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=dtype)


def lengths_of(block: Any) -> Floats:
    return np.einsum("ij,ij->i", block, block, dtype=np.float64)


def _squares(table: Any, low: int, name: str) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large for float32 is refused below
        some = table[low : low + BLOCK]
        if sparse.issparse(some):
            some = some.astype(np.float32).astype(np.float64)
            squares = np.asarray(some.multiply(some).sum(axis=1)).reshape(-1)
        else:
            squares = lengths_of(np.asarray(some, dtype=np.float32))
    bad = first_bad(~np.isfinite(squares))
    if bad is not None:
        raise InputError(_not_finite(table, low + bad, name))
    return squares


def _not_finite(table: Any, row: int, name: str) -> str:
    numbers = table[[row]].toarray()[0] if sparse.issparse(table) else np.asarray(table[row], dtype=np.float64)
    with np.errstate(over="ignore"):
        column = first_bad(~np.isfinite(numbers.astype(np.float32))) or 0
    return f"Number {column} of row {row} of {name} is {numbers[column]}. Vectors must be finite numbers in float32."


TARGETS = 256  # targets of a tile
CANDIDATES = 512  # candidates of a tile
GATHERED = 8192  # candidates whose vectors are gathered at a time
LEAST = 32  # BLAS treats products with fewer rows differently, and rounds differently
NOISE = 1e-6  # rises below this share of the largest similarity are rounding

Measure = Callable[[Any, int, int, Floats], None]  # (tile, first target, end of targets, sums by candidate)


class SimilarityMatrix(ABC):
    """Base class: how similar candidate j is to target i. Negative values count as 0."""

    n: int
    n_targets: int
    ceiling: float  # no similarity is higher
    of_candidates: Vectors  # unless similarities are given
    batch = 64  # rows that are worth measuring together

    @abstractmethod
    def candidates(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        """Return what `tile` needs of some candidates."""

    @abstractmethod
    def targets(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        """Return what `tile` needs of some targets."""

    @abstractmethod
    def tile(self, candidates: Any, targets: Any) -> Any:
        """Return the similarities of shape (candidates, targets), in the dtype that both were requested in."""

    @abstractmethod
    def gain_bounds(self, weights: Floats) -> Floats:
        """Return by candidate an upper bound on the weighted sum of its positive similarities."""

    @abstractmethod
    def only(self, targets: Ints) -> SimilarityMatrix:
        """Return the same similarity to some of the targets."""

    def among(self, candidates: Ints) -> SimilarityMatrix:
        """Return the same similarity for some of the candidates."""
        return self.copy(of_candidates=self.of_candidates.only(candidates), n=len(candidates))

    @abstractmethod
    def own(self) -> Floats:
        """Return the similarity of each candidate to itself."""

    def squared_distances(self, similar: Floats) -> Floats:
        return 2.0 - 2.0 * similar

    def squared_between(self, row: int, others: Ints) -> Floats:
        """Return the squared distances of one row to some others, in float64."""
        candidate, squared = self.candidates(np.array([row]), np.float64), np.empty(len(others))
        for block in cut(len(others), GATHERED):
            similar = self.tile(candidate, self.targets(others[block], np.float64))[0]
            squared[block] = self.squared_distances(similar)
        return squared

    def column(self, row: int) -> Floats32:
        """Return the similarities of one candidate to all targets, with one read of the targets."""
        candidate, similar = self.candidates(np.array([row])), np.empty(self.n_targets, dtype=np.float32)

        def work(block: slice) -> None:
            similar[block] = self.tile(candidate, self.targets(block))[0]

        map_blocks(work, self.n_targets, GATHERED)
        return similar

    def capped_sums(self, rows: Ints, capacity: Floats, weights: Floats) -> Floats:
        """Return by candidate the weighted sum over targets of its similarity, from 0 up to the target's capacity."""

        def measure(tile: Floats32, low: int, high: int, sums: Floats) -> None:
            add_capped_sums(tile, capacity[low:high], weights[low:high], sums)

        return sweep(self, rows, None, measure)

    def totals(self) -> Floats:
        totals = np.zeros(self.n_targets)

        def measure(tile: Floats32, first: int, end: int, sums: Floats) -> None:
            totals[first:end] += np.maximum(tile, 0.0).sum(axis=0, dtype=np.float64)

        for block in cut(self.n, GATHERED):
            sweep(self, np.arange(block.start, block.stop), None, measure)
        return totals

    def copy(self, **changes: Any) -> Self:
        twin = copy.copy(self)
        twin.__dict__.update(changes)
        return twin

    @property
    def noise(self) -> float:
        """The largest rise of a similarity that may be rounding alone."""
        return NOISE * self.ceiling


class Dots(SimilarityMatrix):
    """Dot products of two sets of vectors; cosines if the vectors have length 1."""

    def __init__(self, candidates: Vectors, targets: Vectors) -> None:
        self.of_candidates, self.of_targets = candidates, targets
        self.n, self.n_targets = len(candidates), len(targets)
        self.ceiling = float(np.sqrt(candidates.squares.max() * targets.squares.max()))

    def candidates(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        return _rows(self.of_candidates, rows, dtype)

    def targets(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        return _rows(self.of_targets, rows, dtype)

    def own(self) -> Floats:
        return self.of_candidates.squares

    def tile(self, candidates: Any, targets: Any) -> Any:
        product = candidates @ targets.T
        return product.toarray() if sparse.issparse(product) else product

    def only(self, targets: Ints) -> Dots:
        return Dots(self.of_candidates, self.of_targets.only(targets))

    def gain_bounds(self, weights: Floats) -> Floats:
        """Return upper bounds with n d^2 operations instead of n^2 d."""
        if self.of_targets.width > self.n_targets or self.of_targets.wide:
            return np.full(self.n, np.inf)
        total, gram = weighted_moments(self.of_targets, weights)
        bounds = np.empty(self.n)
        for block in cut(self.n, GATHERED):
            rows = self.of_candidates.take(block).astype(np.float64)
            square = np.einsum("ij,ij->i", rows @ gram, rows)
            bounds[block] = 0.5 * (rows @ total + np.sqrt(weights.sum() * np.maximum(square, 0.0)))
        return bounds * (1 + NOISE) + NOISE * self.ceiling * weights.sum()


class Distances(SimilarityMatrix):
    """exp(-gamma * squared distance) or, with gamma = 0, a ceiling minus the squared distance."""

    def __init__(self, candidates: Vectors, targets: Vectors, gamma: float = 0.0) -> None:
        self.of_candidates, self.of_targets, self.gamma = candidates, targets, gamma
        self.n, self.n_targets = len(candidates), len(targets)
        assert candidates.away is not None
        assert targets.away is not None
        far = max(float(candidates.away.max()), float(targets.away.max()))
        self.ceiling = 1.0 if gamma > 0 else 4.0 * far

    def candidates(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        return _rows(self.of_candidates, rows, dtype), self.of_candidates.squares[rows].astype(dtype)

    def targets(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        return _rows(self.of_targets, rows, dtype), self.of_targets.squares[rows].astype(dtype)

    def own(self) -> Floats:
        return np.full(self.n, self.ceiling)

    def squared_distances(self, similar: Floats) -> Floats:
        """Return the squared distances; for rbf those of the kernel's own space."""
        return 2.0 - 2.0 * similar if self.gamma > 0 else self.ceiling - similar

    def tile(self, candidates: Any, targets: Any) -> Any:
        (left, ones), (other, others) = candidates, targets
        product = left @ other.T
        squared = product.toarray() if sparse.issparse(product) else product
        squared *= -2.0
        squared += ones[:, None]
        squared += others
        np.maximum(squared, 0.0, out=squared)
        if self.gamma == 0:
            return np.subtract(self.ceiling, squared, out=squared)
        squared *= -self.gamma
        return np.exp(squared, out=squared)

    def only(self, targets: Ints) -> Distances:
        return self.copy(of_targets=self.of_targets.only(targets), n_targets=len(targets))

    def gain_bounds(self, weights: Floats) -> Floats:
        """Return the exact sums for plain distances, from the moments of the targets; for rbf, a trivial bound."""
        if self.gamma > 0 or self.of_targets.wide:
            return np.full(self.n, self.ceiling * weights.sum())
        total, away = np.zeros(self.of_targets.width), np.empty(self.n)
        for block in cut(self.n_targets, GATHERED):
            total += weights[block] @ self.of_targets.take(block)
        for block in cut(self.n, GATHERED):
            away[block] = self.of_candidates.take(block) @ total
        squared = weights.sum() * self.of_candidates.squares + weights @ self.of_targets.squares - 2 * away
        return (self.ceiling * weights.sum() - squared) * (1 + NOISE) + NOISE * self.ceiling * weights.sum()


class Given(SimilarityMatrix):
    """A matrix of similarities of shape (candidates, targets) that the user passed."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.n, self.n_targets = table.shape
        self.ceiling = max(float(table.max()), 0.0)

    @property
    def noise(self) -> float:
        return 0.0

    def candidates(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        some = self.table[rows]
        return (some.toarray() if sparse.issparse(some) else some).astype(dtype, copy=False)

    def targets(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        return rows

    def own(self) -> Floats:
        return np.asarray(self.table.diagonal(), dtype=np.float64)

    def tile(self, candidates: Any, targets: Any) -> Any:
        return np.ascontiguousarray(candidates[:, targets])

    def only(self, targets: Ints) -> Given:
        return Given(self.table[:, targets])

    def among(self, candidates: Ints) -> Given:
        return Given(self.table[candidates])

    def gain_bounds(self, weights: Floats) -> Floats:
        sums = np.empty(self.n)
        for block in cut(self.n, CANDIDATES):
            sums[block] = np.maximum(self.table[block], 0.0) @ weights
        return sums * (1 + NOISE)


def _rows(vectors: Vectors, rows: Ints | slice, dtype: Any) -> Any:
    return vectors.doubles(rows) if dtype == np.float64 else vectors.take(rows)


def weighted_moments(vectors: Vectors, weights: Floats) -> tuple[Floats, Floats]:
    total, gram = np.zeros(vectors.width), np.zeros((vectors.width, vectors.width))
    for block in cut(len(vectors), GATHERED):
        rows = vectors.take(block)
        weighted = rows * weights[block, None].astype(np.float32)
        total += weighted.sum(axis=0, dtype=np.float64)
        gram += weighted.T @ rows
    return total, gram


def sweep(similarity: SimilarityMatrix, candidates: Ints, targets: Ints | None, measure: Measure) -> Floats:
    """Sum over targets, tile by tile, what `measure` finds for each candidate."""
    n_targets, sums = similarity.n_targets if targets is None else len(targets), np.zeros(len(candidates))
    if n_targets == 0 or len(candidates) == 0:
        return sums
    for block in cut(len(candidates), GATHERED):
        sums[block] = _band(similarity, candidates[block], targets, n_targets, measure)
    return sums


def _band(similarity: SimilarityMatrix, rows: Ints, targets: Ints | None, n_targets: int, measure: Measure) -> Floats:
    """Return the sums for as many candidates as are gathered at a time."""
    gathered = similarity.candidates(rows)

    def work(block: slice) -> Floats:
        some = _pad(similarity.targets(block if targets is None else targets[block]), slice(0, TARGETS))
        sums = np.zeros(len(rows))
        for part in cut(len(rows), CANDIDATES):
            tile = similarity.tile(_pad(gathered, part), some)
            measure(tile[: part.stop - part.start, : block.stop - block.start], block.start, block.stop, sums[part])
        return sums

    return np.sum(map_blocks(work, n_targets, TARGETS), axis=0)


def _pad(gathered: Any, rows: slice) -> Any:
    """Return a part of what was gathered, padded with zeros if it is so small that BLAS would round differently."""
    if isinstance(gathered, tuple):
        return tuple(_pad(part, rows) for part in gathered)
    if isinstance(gathered, slice):
        return gathered
    some = gathered[rows]
    missing = LEAST - some.shape[0]
    if missing <= 0 or some.dtype.kind != "f":
        return some
    if sparse.issparse(some):
        return sparse.vstack([some, sparse.csr_array((missing, some.shape[1]), dtype=some.dtype)], format="csr")
    return np.concatenate([some, np.zeros((missing, *some.shape[1:]), dtype=some.dtype)])
