"""How third-party estimators are trained: what tells regressors, classifiers and rankers apart, and how each is fitted.

Used by `Aggregate` and wherever else an estimator of the user's is fitted to gains.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, Ints, starts_of

LEVELS = 30  # highest grade that the rankers of LightGBM and XGBoost take by default


def classifies(estimator: Any) -> bool:
    """Return whether it is a classifier; an estimator that does not say what it is counts as a regressor."""
    from sklearn.base import is_classifier  # here: it takes a second to import

    return hasattr(estimator, "__sklearn_tags__") and is_classifier(estimator)


def is_ranker(estimator: Any) -> bool:
    """Return whether it learns the order within groups, as the rankers of LightGBM and XGBoost do."""
    return type(estimator).__name__.endswith("Ranker")


def fit_ranker(estimator: Any, table: Any, target: Floats, counts: Ints, weights: Floats | None = None) -> Any:
    """Fit a ranker to graded targets."""
    if weights is not None and type(estimator).__module__.startswith("xgboost"):
        weights = weights[starts_of(counts)[:-1]]
    return estimator.fit(table, grades(target), group=counts, sample_weight=weights)


def grades(target: Floats) -> Any:
    """Whole numbers from 0 to 30 by share of the highest target; 0 and 1 where there are only two targets."""
    span = max(float(target.max() - target.min()), 1e-12)
    highest = 1 if len(np.unique(target)) <= 2 else LEVELS
    return np.rint((target - target.min()) / span * highest).astype(int)
