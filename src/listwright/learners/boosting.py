"""Boosted regression trees with settings for small data; they can start from the trees of another model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from listwright._internal.arrays import Floats, Ints, starts_of
from listwright._internal.extras import find_extra
from listwright._internal.parameters import Parameters
from listwright._internal.saved import saved_as
from listwright.learners.aggregate import is_ranker
from listwright.storage.boosters import Boosted, as_booster, combine_trees, from_histogram, scale_booster


class SmallTrees(Parameters, ABC):
    """Base of `Boosting` and `BoostingRanker`: small boosted trees with random splits, on top of other models."""

    n_trees: int
    learning_rate: float
    min_leaf: int
    start: tuple[Any, ...]
    random_state: int

    @property
    @abstractmethod
    def parts(self) -> tuple[Any, ...]:
        """The models whose predictions add up, those started from first."""

    def predict(self, table: Any) -> Floats:
        return sum_predictions(self.parts, np.asarray(table))

    def boosted_trees(self) -> tuple[Any, ...] | None:
        return combine_trees(self.parts)

    def _make_estimator(self, kind: str, seed: int) -> Any:
        """Return LightGBM's extra-trees boosting of a kind, or scikit-learn's regressor where it is not installed."""
        lightgbm = find_extra("lightgbm", instead="scikit-learn's boosting")
        if lightgbm is None:
            from sklearn.ensemble import HistGradientBoostingRegressor

            return HistGradientBoostingRegressor(
                max_iter=self.n_trees,
                learning_rate=self.learning_rate,
                max_leaf_nodes=15,
                min_samples_leaf=self.min_leaf,
                max_features=0.3,
                early_stopping=False,
                random_state=seed,
            )
        return getattr(lightgbm, kind)(
            n_estimators=self.n_trees,
            learning_rate=self.learning_rate,
            num_leaves=15,
            min_child_samples=self.min_leaf,
            colsample_bytree=0.3,
            extra_trees=True,
            random_state=seed,
            n_jobs=1,
            verbose=-1,
        )


@saved_as("learners.Boosting")
class Boosting(SmallTrees):
    """Boosted regression trees with random splits, which a few hundred states do not overfit.

    An estimator for `Aggregate` (pass it as `SCP(learner=Boosting())`) where the gains are not linear in the features
    and data are scarce. With many states, any other regressor or ranker can take its place.

    LightGBM grows the trees where it is installed, else scikit-learn. With `start` they correct that model's
    predictions: with few examples little is changed, with many everything may be.

    Parameters
    ----------
    n_trees : int
        Number of trees, each with at most 15 leaves.
    learning_rate : float
        Factor on the output of each tree.
    min_leaf : int
        Least number of rows in a leaf.
    start : tuple of fitted models
        Models whose predictions add up and which the new trees correct, such as the `parts` of another `Boosting`.
    random_state : int
        Seed of the splits and of the columns sampled for each tree.

    Attributes
    ----------
    model_ : object
        The trees grown by `fit`, in a form that model files can hold.

    See Also
    --------
    BoostingRanker : Learns the order within states, and no amounts.
    Aggregate : Makes a learner from this and other estimators.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 200)[:, None]
    >>> bool(abs(Boosting().fit(x, x[:, 0]).predict([[0.5]])[0] - 0.5) < 0.05)
    True
    """

    def __init__(
        self,
        n_trees: int = 200,
        *,
        learning_rate: float = 0.05,
        min_leaf: int = 10,
        start: tuple[Any, ...] = (),
        random_state: int = 0,
    ) -> None:
        self.n_trees, self.learning_rate, self.min_leaf = n_trees, learning_rate, min_leaf
        self.start, self.random_state = start, random_state

    def fit(self, table: Any, target: Any, sample_weight: Any = None) -> Self:
        """Grow the trees on the residuals that `start` leaves."""
        table = np.asarray(table)
        rest = np.asarray(target) - sum_predictions(self.start, table)
        fitted = self._make_estimator("LGBMRegressor", self.random_state).fit(table, rest, sample_weight=sample_weight)
        self.model_ = as_booster(fitted) or from_histogram(fitted)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags

    def score(self, table: Any, target: Any, sample_weight: Any = None) -> float:
        from sklearn.metrics import r2_score

        return float(r2_score(target, self.predict(table), sample_weight=sample_weight))

    @property
    def parts(self) -> tuple[Any, ...]:
        return (*self.start, self.model_)


def sum_predictions(models: tuple[Any, ...], table: Any) -> Floats:
    return sum((model.predict(table) for model in models), start=np.zeros(len(table)))


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
        """Grow the trees on top of the scores that `start` gives; `group` has the number of rows of each state."""
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
        booster = as_booster(trees)
        assert booster is not None
        return booster

    @property
    def parts(self) -> tuple[Any, ...]:
        return (*self.start, *self.models_)


def softmax_step(scores: Floats, target: Floats, group: Ints) -> Floats:
    """By row: its share of its state's grades less that of the softmax of the scores; 0 where none has a grade."""
    starts, owners = starts_of(group)[:-1], np.repeat(np.arange(len(group)), group)
    mass = np.exp(scores - np.maximum.reduceat(scores, starts)[owners])
    totals = np.add.reduceat(target, starts)[owners]
    shares = target / np.where(totals > 0, totals, 1.0)
    return np.where(totals > 0, shares - mass / np.add.reduceat(mass, starts)[owners], 0.0)
