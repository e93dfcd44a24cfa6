"""Tables with more columns than their rows can support, such as embeddings: few columns that say what all of them say.

A linear policy sees each column three times (itself, and two distances to the list), so that sums of products grow with
the square of thrice the columns. Here the columns are first summed up in a basis of a few dozen.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import linalg, sparse

from listwright._internal.arrays import FOLDS, Floats, Floats32, Ints, folds_of
from listwright._internal.parameters import clone
from listwright._internal.progress import report_progress
from listwright._internal.saved import saved_as
from listwright._internal.threads import one_thread
from listwright._kernels.rows import linear_scores
from listwright.features import Features
from listwright.features.base import CrossFitted, Wrapper
from listwright.features.candidate import feature_names
from listwright.features.scale import Scale
from listwright.learners import as_learner
from listwright.learners.examples import center_by_state
from listwright.learners.ridge import RidgeSums, best_penalty
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.tables import Scan

WIDE = 200  # columns past which they are summed up; fewer are quick as they are
COPIES = 16  # measured: 4-byte copies of a batch's columns at the peak
SUMS = FOLDS + 3  # tables of products: one per fold, and those that a solution takes
SMALL = 2 << 20  # what the smallest of wide tables takes
NEW = 49  # columns that many are summed up in
AT_ONCE = 2048  # rows that are multiplied at a time
EXACT = 2048  # rows or columns up to which the span of the rows is exact
RANK = 512  # of an approximate span
STEPS = 8  # towards the solution of a regression, that such a span holds
PRODUCT = 4e-10  # seconds per product in the sums that the basis is found from, about
PENALTY = 100.0  # that the search for the best one starts from


def compress(features: Features, problems: Problems) -> Features:
    """Return the features, behind a compression to few columns where there are more than 200."""
    return Compressed(features) if problems.n_features > WIDE else features


def compression_seconds(problems: Problems) -> float:
    if problems.n_features <= WIDE:
        return 0.0
    return PRODUCT * problems.n_rows * problems.n_features * min(problems.n_features, problems.n_rows, EXACT)


@saved_as("features.Compressed")
class Compressed(CrossFitted, Wrapper):
    """Other features, of problems whose many columns are summed up in a few."""

    group = "relevance"

    def __init__(self, inner: Features, *, n_columns: int = 16, n_directions: int = 32) -> None:
        self.inner = inner
        self.n_columns = n_columns
        self.n_directions = n_directions

    def fit(self, problems: Problems) -> Self:
        self.prefit(problems)
        self.inner_ = clone(self.inner).fit(self.for_training(problems).compress(problems))
        return self

    def prefit(self, example: Problems) -> Self:
        report_progress(f"{example.n_features:,} columns, summed up")
        reward, names = reward_of(example), feature_names(example)
        with one_thread():
            self.basis_ = basis_of(
                example,
                reward.gains(reward.start(example)),
                folds_of(example.problem_ids),
                columns=self.n_columns,
                components=self.n_directions,
            )
        directions = len(self.basis_.weights) - 1 - len(self.basis_.own)
        self.names_ = [f"score of {example.n_features:,} columns", *(names[column] for column in self.basis_.own)]
        self.names_ += [f"direction {i} of {example.n_features:,} columns" for i in range(1, directions + 1)]
        return self

    def summary(self, problems: Problems) -> dict[str, Any]:
        return super().summary(self.compress(problems))

    def streams(self) -> bool:
        return hasattr(self, "basis_") and self.inner.streams()

    def uses_training_data(self) -> bool:
        return True

    def without_training_state(self) -> Self:
        twin = super().without_training_state()
        twin.basis_ = self.basis_._replace(fold_scores=self.basis_.fold_scores[:0])
        return twin

    def for_training(self, problems: Problems) -> Self:
        twin = super().for_training(problems)
        if hasattr(self, "inner_"):
            twin.inner_ = self.inner_.for_training(self.compress(problems))
        return twin

    def compress(self, problems: Problems) -> Problems:
        table = np.empty((problems.n_rows, len(self.basis_.weights)), dtype=np.float32)
        for column, weights in enumerate(self.basis_.weights):
            table[:, column] = _sums(problems.features, weights)
        if self.out_of_fold:
            folds = folds_of(problems.problem_ids)[problems.owners]
            for fold, weights in enumerate(self.basis_.fold_scores):
                rows = np.flatnonzero(folds == fold)
                table[rows, 0] = _sums(problems.features[rows], weights)
        return problems.with_features(table, self.names_)

    def start(self, problems: Problems) -> Any:
        return self.inner_.start(self.compress(problems))


def _sums(table: Any, weights: Floats) -> Floats:
    """Return the weighted sum of each row, in the same order whatever the batch."""
    if sparse.issparse(table):
        return np.asarray(table @ weights)
    return linear_scores(table, weights)


def learning_bytes(problems: Problems | Scan) -> int:
    """About how many bytes learning takes beside the problems themselves, for a linear policy."""
    if not isinstance(problems, Problems):
        return problems.max_memory
    context = 0 if problems.context is None else problems.context.shape[1]
    if problems.n_features <= WIDE:
        return _narrow(problems, problems.n_features + context)
    rows, columns = problems.n_rows, problems.n_features
    rank = columns if columns <= EXACT and columns <= rows else rows if rows <= EXACT else RANK
    summing_up = SMALL + 8 * rows * columns + 8 * SUMS * rank**2 + 8 * min(rows, AT_ONCE) * columns
    return max(summing_up, _narrow(problems, NEW + context))


def _narrow(problems: Problems, columns: int) -> int:
    row = 4 * columns
    batch = as_learner("ridge").batch_size(len(problems), problems.n_rows) / len(problems) * problems.n_rows
    return int(2 * row * problems.n_rows + COPIES * row * batch + 8 * SUMS * (3 * columns + 2) ** 2)


@saved_as("features.Basis")
class Basis(NamedTuple):
    """New columns as weighted sums of the old ones: a score, some columns as they are, and directions of variance."""

    weights: Floats  # (new columns, columns)
    fold_scores: Floats  # (folds, columns): the first row of `weights`, learned without the fold
    own: Ints  # which columns stay as they are

    def validation_error(self) -> str:
        """Return what is wrong with a basis that was read from a file, "" if nothing is."""
        right = self.weights.ndim == self.fold_scores.ndim == 2 and self.own.ndim == 1
        if not right or len(self.own) >= len(self.weights) or self.fold_scores.shape[1] != self.weights.shape[1]:
            return "the basis is of the wrong shape"
        return "" if ((self.own >= 0) & (self.own < self.weights.shape[1])).all() else "columns are out of range"


def basis_of(problems: Problems, gains: Floats, folds: Ints, *, columns: int, components: int) -> Basis:
    # Only differences between the candidates of a problem decide what is picked, so that columns and gains are taken
    # relative to their problem's mean.
    scale = Scale.of(problems.features)
    table, target = _differences(scale.apply(problems.features), problems), center_by_state(gains, problems.offsets)
    by_row = folds[problems.owners]
    span = _span(table, target, by_row)
    parts = _fold_sums(table if span is None else table @ span, target, by_row)
    total = reduce(RidgeSums.combine, parts)
    penalty = best_penalty(parts, total, PENALTY)
    own = _most_telling(table, target)[:columns]
    new = [total.solve(penalty)[0], *_largest_directions(total.gram, components).T]
    without = [total.combine(part, -1.0).solve(penalty)[0] for part in parts]
    score, *directions = (column if span is None else span @ column for column in new)
    scores = np.stack([column if span is None else span @ column for column in without])
    spread = scale.spread.astype(np.float64)
    return Basis(np.stack([score, *np.eye(problems.n_features)[own], *directions]) / spread, scores / spread, own)


def _differences(table: Floats32, problems: Problems) -> Floats32:
    means = np.add.reduceat(table, problems.offsets[:-1], axis=0) / problems.counts[:, None].astype(np.float32)
    table -= means[problems.owners]
    return table


def _span(table: Floats32, target: Floats, folds: Ints) -> Floats32 | None:
    """Return an orthonormal basis of the span of the rows, of shape (columns, rank), or None where none is needed."""
    n, d = table.shape
    if d <= EXACT and d <= n:
        return None
    if n <= EXACT:
        values, vectors = linalg.eigh((table @ table.T).astype(np.float64))
        kept = values > 1e-9 * max(values[-1], 1e-300)
        return (table.T.astype(np.float64) @ (vectors[:, kept] / np.sqrt(values[kept]))).astype(np.float32)
    near = _near_solutions(table, target, folds)
    drawn = np.random.default_rng(0).standard_normal((n, RANK - near.shape[1])).astype(np.float32)
    drawn = table @ linalg.qr(table.T @ drawn, mode="economic")[0]  # sharpened (Halko, Martinsson and Tropp 2011)
    return linalg.qr(np.concatenate([near, table.T @ drawn], axis=1), mode="economic")[0]


def _near_solutions(table: Floats32, target: Floats, folds: Ints) -> Floats32:
    """Return the Krylov vectors X'y, (X'X) X'y, (X'X)^2 X'y and so on, of shape (columns, STEPS * (FOLDS + 1))."""
    targets = np.stack([np.where(folds == fold, 0.0, target) for fold in range(-1, FOLDS)], axis=1)
    steps = [_unit(table.T @ targets.astype(np.float32))]
    for _ in range(STEPS - 1):
        steps.append(_unit(table.T @ (table @ steps[-1])))
    return np.concatenate(steps, axis=1)


