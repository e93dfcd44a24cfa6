"""Similarities between candidates and targets, a tile at a time: the whole matrix is never there."""

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
GATHERED = 8192  # candidates whose vectors are put side by side at a time
LEAST = 32  # a product with fewer rows goes another way through BLAS, and rounds in another way
NOISE = 1e-6  # of the largest similarity: a smaller rise is rounding

Measure = Callable[[Any, int, int, Floats], None]  # (tile, first target, end of targets, sums by candidate)


class Similarity(ABC):
    """How similar candidate j is to target i; below 0 counts as 0."""

    n: int  # candidates
    n_targets: int
    ceiling: float  # no similarity is higher

    @abstractmethod
    def candidates(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        """What `tile` needs of some candidates."""

    @abstractmethod
    def targets(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        """What `tile` needs of some targets."""

    @abstractmethod
    def tile(self, candidates: Any, targets: Any) -> Any:
        """Similarities, (candidates, targets), of the dtype that both were asked for in."""

    @abstractmethod
    def gain_bounds(self, weights: Floats) -> Floats:
        """By candidate: no less than the weighted sum of its similarities above 0."""

    @abstractmethod
    def only(self, targets: Ints) -> Similarity:
        """The same to some of the targets."""

    @abstractmethod
    def among(self, candidates: Ints) -> Similarity:
        """The same of some of the candidates."""

    def copy(self) -> Self:
        """A twin of which parts may be replaced."""
        return copy.copy(self)

    @property
    def noise(self) -> float:
        """A rise of a similarity that is rounding alone."""
        return NOISE * self.ceiling


class Dots(Similarity):
    """Dot products of two sets of vectors: cosines where the vectors have length 1."""

    def __init__(self, candidates: Vectors, targets: Vectors) -> None:
        self.of_candidates, self.of_targets = candidates, targets
        self.n, self.n_targets = len(candidates), len(targets)
        self.ceiling = float(np.sqrt(candidates.squares.max() * targets.squares.max()))

    def candidates(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        """Vectors."""
        return _rows(self.of_candidates, rows, dtype)

    def targets(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        """Vectors."""
        return _rows(self.of_targets, rows, dtype)

    def tile(self, candidates: Any, targets: Any) -> Any:
        """Their products. Cost: 2 d operations for each pair."""
        product = candidates @ targets.T
        return product.toarray() if sparse.issparse(product) else product

    def only(self, targets: Ints) -> Dots:
        """To some of the targets, whose vectors are copied."""
        return Dots(self.of_candidates, self.of_targets.only(targets))

    def among(self, candidates: Ints) -> Dots:
        """Of some of the candidates, whose vectors are copied."""
        some = Dots(self.of_candidates.only(candidates), self.of_targets)
        some.ceiling = self.ceiling
        return some

    def gain_bounds(self, weights: Floats) -> Floats:
        """Sum of w max(s, 0) = (sum of w s + sum of w |s|) / 2, and by Cauchy and Schwarz the latter is at most
        sqrt(sum of w * sum of w s^2): n d^2 operations in place of n^2 d."""
        if self.of_targets.width > self.n_targets or self.of_targets.wide:
            return np.full(self.n, np.inf)
        total, gram = weighted_moments(self.of_targets, weights)
        bounds = np.empty(self.n)
        for low in range(0, self.n, GATHERED):
            block = self.of_candidates.take(slice(low, min(low + GATHERED, self.n))).astype(np.float64)
            square = np.einsum("ij,ij->i", block @ gram, block)
            bounds[low : low + GATHERED] = 0.5 * (block @ total + np.sqrt(weights.sum() * np.maximum(square, 0.0)))
        return bounds * (1 + NOISE) + NOISE * self.ceiling * weights.sum()


class Distances(Similarity):
    """exp(-gamma * squared distance), or with gamma = 0 a ceiling less the squared distance.

    The ceiling is the squared diameter of a ball around the targets' mean that holds all rows, so that no similarity is
    below 0; which rows are picked does not depend on it.
    """

    def __init__(self, candidates: Vectors, targets: Vectors, gamma: float = 0.0) -> None:
        self.of_candidates, self.of_targets, self.gamma = candidates, targets, gamma
        self.n, self.n_targets = len(candidates), len(targets)
        assert candidates.away is not None
        assert targets.away is not None
        far = max(float(candidates.away.max()), float(targets.away.max()))
        self.ceiling = 1.0 if gamma > 0 else 4.0 * far

    def candidates(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        """Vectors and squared lengths."""
        return _rows(self.of_candidates, rows, dtype), self.of_candidates.squares[rows].astype(dtype)

    def targets(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        """Vectors and squared lengths."""
        return _rows(self.of_targets, rows, dtype), self.of_targets.squares[rows].astype(dtype)

    def tile(self, candidates: Any, targets: Any) -> Any:
        """From |x - y|^2 = |x|^2 + |y|^2 - 2 x y."""
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
        """To some of the targets; the ceiling stays."""
        some = Distances(self.of_candidates, self.of_targets.only(targets), self.gamma)
        some.ceiling = self.ceiling
        return some

    def among(self, candidates: Ints) -> Distances:
        """Of some of the candidates; the ceiling stays."""
        some = Distances(self.of_candidates.only(candidates), self.of_targets, self.gamma)
        some.ceiling = self.ceiling
        return some

    def gain_bounds(self, weights: Floats) -> Floats:
        """The sum itself for plain distances, from the moments of the targets; nothing is known for rbf."""
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


class Given(Similarity):
    """A matrix (candidates, targets) that somebody made."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.n, self.n_targets = table.shape
        self.ceiling = max(float(table.max()), 0.0)

    @property
    def noise(self) -> float:
        """None: the numbers are what they are."""
        return 0.0

    def candidates(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        """Their rows of the matrix."""
        return self.table[rows].astype(dtype, copy=False)

    def targets(self, rows: Ints | slice, dtype: Any = np.float32) -> Any:
        """Which columns."""
        return rows

    def tile(self, candidates: Any, targets: Any) -> Any:
        """Looked up."""
        return np.ascontiguousarray(candidates[:, targets])

    def only(self, targets: Ints) -> Given:
        """Some columns, copied."""
        return Given(self.table[:, targets])

    def among(self, candidates: Ints) -> Given:
        """Some rows, copied."""
        return Given(self.table[candidates])

    def gain_bounds(self, weights: Floats) -> Floats:
        """One read of the matrix."""
        found = np.empty(self.n)
        for low in range(0, self.n, CANDIDATES):
            found[low : low + CANDIDATES] = np.maximum(self.table[low : low + CANDIDATES], 0.0) @ weights
        return found * (1 + NOISE)


def _rows(vectors: Vectors, rows: Ints | slice, dtype: Any) -> Any:
    return vectors.doubles(rows) if dtype == np.float64 else vectors.take(rows)


def weighted_moments(vectors: Vectors, weights: Floats) -> tuple[Floats, Floats]:
    """Weighted sum of the rows x, and of x x'. Cost: n d^2."""
    total, gram = np.zeros(vectors.width), np.zeros((vectors.width, vectors.width))
    for low in range(0, len(vectors), GATHERED):
        block = slice(low, min(low + GATHERED, len(vectors)))
        rows = vectors.take(block)
        weighted = rows * weights[block, None].astype(np.float32)
        total += weighted.sum(axis=0, dtype=np.float64)
        gram += weighted.T @ rows
    return total, gram


def sweep(similarity: Similarity, candidates: Ints, targets: Ints | None, measure: Measure) -> Floats:
    """By candidate, the sum over targets (None: all) of what `measure` finds in the tiles.

    Tiles are the same on any number of threads, and are added up in the same order, so the sums are too.
    """
    n_targets, sums = similarity.n_targets if targets is None else len(targets), np.zeros(len(candidates))
    if n_targets == 0 or len(candidates) == 0:
        return sums
    with one_thread(), ThreadPoolExecutor(numba.get_num_threads()) as pool:
        for low in range(0, len(candidates), GATHERED):
            rows = candidates[low : low + GATHERED]
            sums[low : low + GATHERED] = _band(similarity, rows, targets, n_targets, measure, pool)
    return sums


def _band(
    similarity: Similarity, rows: Ints, targets: Ints | None, n_targets: int, measure: Measure, pool: ThreadPoolExecutor
) -> Floats:
    """The same for as many candidates as are put side by side."""
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


def column(similarity: Similarity, row: int) -> Floats32:
    """Similarities of one candidate to all targets. Cost: one read of the targets."""
    one, found = similarity.candidates(np.array([row])), np.empty(similarity.n_targets, dtype=np.float32)

    def work(low: int) -> None:
        block = slice(low, min(low + GATHERED, similarity.n_targets))
        found[block] = similarity.tile(one, similarity.targets(block))[0]

    starts = range(0, similarity.n_targets, GATHERED)
    with one_thread(), ThreadPoolExecutor(numba.get_num_threads()) as pool:
        list(pool.map(work, starts) if len(starts) > 1 else map(work, starts))
    return found


def _cut(gathered: Any, low: int, high: int) -> Any:
    """Some of what was gathered, with zeros behind where it is so little that BLAS would round in another way."""
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
