"""Any scikit-learn estimator, trained again on all examples so far (DAgger)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from listwright._arrays import Floats
from listwright.errors import InputError
from listwright.examples import Examples
from listwright.learners.base import Learner
from listwright.policies import Estimator, Policy, Uniform


class Aggregate(Learner):
    """Trains an estimator on the examples of all rounds, to predict gains (or minus the costs) from what is seen.

    A regressor sees one row a candidate with the position's weight; a classifier sees whether a row gains anything,
    weighted by what is at stake; a ranker (with `group` in fit, such as LightGBM's) sees graded gains by state.

    Parameters
    ----------
    estimator : a scikit-learn regressor or classifier, or a LightGBM ranker.
    target : "gain" or "cost".
    """

    surrogate = "estimator"

    def __init__(self, estimator: Any, *, target: str = "gain") -> None:
        self.estimator = estimator
        self.target = target

    def learn(self, examples: Examples) -> None:
        """Keeps the rows."""
        if not hasattr(self, "rows_"):
            self.rows_: list[Any] = []
            self.targets_: list[Floats] = []
            self.weights_: list[Floats] = []
            self.groups_: list[Any] = []
        rows, offsets = examples.used_rows
        targets = examples.gains if self.target == "gain" else -examples.costs
        self.rows_.append(examples.rows.written_out()[rows])
        self.targets_.append(targets[rows])
        self.weights_.append(np.full(len(rows), examples.weight))
        self.groups_.append(np.diff(offsets))

    def policy(self) -> Policy:
        """Trains the estimator from the start on everything kept."""
        table, target, weights = (np.concatenate(parts) for parts in (self.rows_, self.targets_, self.weights_))
        if not len(table):
            return Uniform()
        estimator = clone(self.estimator)
        if type(estimator).__name__.endswith("Ranker"):
            grades = _grades(target)
            estimator.fit(table, grades, group=np.concatenate(self.groups_), sample_weight=weights)
        elif is_classifier(estimator):
            if self.target != "gain":
                raise InputError("A classifier learns whether a row gains anything. Pass target='gain'.")
            success = target > 0
            if success.all() or not success.any():
                return Uniform()
            estimator.fit(table, success, sample_weight=weights * np.where(success, target, 1.0))
        else:
            estimator.fit(table, target, sample_weight=weights)
        return Estimator(estimator)


def _grades(target: Floats, levels: int = 31) -> Any:
    """Whole-number grades for rankers: 0 to `levels` by share of the highest gain."""
    span = max(float(target.max() - target.min()), 1e-12)
    return np.rint((target - target.min()) / span * (1 if len(np.unique(target)) <= 2 else levels)).astype(int)
