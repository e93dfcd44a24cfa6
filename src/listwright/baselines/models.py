"""What a row gains alone: predicted by "ridge", "extra_trees", "boosting" or any scikit-learn estimator, or given by a
column, such as the score of a retriever.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Ints
from listwright._internal.extras import find_extra
from listwright._internal.parameters import clone
from listwright._internal.threads import SMALL, threads_for
from listwright.errors import InputError
from listwright.learners.estimators import classifies, fit_ranker, is_ranker
from listwright.problems import Problems

NAMES = ("ridge", "extra_trees", "boosting")
ROUNDS = 200  # of boosting
MANY_ROWS = 5_000  # past this the penalty of a ridge hardly matters, and choosing it costs


def check_estimator(estimator: Any, what: str = "estimator") -> None:
    """Raise `InputError` unless it is a known name or has `fit` and `predict`; `what` names the parameter."""
    if isinstance(estimator, str) and estimator in NAMES:
        return
    if isinstance(estimator, str | type) or not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise InputError(f"{what} must be one of {', '.join(NAMES)}, or an estimator. Got {estimator!r}.")


def fitted(estimator: Any, table: Any, gains: Floats, seed: int, counts: Ints | None = None) -> Any:
    """Fit a fresh model that predicts gains."""
    if classifies(estimator):
        gains = (gains > 0).astype(np.int64)
    if (gains == gains[:1]).all():
        from sklearn.dummy import DummyRegressor  # here and below: scikit-learn takes a second to import

        return DummyRegressor().fit(table, gains)
    model = _fresh(estimator, table, seed)
    with threads_for(table):
        if is_ranker(estimator) and counts is not None:
            return fit_ranker(model, table, gains, counts)
        return model.fit(table, gains)


def _fresh(estimator: Any, table: Any, seed: int) -> Any:
    """Return an unfitted model of a name, or a clone of an estimator."""
    if not isinstance(estimator, str):
        return clone(estimator)
    if estimator == "extra_trees":
        from sklearn.ensemble import ExtraTreesRegressor

        return ExtraTreesRegressor(200, min_samples_leaf=2, max_features=0.5, random_state=seed, n_jobs=-1)
    return _ridge(table) if estimator == "ridge" else _boosting(table, seed)


def _ridge(table: Any) -> Any:
    """Return a ridge regression on standardised columns; the penalty is chosen by leave-one-out where rows are few."""
    from sklearn.linear_model import Ridge, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if sparse.issparse(table):
        return make_pipeline(StandardScaler(with_mean=False), Ridge(1.0, solver="lsqr", tol=1e-6))
    few = table.shape[0] <= MANY_ROWS
    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-1, 4, 11)) if few else Ridge(1.0))


def _boosting(table: Any, seed: int) -> Any:
    """Return LightGBM where it is installed, else scikit-learn's boosting; slow and shallow, as training problems are
    few.
    """
    lightgbm = find_extra("lightgbm", instead="scikit-learn's boosting")
    if lightgbm is None:
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(max_iter=ROUNDS, learning_rate=0.05, max_leaf_nodes=15, random_state=seed)
    return lightgbm.LGBMRegressor(
        n_estimators=ROUNDS,
        learning_rate=0.05,
        num_leaves=15,
        random_state=seed,
        n_jobs=1 if table.shape[0] * table.shape[1] < SMALL else None,
        deterministic=True,
        force_row_wise=True,
        verbose=-1,
    )


def column_of(relevance: Any, known: Any) -> int | None:
    """Return the column that `relevance` names, by name or number; None where it names none."""
    if isinstance(relevance, str) and relevance in (known.feature_names or ()):
        return list(known.feature_names).index(relevance)
    if isinstance(relevance, int | np.integer) and not isinstance(relevance, bool):
        return int(relevance) if 0 <= relevance < known.n_features else None
    return None


def column_values(problems: Problems, column: int) -> Floats:
    """Return a column as one float64 number per row, from dense or sparse features."""
    if sparse.issparse(problems.features):
        return problems.features[:, [column]].toarray().ravel().astype(np.float64)
    return problems.features[:, column].astype(np.float64)


def check_relevance(relevance: Any, problems: Problems, what: str) -> None:
    """Raise `InputError` unless `relevance` is a column of the problems, a named estimator or an estimator."""
    if column_of(relevance, problems) is not None:
        return
    if isinstance(relevance, int | np.integer) and not isinstance(relevance, bool):
        raise InputError(f"{what} names column {relevance} of {problems.n_features}. Count from 0.")
    if isinstance(relevance, str) and relevance not in NAMES:
        known = ", ".join([*(problems.feature_names or ()), *NAMES])
        raise InputError(f"{what} must be a column or an estimator ({known}). Got {relevance!r}.")
    check_estimator(relevance, what)
