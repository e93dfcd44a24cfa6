"""Any fitted scikit-learn estimator as a policy; forests without the overhead that scikit-learn has per tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.saved import saved_as
from listwright._internal.threads import threads_for
from listwright._kernels.trees import tree_sums
from listwright.features import Rows
from listwright.policies.base import Contributions, Policy

LOG_ODDS = "contributions are in log-odds, the score is a probability"
FORESTS = "sklearn.ensemble._forest"  # not imported here: most policies need no forest
KINDS = ("ExtraTreesRegressor", "RandomForestRegressor")


@saved_as("policies.Estimator")
@dataclass(frozen=True, eq=False)
class Estimator(Policy):
    """Scores rows by the prediction of a fitted estimator.

    Of a classifier, the score is the probability of its highest class, or its margin. Passing a scikit-learn estimator
    as `learner` makes this policy. It is slower than `Linear`, because every position is a call of `predict`.

    Attributes
    ----------
    estimator : object
        A fitted estimator with `predict`, `decision_function` or `predict_proba`.

    See Also
    --------
    Linear : The policy of linear learners, which builds lists in compiled code.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> rows = Rows(np.array([[1.0], [3.0]], dtype=np.float32), np.array([0, 0]), np.array([0, 2]))
    >>> Estimator(LinearRegression().fit([[0.0], [2.0]], [0.0, 1.0])).score(rows).round(3)
    array([0.5, 1.5])
    """

    estimator: Any

    def score(self, rows: Rows) -> Floats:
        table = rows.written_out()
        if self._forest is None or np.isnan(table).any():  # compiled trees know no NaN
            return predictions(self.estimator, table)
        return self._forest.predict(table)

    @cached_property
    def _forest(self) -> TreeArrays | None:
        return as_forest(self.estimator)

    def contributions(self, rows: Rows) -> Contributions | None:
        written_out = rows.written_out()
        table = _shares(self.estimator, written_out)
        if table is None:
            return None
        note = LOG_ODDS if hasattr(self.estimator, "predict_proba") else ""
        width = rows.table.shape[1]
        parts = Contributions(table[:, :width], base=table[:, -1], note=note)
        if rows.crossed is None:
            return parts
        states = [f"state {i}" for i in range(rows.crossed.states.shape[1])]
        names = (*states, *(f"is item {i}" for i in range(rows.crossed.n_items)))
        return parts._replace(crossed=table[:, width:-1], crossed_names=names)

    def boosted_trees(self) -> tuple[Any, ...] | None:
        boosted_trees = getattr(self.estimator, "boosted_trees", None)
        return None if boosted_trees is None else boosted_trees()

    @property
    def nbytes(self) -> None:
        return None


def predictions(estimator: Any, table: Any) -> Floats:
    """Return one number per row: of a classifier the probability of its highest class, or its margin."""
    with threads_for(table):
        if hasattr(estimator, "predict_proba"):
            scores = estimator.predict_proba(table)[:, -1]
        elif hasattr(estimator, "decision_function"):
            scores = estimator.decision_function(table)
        else:
            scores = estimator.predict(table)
    numbers = np.asarray(scores, dtype=np.float64)
    return numbers[:, 0] if numbers.ndim == 2 and numbers.shape[1] == 1 else numbers


def _shares(estimator: Any, table: Any) -> Floats | None:
    """Return contributions of shape (rows, columns + 1), the last being what no column explains; None if unknown."""
    if hasattr(estimator, "contributions"):
        return np.asarray(estimator.contributions(table), dtype=np.float64)
    library = type(estimator).__module__.partition(".")[0]
    if library == "lightgbm":
        return np.asarray(estimator.predict(table, pred_contrib=True), dtype=np.float64)
    if library == "xgboost":
        from xgboost import DMatrix

        return np.asarray(estimator.get_booster().predict(DMatrix(table), pred_contribs=True), dtype=np.float64)
    coefficients = getattr(estimator, "coef_", None)
    if coefficients is None or np.ndim(coefficients) != 1 or hasattr(estimator, "predict_proba"):
        return None
    base = np.full((len(table), 1), float(estimator.intercept_))
    return np.concatenate([table.astype(np.float64) * coefficients, base], axis=1)


class TreeArrays(NamedTuple):
    """The trees of a forest as arrays, in the form that `tree_sums` takes."""

    roots: Ints  # the first node of each tree; a negative number is leaf -1 - root
    columns: Ints  # a row goes left if its column is at most the threshold
    thresholds: Floats
    left: Ints  # the children; a negative number is leaf -1 - child
    right: Ints
    leaves: Floats  # the value of each leaf

    def predict(self, table: Floats32) -> Floats:
        """Return the mean of all trees: the same numbers as scikit-learn's, to the last bit."""
        return tree_sums(np.ascontiguousarray(table, dtype=np.float32), 0.0, *self) / len(self.roots)


def as_forest(estimator: Any) -> TreeArrays | None:
    kind = type(estimator)
    if kind.__module__ != FORESTS or kind.__name__ not in KINDS or estimator.n_outputs_ != 1:
        return None
    trees = [member.tree_ for member in estimator.estimators_]
    starts = np.cumsum([0, *(tree.node_count for tree in trees)])
    joined = {
        name: np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("feature", "threshold", "children_left", "children_right")
    }
    offsets = np.repeat(starts[:-1], np.diff(starts))
    is_leaf = joined["children_left"] < 0
    # Every node has a leaf entry of its own number, so that a child that is a leaf is -1 - its number.
    own = np.where(is_leaf, -1 - np.arange(starts[-1]), np.arange(starts[-1]))
    left, right = (own[np.where(is_leaf, 0, joined[name] + offsets)] for name in ("children_left", "children_right"))
    leaves = np.concatenate([tree.value[:, 0, 0] for tree in trees])
    columns = np.maximum(joined["feature"], 0)
    return TreeArrays(own[starts[:-1]], columns, joined["threshold"], left, right, np.ascontiguousarray(leaves))
