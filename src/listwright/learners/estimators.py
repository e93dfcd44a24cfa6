"""How estimators that are not listwright's are trained: regressors, classifiers and rankers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from listwright._internal.arrays import Floats, Ints, starts_of

LEVELS = 30  # highest grade that the rankers of LightGBM and XGBoost take by default


def classifies(estimator: Any) -> bool:
    """Whether it is a classifier; an estimator that does not say what it is counts as a regressor."""
    return hasattr(estimator, "__sklearn_tags__") and is_classifier(estimator)


def is_ranker(estimator: Any) -> bool:
    """Whether it learns the order within groups, as the rankers of LightGBM and XGBoost do."""
    return type(estimator).__name__.endswith("Ranker")


def fit_ranker(estimator: Any, table: Any, target: Floats, counts: Ints, weights: Floats | None = None) -> Any:
    """The ranker, fitted to graded targets; `counts` says how many rows each group has, one after the other.

    XGBoost takes one weight per group where LightGBM takes one per row.
    """
    if weights is not None and type(estimator).__module__.startswith("xgboost"):
        weights = weights[starts_of(counts)[:-1]]
    return estimator.fit(table, grades(target), group=counts, sample_weight=weights)


def grades(target: Floats) -> Any:
    """Whole numbers from 0 to 30 by share of the highest target; 0 and 1 where there are only two targets.

    >>> grades(np.array([0.0, 0.5, 0.25])), grades(np.array([0.0, 0.5]))
    (array([ 0, 30, 15]), array([0, 1]))
    """
    span = max(float(target.max() - target.min()), 1e-12)
    highest = 1 if len(np.unique(target)) <= 2 else LEVELS
    return np.rint((target - target.min()) / span * highest).astype(int)
