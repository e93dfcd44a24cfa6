"""Boosted trees that learn the order of candidates within each state, averaged over seeds."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from listwright._internal.arrays import Floats, Ints, starts_of
from listwright._internal.saved import saved_as
from listwright.learners.aggregate import is_ranker
from listwright.learners.boosting import SmallTrees, sum_predictions
from listwright.storage.boosters import Boosted, as_booster, from_histogram, scale_booster


@saved_as("learners.BoostingRanker")
class BoostingRanker(SmallTrees):
    """Ranks candidates by boosted trees whose loss compares those of one state only.

    An estimator for `Aggregate` where few candidates of a state are worth anything, such as the passages that support
    an answer, and it matters which come first rather than how much each is worth. Where gains differ by degrees, use
    `Boosting`.

    LightGBM grows the trees for lambdaMART (Burges 2010) where it is installed. Otherwise scikit-learn fits them to one
    step of gradient descent on the softmax loss within states, which is weaker. Several models with other seeds are
    averaged. With `start` they correct the scores of that model. Only the order of predicted scores within a state has
    a meaning.

    Parameters
    ----------
    n_trees : int
        Number of trees of each model, each with at most 15 leaves.
    n_models : int
        Number of models that are averaged.
    learning_rate : float
        Factor on the output of each tree.
    min_leaf : int
        Least number of rows in a leaf.
    start : tuple of fitted models
        Models whose scores add up and which the new trees correct, such as the `parts` of another one.
    random_state : int
        Seed of the first model; the others count on from it.

    Attributes
    ----------
    models_ : tuple
        The models grown by `fit`, each divided by their number, in a form that model files can hold.

    See Also
    --------
    Boosting : Predicts how much each candidate is worth.
    Aggregate : Makes a learner from this and other estimators.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random((600, 2))
    >>> best = (x[:, 0].reshape(-1, 3) == x[:, 0].reshape(-1, 3).max(axis=1, keepdims=True)).ravel()
    >>> model = BoostingRanker().fit(x, best, group=np.full(200, 3))
    >>> bool(model.predict([[0.9, 0.5]]) > model.predict([[0.2, 0.5]]))
    True
    """

    def __init__(
        self,
        n_trees: int = 100,
        *,
        n_models: int = 2,
        learning_rate: float = 0.05,
        min_leaf: int = 10,
        start: tuple[Any, ...] = (),
        random_state: int = 0,
    ) -> None:
        self.n_trees, self.n_models, self.learning_rate, self.min_leaf = n_trees, n_models, learning_rate, min_leaf
        self.start, self.random_state = start, random_state

    def fit(self, table: Any, target: Any, group: Any, sample_weight: Any = None) -> Self:
        """Grow the trees on top of the scores that `start` gives.

        Parameters
        ----------
        table : array of shape (rows, columns)
            Features, state after state.
        target : array of shape (rows,)
            Grades: higher for candidates that should come first.
        group : array of int
            The number of rows of each state.
        sample_weight : array of shape (rows,), optional
            Weight of each row.
        """
        table, target, group = np.asarray(table), np.asarray(target, dtype=np.float64), np.asarray(group)
        scores = sum_predictions(self.start, table)
        seeds = range(self.random_state, self.random_state + self.n_models)
        grown = (self._grow(seed, table, target, group, scores, sample_weight) for seed in seeds)
        self.models_ = tuple(scale_booster(model, 1.0 / self.n_models) for model in grown)
        return self

    def _grow(self, seed: int, table: Any, target: Floats, group: Ints, scores: Floats, weights: Any) -> Boosted:
        """Grow one model on the lambda gradients or, by scikit-learn, on minus the softmax gradient at the scores."""
        trees = self._make_estimator("LGBMRanker", seed)
        if not is_ranker(trees):
            return from_histogram(trees.fit(table, softmax_step(scores, target, group), sample_weight=weights))
        trees.fit(table, target.astype(int), group=group, init_score=scores, sample_weight=weights)
        found = as_booster(trees)
        assert found is not None
        return found

    @property
    def parts(self) -> tuple[Any, ...]:
        """The models whose scores add up, those started from first."""
        return (*self.start, *self.models_)


def softmax_step(scores: Floats, target: Floats, group: Ints) -> Floats:
    """By row: its share of its state's grades less that of the softmax of the scores; 0 where none has a grade."""
    starts, owners = starts_of(group)[:-1], np.repeat(np.arange(len(group)), group)
    mass = np.exp(scores - np.maximum.reduceat(scores, starts)[owners])
    totals = np.add.reduceat(target, starts)[owners]
    shares = target / np.where(totals > 0, totals, 1.0)
    return np.where(totals > 0, shares - mass / np.add.reduceat(mass, starts)[owners], 0.0)
