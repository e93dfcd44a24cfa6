"""Learns a basis of a few dozen columns that stands in for many, from training problems.

`wide.Compressed` uses it for tables with more than 200 columns, such as embeddings.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np
from scipy import linalg

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.ragged import FOLDS
from listwright._internal.saved import saved_as
from listwright.features.scale import Scale
from listwright.learners.examples import centered
from listwright.learners.ridge import best_penalty
from listwright.learners.sums import RidgeSums
from listwright.problems import Problems

AT_ONCE = 2048  # rows that are multiplied at a time
EXACT = 2048  # rows or columns up to which the span of the rows is exact
RANK = 512  # of an approximate span
STEPS = 8  # towards the solution of a regression, that such a span holds
PENALTY = 100.0  # that the search for the best one starts from


@saved_as("features.Basis")
class Basis(NamedTuple):
    """New columns as weighted sums of the old ones: a relevance score, some columns as they are, and directions of
    variance.
    """

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
    """Return the basis for these problems."""
    # Only differences between the candidates of a problem decide what is picked, so that columns and gains are taken
    # relative to their problem's mean.
    scale = Scale.of(problems.features)
    table, target = _differences(scale.apply(problems.features), problems), centered(gains, problems.offsets)
    by_row = folds[problems.owners]
    span = _span(table, target, by_row)
    parts = _sums(table if span is None else table @ span, target, by_row)
    total = reduce(RidgeSums.combined, parts)
    penalty = best_penalty(parts, total, PENALTY)
    own = _most_telling(table, target)[:columns]
    found = [total.solve(penalty)[0], *_largest_directions(total.gram, components).T]
    without = [total.combined(part, -1.0).solve(penalty)[0] for part in parts]
    score, *directions = (one if span is None else span @ one for one in found)
    scores = np.stack([one if span is None else span @ one for one in without])
    new = np.stack([score, *np.eye(problems.n_features)[own], *directions])
    spread = scale.spread.astype(np.float64)
    return Basis(new / spread, scores / spread, own)


def _differences(table: Floats32, problems: Problems) -> Floats32:
    """Subtract from each row the mean of its problem, in place."""
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
        turned = table.T.astype(np.float64) @ (vectors[:, kept] / np.sqrt(values[kept]))
        return turned.astype(np.float32)
    near = _near_solutions(table, target, folds)
    drawn = np.random.default_rng(0).standard_normal((n, RANK - near.shape[1])).astype(np.float32)
    drawn = table @ linalg.qr(table.T @ drawn, mode="economic")[0]  # sharpened (Halko, Martinsson and Tropp 2011)
    span: Floats32 = linalg.qr(np.concatenate([near, table.T @ drawn], axis=1), mode="economic")[0]
    return span


def _near_solutions(table: Floats32, target: Floats, folds: Ints) -> Floats32:
    """Return the Krylov vectors X'y, (X'X) X'y, (X'X)^2 X'y and so on, of shape (columns, STEPS * (FOLDS + 1))."""
    targets = np.stack([np.where(folds == fold, 0.0, target) for fold in range(-1, FOLDS)], axis=1)
    steps = [_unit(table.T @ targets.astype(np.float32))]
    for _ in range(STEPS - 1):
        steps.append(_unit(table.T @ (table @ steps[-1])))
    return np.concatenate(steps, axis=1)


def _unit(columns: Floats32) -> Floats32:
    """Scales columns to length 1."""
    found: Floats32 = columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-12)
    return found


def _sums(table: Floats32, target: Floats, folds: Ints) -> list[RidgeSums]:
    """Accumulates sums of products for each fold, `AT_ONCE` rows at a time, so that no float64 copy of the table is
    made.
    """
    width, none = table.shape[1], np.zeros((1, 0, 0))
    parts = []
    for fold in range(FOLDS):
        part = RidgeSums(np.zeros((width, width)), np.zeros(width), 0.0, 0, none, np.zeros((0, width, 0)), none[0])
        mine = np.flatnonzero(folds == fold)
        for rows in np.split(mine, range(AT_ONCE, len(mine), AT_ONCE)):
            part.take_in(table[rows].astype(np.float64), target[rows], 1.0)
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
