"""Models of outcomes: mean models predict one number per item, kernel models weigh similar training states."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.saved import saved_as
from listwright._internal.threads import own_warnings
from listwright.errors import InputError

LEAST = 0.003  # predictions stay within [LEAST, 1 - LEAST]
ROW_TREES = 100  # of a forest on candidates
ROW_LEAVES = 1000  # at most, about, a tree of such a forest


def clip_probabilities(p: Floats) -> Floats:
    """Probabilities away from 0 and 1, so that logits and variances stay finite."""
    return np.clip(p, LEAST, 1.0 - LEAST)


class OutcomeModel(ABC):
    """Abstract base: fitted on training states x (n, q) and outcomes y (n, items); predicts for new states."""

    doubt = 0.15  # chance that an item fails though it succeeded in an alike state

    @abstractmethod
    def fit(self, x: Floats, y: Floats, seed: int) -> Self:
        """Learn from training states; return self."""

    def means(self, x: Floats) -> Floats | None:
        """(states, items): predicted outcomes; None where the model gives none."""
        return None

    def likeness(self, x: Floats) -> Floats | None:
        """(states, training states): weights that add up to 1 by row; None where the model gives none."""
        return None

    def for_rows(self, n_rows: int) -> OutcomeModel | None:
        """Return a variant for many states, one per candidate; None where that costs too much or tells nothing."""
        return None


@saved_as("outcomes.Static")
class Static(OutcomeModel):
    """Weighs all training states equally: success rates without regard to the state."""

    doubt = 0.0  # what happened in all states is counted, not carried over

    def fit(self, x: Floats, y: Floats, seed: int) -> Self:
        self.n_ = len(y)
        return self

    def likeness(self, x: Floats) -> Floats:
        return np.full((len(x), self.n_), 1.0 / self.n_)


@saved_as("outcomes.Forest")
class Forest(OutcomeModel):
    """Extremely randomised trees on all items at once: their mean, and how often two states share a leaf."""

    def __init__(self, n_trees: int = 200, min_leaf: int = 2) -> None:
        self.n_trees = n_trees
        self.min_leaf = min_leaf

    def fit(self, x: Floats, y: Floats, seed: int) -> Self:
        from sklearn.ensemble import ExtraTreesRegressor  # here and below: it takes a second to import

        trees = ExtraTreesRegressor(
            self.n_trees, min_samples_leaf=self.min_leaf, max_features=0.5, random_state=seed, n_jobs=-1
        )
        with own_warnings():
            self.trees_ = trees.fit(x, y[:, 0] if y.shape[1] == 1 else y)
        self.trees_.n_jobs = 1  # threads would add the trees up in any order
        self.n_items_ = y.shape[1]
        self.leaves_ = self.trees_.apply(x)
        return self

    def means(self, x: Floats) -> Floats:
        return self.trees_.predict(x).reshape(len(x), self.n_items_)

    def likeness(self, x: Floats) -> Floats:
        """Each leaf's weight is divided among its states."""
        leaves = self.trees_.apply(x)
        weights = np.zeros((len(x), len(self.leaves_)))
        for theirs, mine in zip(self.leaves_.T, leaves.T, strict=True):
            sizes = np.bincount(theirs)
            meet = mine[:, None] == theirs[None, :]
            weights += meet / np.maximum(sizes[mine], 1)[:, None]
        return weights / weights.sum(axis=1, keepdims=True)

    def for_rows(self, n_rows: int) -> Forest:
        return Forest(min(self.n_trees, ROW_TREES), max(self.min_leaf, n_rows // ROW_LEAVES))


@saved_as("outcomes.Contrasts")
class Contrasts(OutcomeModel):
    """A forest on outcomes less the state's mean, so that no split is spent on telling easy states from hard ones."""

    def __init__(self, n_trees: int = 200) -> None:
        self.n_trees = n_trees

    def fit(self, x: Floats, y: Floats, seed: int) -> Self:
        self.forest_ = Forest(self.n_trees).fit(x, y - y.mean(axis=1, keepdims=True), seed)
        return self

    def likeness(self, x: Floats) -> Floats:
        return self.forest_.likeness(x)


@saved_as("outcomes.Ridge")
class Ridge(OutcomeModel):
    """Ridge regression on the state, one line per item, with the penalty chosen by leave-one-out."""

    def fit(self, x: Floats, y: Floats, seed: int) -> Self:
        from sklearn.linear_model import Ridge as LinearRidge
        from sklearn.linear_model import RidgeCV

        few = len(x) < 3  # nothing to leave out
        self.model_: Any = (LinearRidge(1.0) if few else RidgeCV(alphas=np.logspace(-1, 4, 11))).fit(x, y)
        self.n_items_ = y.shape[1]
        return self

    def means(self, x: Floats) -> Floats:
        return self.model_.predict(x).reshape(len(x), self.n_items_)

    def for_rows(self, n_rows: int) -> Ridge:
        return self


@saved_as("outcomes.KernelRidge")
class KernelRidge(OutcomeModel):
    """Ridge regression with a Gaussian kernel of median width; the penalty is chosen by leave-one-out."""

    def fit(self, x: Floats, y: Floats, seed: int) -> Self:
        self.x_, self.level_ = x, y.mean(axis=0)
        gaps = _squared_gaps(x, x)
        self.width_ = float(np.median(gaps[gaps > 0])) if (gaps > 0).any() else 1.0
        values, vectors = np.linalg.eigh(np.exp(-gaps / self.width_))
        turned = vectors.T @ (y - self.level_)
        best = np.inf
        for penalty in np.logspace(-2, 2, 9):
            shrunk = vectors / (np.maximum(values, 0.0) + penalty)
            weights = shrunk @ turned
            left_out = weights / (shrunk * vectors).sum(axis=1)[:, None]
            if (error := float(np.mean(left_out**2))) < best:
                best, self.weights_ = error, weights
        return self

    def means(self, x: Floats) -> Floats:
        return self.level_ + np.exp(-_squared_gaps(x, self.x_) / self.width_) @ self.weights_


@saved_as("outcomes.Neighbours")
class Neighbours(OutcomeModel):
    """A soft kernel over the nearest training states."""

    def __init__(self, n_neighbours: int = 16) -> None:
        self.n_neighbours = n_neighbours

    def fit(self, x: Floats, y: Floats, seed: int) -> Self:
        self.x_ = x
        return self

    def likeness(self, x: Floats) -> Floats:
        gaps = _squared_gaps(x, self.x_)
        k = min(self.n_neighbours, gaps.shape[1]) - 1
        width = np.partition(gaps, k, axis=1)[:, k : k + 1]
        weights = np.exp(-gaps / np.maximum(width, 1e-12))
        return weights / weights.sum(axis=1, keepdims=True)


MODELS = {
    "static": Static,
    "forest": Forest,
    "contrasts": Contrasts,
    "neighbours": Neighbours,
    "ridge": Ridge,
    "kernel": KernelRidge,
}


def fresh_models(given: Sequence[str | OutcomeModel]) -> dict[str, OutcomeModel]:
    if not given:
        raise InputError(f"models must name at least one of {', '.join(MODELS)}. Got none.")
    models: dict[str, OutcomeModel] = {}
    for table in given:
        if isinstance(table, str) and table not in MODELS:
            raise InputError(f"models must be some of {', '.join(MODELS)}, or outcome models. Got {table!r}.")
        name = table if isinstance(table, str) else type(table).__name__.lower()
        models[name] = MODELS[table]() if isinstance(table, str) else copy.deepcopy(table)
    return models


def _squared_gaps(a: Floats, b: Floats) -> Floats:
    gaps = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2.0 * (a @ b.T)
    return np.maximum(gaps, 0.0)