def _unit(columns: Floats32) -> Floats32:
    return columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-12)


def _fold_sums(table: Floats32, target: Floats, folds: Ints) -> list[RidgeSums]:
    """Accumulate sums of products by fold, some rows at a time: a float64 copy of the table would be large."""
    width, none = table.shape[1], np.zeros((1, 0, 0))
    parts = []
    for fold in range(FOLDS):
        part = RidgeSums(np.zeros((width, width)), np.zeros(width), 0.0, 0, none, np.zeros((0, width, 0)), none[0])
        mine = np.flatnonzero(folds == fold)
        for rows in np.split(mine, range(AT_ONCE, len(mine), AT_ONCE)):
            part.add_rows(table[rows].astype(np.float64), target[rows], 1.0)
        parts.append(part)
    return parts


def _most_telling(table: Floats32, target: Floats) -> Ints:
    """Return the columns by how strongly they correlate with the target, strongest first."""
    along = np.abs(target.astype(np.float32) @ table)
    lengths = np.sqrt(np.einsum("ij,ij->j", table, table, dtype=np.float64))
    return np.argsort(-along / np.maximum(lengths, 1e-12), kind="stable")


def _largest_directions(gram: Floats, count: int) -> Floats:
    """Return the leading eigenvectors of a Gram matrix, of shape (columns, count), by subspace iteration."""
    count = min(count, len(gram))
    turned = np.random.default_rng(0).standard_normal((len(gram), min(count + 8, len(gram))))
    for _ in range(4):
        turned = linalg.qr(gram @ turned, mode="economic")[0]
    values, vectors = linalg.eigh(turned.T @ gram @ turned)
    return turned @ vectors[:, np.argsort(-values, kind="stable")[:count]]
