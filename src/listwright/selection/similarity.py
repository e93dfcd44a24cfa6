"""Similarities between candidates and targets, computed tile by tile, so that the whole matrix never exists."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numba
import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.threads import one_thread
from listwright.selection.vectors import Vectors

TARGETS = 256  # targets of a tile
CANDIDATES = 512  # candidates of a tile
GATHERED = 8192  # candidates whose vectors are gathered at a time
LEAST = 32  # BLAS treats products with fewer rows differently, and rounds differently
NOISE = 1e-6  # rises below this share of the largest similarity are rounding

Measure = Callable[[Any, int, int, Floats], None]  # (tile, first target, end of targets, sums by candidate)


class SimilarityMatrix(ABC):
    """Base class: how similar candidate j is to target i. Negative values count as 0.

    Attributes
    ----------
    n, n_targets : int
        Number of candidates and of targets.
    ceiling : float
        No similarity is higher.
    """

    n: int
    n_targets: int
    ceiling: float

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

    @abstractmethod
    def among(self, candidates: Ints) -> SimilarityMatrix:
        """Return the same similarity for some of the candidates."""

    @abstractmethod
    def own(self) -> Floats:
        """Return the similarity of each candidate to itself."""

    def squared_distances(self, similar: Floats) -> Floats:
        """Return the squared distances that similarities stand for."""
        return 2.0 - 2.0 * similar

    def copy(self) -> Self:
        """Return a shallow copy whose parts may be replaced."""
        return copy.copy(self)

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
        """Return their vectors."""
        return _rows(self.of_candidates, rows, dtype)

    def targets(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        """Return their vectors."""
        return _rows(self.of_targets, rows, dtype)

    def own(self) -> Floats:
        """Return the squared lengths."""
        return self.of_candidates.squares

    def tile(self, candidates: Any, targets: Any) -> Any:
        """Return the dot products, at 2 d operations per pair."""
        product = candidates @ targets.T
        return product.toarray() if sparse.issparse(product) else product

    def only(self, targets: Ints) -> Dots:
        """Return the similarity to some of the targets, whose vectors are copied."""
        return Dots(self.of_candidates, self.of_targets.only(targets))

    def among(self, candidates: Ints) -> Dots:
        """Return the similarity for some of the candidates, whose vectors are copied."""
        some = Dots(self.of_candidates.only(candidates), self.of_targets)
        some.ceiling = self.ceiling
        return some

    def gain_bounds(self, weights: Floats) -> Floats:
        """Return upper bounds with n d^2 operations instead of n^2 d."""
        if self.of_targets.width > self.n_targets or self.of_targets.wide:
            return np.full(self.n, np.inf)
        total, gram = weighted_moments(self.of_targets, weights)
        bounds = np.empty(self.n)
        for low in range(0, self.n, GATHERED):
            block = self.of_candidates.take(slice(low, min(low + GATHERED, self.n))).astype(np.float64)
            square = np.einsum("ij,ij->i", block @ gram, block)
            bounds[low : low + GATHERED] = 0.5 * (block @ total + np.sqrt(weights.sum() * np.maximum(square, 0.0)))
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
        """Return their vectors and squared lengths."""
        return _rows(self.of_candidates, rows, dtype), self.of_candidates.squares[rows].astype(dtype)

    def targets(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        """Return their vectors and squared lengths."""
        return _rows(self.of_targets, rows, dtype), self.of_targets.squares[rows].astype(dtype)

    def own(self) -> Floats:
        """Return the ceiling, which is that of distance 0."""
        return np.full(self.n, self.ceiling)

    def squared_distances(self, similar: Floats) -> Floats:
        """Return the squared distances; for rbf those of the kernel's own space."""
        return 2.0 - 2.0 * similar if self.gamma > 0 else self.ceiling - similar

    def tile(self, candidates: Any, targets: Any) -> Any:
        """Return the similarities from |x - y|^2 = |x|^2 + |y|^2 - 2 x y."""
        (one, ones), (other, others) = candidates, targets
        product = one @ other.T
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
        """Return the similarity to some of the targets, with the same ceiling."""
        some = Distances(self.of_candidates, self.of_targets.only(targets), self.gamma)
        some.ceiling = self.ceiling
        return some

    def among(self, candidates: Ints) -> Distances:
        """Return the similarity for some of the candidates, with the same ceiling."""
        some = Distances(self.of_candidates.only(candidates), self.of_targets, self.gamma)
        some.ceiling = self.ceiling
        return some

    def gain_bounds(self, weights: Floats) -> Floats:
        """Return the exact sums for plain distances, from the moments of the targets; for rbf, a trivial bound."""
        if self.gamma > 0 or self.of_targets.wide:
            return np.full(self.n, self.ceiling * weights.sum())
        total, away = np.zeros(self.of_targets.width), np.empty(self.n)
        for low in range(0, self.n_targets, GATHERED):
            block = slice(low, min(low + GATHERED, self.n_targets))
            total += weights[block] @ self.of_targets.take(block)
        for low in range(0, self.n, GATHERED):
            block = slice(low, min(low + GATHERED, self.n))
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
        """0: the numbers are taken as exact."""
        return 0.0

    def candidates(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        """Return their rows of the matrix."""
        return self.table[rows].astype(dtype, copy=False)

    def targets(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        """Return the columns to use."""
        return rows

    def own(self) -> Floats:
        """Return the diagonal."""
        return np.asarray(self.table.diagonal(), dtype=np.float64)

    def tile(self, candidates: Any, targets: Any) -> Any:
        """Return a part of the matrix."""
        return np.ascontiguousarray(candidates[:, targets])

    def only(self, targets: Ints) -> Given:
        """Return the similarity to some of the targets, whose columns are copied."""
        return Given(self.table[:, targets])

    def among(self, candidates: Ints) -> Given:
        """Return the similarity for some of the candidates, whose rows are copied."""
        return Given(self.table[candidates])

    def gain_bounds(self, weights: Floats) -> Floats:
        """Return the sums, with one read of the matrix."""
        found = np.empty(self.n)
        for low in range(0, self.n, CANDIDATES):
            found[low : low + CANDIDATES] = np.maximum(self.table[low : low + CANDIDATES], 0.0) @ weights
        return found * (1 + NOISE)


def _rows(vectors: Vectors, rows: Ints | slice, dtype: Any) -> Any:
    """Return some rows as float32 or, with corrected lengths, as float64."""
    return vectors.doubles(rows) if dtype == np.float64 else vectors.take(rows)


def weighted_moments(vectors: Vectors, weights: Floats) -> tuple[Floats, Floats]:
    """Return the weighted sums of the rows x and of x x', block by block."""
    total, gram = np.zeros(vectors.width), np.zeros((vectors.width, vectors.width))
    for low in range(0, len(vectors), GATHERED):
        block = slice(low, min(low + GATHERED, len(vectors)))
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
    with one_thread(), ThreadPoolExecutor(numba.get_num_threads()) as pool:
        for low in range(0, len(candidates), GATHERED):
            rows = candidates[low : low + GATHERED]
            sums[low : low + GATHERED] = _band(similarity, rows, targets, n_targets, measure, pool)
    return sums


def _band(
    similarity: SimilarityMatrix,
    rows: Ints,
    targets: Ints | None,
    n_targets: int,
    measure: Measure,
    pool: ThreadPoolExecutor,
) -> Floats:
    """Return the sums for as many candidates as are gathered at a time."""
    gathered, starts = similarity.candidates(rows), range(0, n_targets, TARGETS)
    parts = np.zeros((len(starts), len(rows)))

    def work(part: int) -> None:
        low, high = starts[part], min(starts[part] + TARGETS, n_targets)
        some = _cut(similarity.targets(slice(low, high) if targets is None else targets[low:high]), 0, TARGETS)
        for first in range(0, len(rows), CANDIDATES):
            end = min(first + CANDIDATES, len(rows))
            tile = similarity.tile(_cut(gathered, first, end), some)
            measure(tile[: end - first, : high - low], low, high, parts[part, first:end])

    if len(starts) == 1:
        work(0)
    else:
        list(pool.map(work, range(len(starts))))
    return parts.sum(axis=0)


def column(similarity: SimilarityMatrix, row: int) -> Floats32:
    """Return the similarities of one candidate to all targets, with one read of the targets."""
    one, found = similarity.candidates(np.array([row])), np.empty(similarity.n_targets, dtype=np.float32)

    def work(low: int) -> None:
        block = slice(low, min(low + GATHERED, similarity.n_targets))
        found[block] = similarity.tile(one, similarity.targets(block))[0]

    starts = range(0, similarity.n_targets, GATHERED)
    with one_thread(), ThreadPoolExecutor(numba.get_num_threads()) as pool:
        list(pool.map(work, starts) if len(starts) > 1 else map(work, starts))
    return found


def _cut(gathered: Any, low: int, high: int) -> Any:
    """Return a part of what was gathered, padded with zeros if it is so small that BLAS would round differently."""
    if isinstance(gathered, tuple):
        return tuple(_cut(part, low, high) for part in gathered)
    if isinstance(gathered, slice):
        return gathered
    some = gathered[low:high]
    missing = LEAST - some.shape[0]
    if missing <= 0 or some.dtype.kind != "f":
        return some
    if sparse.issparse(some):
        return sparse.vstack([some, sparse.csr_array((missing, some.shape[1]), dtype=some.dtype)], format="csr")
    return np.concatenate([some, np.zeros((missing, *some.shape[1:]), dtype=some.dtype)])
