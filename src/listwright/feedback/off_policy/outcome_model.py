"""A model of outcomes: the chance that an item is clicked at its position, given the items before it.

Used by the direct and doubly robust estimators. Cross-fitted over folds of lists, so that the prediction for a list
never comes from a model that was fitted on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from listwright._internal.arrays import Bools, Floats, Floats32, Ints
from listwright._internal.linalg import solve
from listwright._internal.ragged import FOLDS, folds_of
from listwright._internal.threads import one_thread
from listwright.features import Features, Identity, Position
from listwright.features.auto import paper_features
from listwright.feedback.answered import AnsweredLists
from listwright.feedback.drawing import Given
from listwright.problems import Problems
from listwright.walk.plain import walk

PENALTY = 1.0  # on the squared weights, of standardised columns
STEPS = 25  # of Newton's method at most
FITTED_ON = 20_000  # lists that scales are taken from
MANY_ITEMS = 256  # items of a catalogue that have a column of their own


@dataclass(frozen=True, eq=False)
class OutcomeModel:
    """Logistic regressions per position and fold; a list is predicted by the one fitted without its fold."""

    features: Features  # what is seen of an item, given the items before it
    folds: Ints  # which fold each list of the log is in
    weights: list[Floats]  # by position: the regression fitted without each fold
    # by position: the inverse of the penalised Hessian on all lists, from which the model's own variance follows
    inverses: list[Floats]

    def predict(self, table: Floats32, owners: Ints, position: int) -> Floats:
        """Return the predicted chance of a click for each row of a table."""
        weights = self.weights[position]
        by_fold = scipy.special.expit(table.astype(np.float64) @ weights.T)
        return by_fold[np.arange(len(table)), self.folds[owners]]


def fit_outcomes(logged: AnsweredLists, gains: Floats, alive: Bools) -> tuple[OutcomeModel, list[Floats32]]:
    """Fit the model to a log."""
    features = _features(logged.problems)
    tables = seen_along(logged, features)
    folds = folds_of(logged.list_ids)
    with one_thread():
        fitted = [_fit(table.astype(np.float64), gains[:, j], alive[:, j], folds) for j, table in enumerate(tables)]
    return OutcomeModel(features, folds, *map(list, zip(*fitted, strict=True))), tables


def seen_along(logged: AnsweredLists, features: Features) -> list[Floats32]:
    """Return, by position, the feature table of the items of given lists, (lists, columns)."""
    small = logged.only_shown()
    rng = np.random.default_rng(0)  # the walk asks for one; given lists draw nothing
    shown, tables = small.rows >= 0, []
    for step in walk(small.problems, features, Given(small.rows), length=shown.shape[1], rng=rng):
        table = step.rows.written_out()
        tables.append(np.where(shown[:, step.position, None], table[small.rows[:, step.position]], np.float32(0)))
    empty = np.zeros_like(tables[0])
    return tables + [empty] * (shown.shape[1] - len(tables))


def _features(problems: Problems) -> Features:
    """Return fitted features that depend only on the items of a list; the other candidates are not needed."""
    some = problems[: min(FITTED_ON, len(problems))]
    return (paper_features() if problems.n_features else Identity() + Position()).fit(some)


def with_few_items(problems: Problems, rows: Ints) -> Problems:
    """Merge all items but the 255 most often shown into one, in large catalogues without features."""
    if problems.n_features or problems.catalogue is None or problems.n_items <= MANY_ITEMS:
        return problems
    counts = np.bincount(problems.catalogue[rows[rows >= 0]], minlength=problems.n_items)
    codes = np.full(len(counts), MANY_ITEMS - 1)
    codes[np.argsort(-counts, kind="stable")[: MANY_ITEMS - 1]] = np.arange(MANY_ITEMS - 1)
    return problems.with_catalogue(codes[problems.catalogue])


def _fit(table: Floats, gains: Floats, alive: Bools, folds: Ints) -> tuple[Floats, Floats]:
    """Return the weights fitted without each fold, (folds, columns), and the inverse Hessian on all lists."""
    rows = np.flatnonzero(alive)
    table, gains, folds = table[rows], gains[rows], folds[rows]
    weights = np.zeros(table.shape[1])
    for _ in range(STEPS):
        slope, curve = _sums(table, gains, weights)
        step = solve(curve + PENALTY * np.eye(len(curve)), slope - PENALTY * weights)
        weights = weights + step
        if np.abs(step).max(initial=0.0) < 1e-8:
            break
    parts = [_sums(table[folds == k], gains[folds == k], weights) for k in range(FOLDS)]
    slope, curve = _sums(table, gains, weights)
    inverse = solve(curve + PENALTY * np.eye(len(curve)), np.eye(len(curve)))
    without = [
        weights + solve(curve - own[1] + PENALTY * np.eye(len(curve)), slope - own[0] - PENALTY * weights)
        for own in parts
    ]
    return np.stack(without), inverse


def _sums(table: Floats, gains: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the gradient of the log-likelihood and its negative Hessian."""
    told = scipy.special.expit(table @ weights)
    return table.T @ (gains - told), (table * (told * (1.0 - told))[:, None]).T @ table
