"""Boosted regression trees with settings for small data; they can start from the trees of another model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.extras import find_extra
from listwright._internal.parameters import Parameters
from listwright._internal.saved import saved_as
from listwright.storage.boosters import as_booster, combine_trees, from_histogram


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
        """Predictions of shape (rows,): the sum over all parts."""
        return sum_predictions(self.parts, np.asarray(table))

    def boosted_trees(self) -> tuple[Any, ...] | None:
        """Return the trees of all parts as those of one model, or None if a part is of another kind."""
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
        """Grow the trees on the residuals that `start` leaves.

        Parameters
        ----------
        table : array of shape (rows, columns)
            Features.
        target : array of shape (rows,)
            What to predict.
        sample_weight : array of shape (rows,), optional
            Weight of each row.
        """
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
        """Share of the target's variance that the predictions explain (R^2), as scikit-learn's regressors have it."""
        from sklearn.metrics import r2_score

        return float(r2_score(target, self.predict(table), sample_weight=sample_weight))

    @property
    def parts(self) -> tuple[Any, ...]:
        """The models whose predictions add up, those started from first."""
        return (*self.start, self.model_)


def sum_predictions(models: tuple[Any, ...], table: Any) -> Floats:
    """By row: the sum of what the models predict, 0 without any."""
    total = np.zeros(len(table))
    for model in models:
        total += model.predict(table)
    return total
