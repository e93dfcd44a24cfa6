"""Any scikit-learn estimator as a learner: trained again on the examples of all rounds (DAgger)."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints, pieces, starts_of
from listwright._internal.parameters import clone
from listwright._internal.saved import saved_as
from listwright._internal.threads import threads_for
from listwright.errors import InputError
from listwright.learners.base import RowKeeper
from listwright.learners.examples import Examples, center_by_state, sampled_states
from listwright.policies import Estimator, Policy, Uniform


@saved_as("learners.Aggregate")
class Aggregate(RowKeeper):
    """Trains an estimator on the examples of all rounds, to predict gains (or minus the costs) from what is seen.

    Use it where the gain is not linear in the features and there are enough examples for trees or networks. It keeps
    every row, and trains from scratch in every round; where a linear policy is enough, `RidgeFTRL` is faster and
    gives exact regrets. Passing an estimator as `SCP(learner=...)` wraps it in this class.

    A regressor sees one row per candidate with the position's weight, where its fit takes weights; a classifier sees
    whether a row gains more than its state's mean, weighted by how much; a ranker (with `group` in fit, such as those
    of LightGBM and XGBoost) sees graded gains by state.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn regressor or classifier, or a ranker of LightGBM or XGBoost. It is cloned, never fitted itself.
    target : {"gain", "cost"}
        What is predicted: b(s | L), or minus the paper's cost c(s) = max b - b(s).
    most_rows : int, optional
        Trains on an even sample of the states with about this many rows, where there are more.

    Attributes
    ----------
    rows_, targets_, weights_ : list of ndarray
        Features, targets and position weights of the rows kept, one entry per call of `learn`.
    groups_ : list of ndarray
        Number of rows of each state, one entry per call of `learn`.
    missing_ : list of ndarray
        Places in the flat features that are NaN, as model files hold finite numbers only.

    See Also
    --------
    Boosting : Boosted trees that do not overfit a few hundred states.
    RidgeFTRL : Linear, exact, and constant in memory.

    Notes
    -----
    Training on all rounds' examples is dataset aggregation (Ross, Gordon and Bagnell 2011), follow the leader on the
    estimator's loss. The no-regret guarantee holds only as far as the estimator finds the best of its class.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from listwright.learners import as_learner
    >>> as_learner(LinearRegression())
    Aggregate(estimator=LinearRegression())
    """

    surrogate = "estimator"
    rows_: list[Floats32]
    missing_: list[Ints]
    kept = ("rows_", "targets_", "weights_", "groups_", "missing_")

    def __init__(self, estimator: Any, *, target: str = "gain", most_rows: int | None = None) -> None:
        self.estimator = estimator
        self.target = target
        self.most_rows = most_rows

    def learn(self, examples: Examples) -> None:
        if self.target not in ("gain", "cost"):
            raise InputError(f"target must be gain or cost. Got {self.target!r}.")
        if not hasattr(self.estimator, "fit") or isinstance(self.estimator, type):
            raise InputError(f"estimator must be a scikit-learn estimator. Got {self.estimator!r}.")
        rows, offsets = examples.used_rows
        targets = examples.gains if self.target == "gain" else -examples.costs
        weights = np.full(len(rows), examples.weight)
        table = examples.rows.written_out()[rows]
        missing = np.flatnonzero(np.isnan(table))
        self._keep(np.nan_to_num(table), targets[rows], weights, np.diff(offsets), missing)

    def policy(self) -> Policy:
        """Give `Uniform` where there is too little to train on: some estimators need two rows."""
        target, weights, counts = (np.concatenate(getattr(self, name)) for name in self.kept[1:4])
        if len(target) < 2:
            return Uniform()
        kept = zip(self.rows_, self.missing_, strict=True)
        table = np.concatenate([_with_nan(rows, at) for rows, at in kept])
        if self.most_rows is not None and len(table) > self.most_rows:
            states = sampled_states(counts, self.most_rows)
            rows, counts = pieces(starts_of(counts), states), counts[states]
            table, target, weights = table[rows], target[rows], weights[rows]
        estimator = clone(self.estimator)
        if classifies(estimator):
            ahead = center_by_state(target, starts_of(counts))
            distinct = np.abs(ahead) > 1e-9 * np.abs(target).max()  # else only rounding tells candidates apart
            if not distinct.any():
                return Uniform()
            table, target, weights = table[distinct], ahead[distinct] > 0, (weights * np.abs(ahead))[distinct]
        with threads_for(table):
            if is_ranker(estimator):
                fit_ranker(estimator, table, target, counts, weights)
            else:
                estimator.fit(table, target, **_weight_arguments(estimator, weights))
        return Estimator(estimator)

    def try_out(self, examples: Examples) -> None:
        width = examples.rows.written_out().shape[1]
        kept = [getattr(self, name, []) for name in self.kept]
        for table, target, weights, groups, missing in zip(*kept, strict=True):
            n = len(target)
            fits = table.shape == (n, width) and target.shape == weights.shape == (n,) and groups.sum() == n
            if not fits or (missing >= table.size).any():
                raise InputError("kept rows are of the wrong shape")

    def hindsight(self) -> str:
        return (
            "There is no surrogate regret: the estimator's class is not convex, or not known to be, so that the best "
            "of it in hindsight cannot be computed."
        )


def _with_nan(table: Floats32, missing: Ints) -> Floats32:
    if len(missing):
        table = table.copy()
        table.flat[missing] = np.nan
    return table


def _weight_arguments(estimator: Any, weights: Floats) -> dict[str, Floats]:
    """Return the weights as the estimator's fit, or a pipeline's last step, takes them; empty where it takes none."""
    from sklearn.pipeline import Pipeline  # here: it takes a second to import
    from sklearn.utils.validation import has_fit_parameter

    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return {f"{name}__{key}": value for key, value in _weight_arguments(last, weights).items()}
    return {"sample_weight": weights} if has_fit_parameter(estimator, "sample_weight") else {}


LEVELS = 30  # highest grade that the rankers of LightGBM and XGBoost take by default


def classifies(estimator: Any) -> bool:
    """Return whether it is a classifier; an estimator that does not say what it is counts as a regressor."""
    from sklearn.base import is_classifier  # here: it takes a second to import

    return hasattr(estimator, "__sklearn_tags__") and is_classifier(estimator)


def is_ranker(estimator: Any) -> bool:
    return type(estimator).__name__.endswith("Ranker")


def fit_ranker(estimator: Any, table: Any, target: Floats, counts: Ints, weights: Floats | None = None) -> Any:
    if weights is not None and type(estimator).__module__.startswith("xgboost"):
        weights = weights[starts_of(counts)[:-1]]
    return estimator.fit(table, grades(target), group=counts, sample_weight=weights)


def grades(target: Floats) -> Any:
    """Whole numbers from 0 to 30 by share of the highest target; 0 and 1 where there are only two targets."""
    span = max(float(target.max() - target.min()), 1e-12)
    highest = 1 if len(np.unique(target)) <= 2 else LEVELS
    return np.rint((target - target.min()) / span * highest).astype(int)
