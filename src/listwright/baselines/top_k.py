"""`TopK`: relevance only. Sorts by a column, or by a prediction of what each row gains alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Ints, RandomState, as_generator
from listwright._internal.extras import find_extra
from listwright._internal.parameters import clone, takes_nan
from listwright._internal.quotas import PerGroup
from listwright._internal.saved import saved_as
from listwright._internal.threads import SMALL, one_thread, own_warnings, threads_for
from listwright.baselines.base import Baseline, lists_by_score
from listwright.baselines.weighted_cover import by_item, gains_alone, items_of, state_table
from listwright.errors import InputError
from listwright.learners.aggregate import classifies, fit_ranker, is_ranker
from listwright.lists import Lists
from listwright.policies.estimator import predictions
from listwright.problems import Problems
from listwright.training.signature import with_catalogue

MANY_ITEMS = 256  # past this, the columns that name the item are kept sparse
MULTI_OUTPUT = ("ridge", "extra_trees")  # fit all items at once
NAMES = ("ridge", "extra_trees", "boosting")
ROUNDS = 200  # of boosting
MANY_ROWS = 5_000  # past this the penalty of a ridge hardly matters, and choosing it costs


@saved_as("baselines.TopK")
class TopK(Baseline):
    """Sorts by a column, or by a prediction of what each item gains alone; the list so far is not looked at.

    `TopK("retriever_score")` is what most systems do today, and learns nothing. `TopK("boosting")` and
    `TopK(XGBRanker())` are what they do once there are labels. Where items repeat each other, `SCP`
    should be ahead of both: compare them.

    An estimator sees a row by its own features, its problem's context and, where there is a catalogue, one column per
    item. With `per_item`, every item of the catalogue has its own model on what is known of the problem as a whole:
    its context, or without one the features of the whole catalogue. "ridge" and "extra_trees" then fit all items at
    once, where every problem offers them all; an item that no training problem offers is predicted to gain nothing.

    Parameters
    ----------
    estimator : str, int or estimator
        The name or number of a feature to sort by, highest first; "ridge", "extra_trees" or "boosting" (LightGBM where
        it is installed, else scikit-learn's); or any regressor, classifier or ranker with scikit-learn's interface. A
        classifier learns whether a row gains anything, a ranker (`LGBMRanker`, `XGBRanker`) the order within problems.
    length, budget, per_group
        Limits of a list: see `Baseline`.
    per_item : bool or "auto"
        Whether every item has its own model. "auto": for a catalogue whose rows have no features of their own, such as
        a portfolio of algorithms.
    random_state : int, numpy.random.Generator or None
        Seed of the named estimators.

    See Also
    --------
    MMR : Takes a column or an estimator too, and avoids what is alike.
    listwright.SCP : Learns what an item adds to the list so far.

    Examples
    --------
    >>> scores = [[0.2, 0.9, 0.5], [0.7, 0.1, 0.3]]
    >>> problems = Problems.from_arrays(np.array(scores)[..., None], feature_names=["retriever_score"])
    >>> [items.tolist() for items in TopK("retriever_score", length=2).fit(problems).predict(problems)]
    [[1, 2], [0, 2]]

    With labels, an estimator can learn what to sort by:

    >>> import listwright as lw
    >>> from listwright.baselines import Oracle
    >>> features = np.random.default_rng(0).random((200, 9, 3))
    >>> problems = lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(features[..., 1] > 0.8))
    >>> TopK(length=1).fit(problems[:150]).score(problems[150:]), Oracle(1).fit(problems).score(problems[150:])
    (0.9, 0.9)
    """

    def __init__(
        self,
        estimator: Any = "ridge",
        length: int = 5,
        *,
        budget: float | None = None,
        per_group: PerGroup = None,
        per_item: bool | str = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(length, budget=budget, per_group=per_group)
        self.estimator = estimator
        self.per_item = per_item
        self.random_state = random_state

    def relevance(self, problems: Problems) -> Floats:
        """Return one number per row: the column, or the predicted gain. `MMR` and `DPP` use it as their relevance."""
        column = column_of(self.estimator, self.signature_)
        if column is not None:
            return column_values(problems, column)
        problems = self._with_nan(problems)
        with one_thread():
            if self.per_item_:
                return self._by_item(problems)
            return predictions(self.model_, _suit(self._rows(problems), self.model_))

    def _lists(self, problems: Problems, steps: int, budgets: Floats | None) -> Lists:
        return lists_by_score(problems, self.relevance(problems), steps, budgets)

    def _view(self, problems: Problems) -> Problems:
        return with_catalogue(problems) if self.per_item is True else problems

    def _check_parameters(self, problems: Problems) -> None:
        check_relevance(self.estimator, problems, "estimator")
        if self.per_item not in (True, False, "auto"):
            raise InputError(f'per_item must be True, False or "auto". Got {self.per_item!r}.')
        if self.per_item is True and is_ranker(self.estimator):
            raise InputError(f"{type(self.estimator).__name__} ranks items against each other. Leave per_item out.")

    def _learns(self, problems: Problems) -> bool:
        return column_of(self.estimator, problems) is None

    def _learn(self, problems: Problems) -> None:
        problems = self._with_nan(problems)
        self.n_items_ = problems.n_items
        self.per_item_ = bool(self.n_items_ and not problems.n_features and problems.context is not None)
        self.per_item_ &= not is_ranker(self.estimator)
        if self.per_item != "auto":
            self.per_item_ = bool(self.per_item)
        seed = int(as_generator(self.random_state).integers(2**31))
        with one_thread():
            if self.per_item_:
                self._learn_items(problems, seed)
            else:
                self.model_ = fit_estimator(
                    self.estimator, self._rows(problems), gains_alone(problems), seed, problems.counts
                )

    def _with_nan(self, problems: Problems) -> Problems:
        return problems.with_nan() if takes_nan(self.estimator) else problems

    def _rows(self, problems: Problems) -> Any:
        parts = [problems.features]
        if problems.context is not None:
            parts.append(problems.context[problems.owners])
        if self.n_items_:
            ones, rows = np.ones(problems.n_rows, dtype=np.float32), np.arange(problems.n_rows)
            shape = (problems.n_rows, self.n_items_)
            flags = sparse.csr_array((ones, (rows, items_of(problems))), shape=shape)
            parts.append(flags if self.n_items_ > MANY_ITEMS else flags.toarray())
        if any(sparse.issparse(part) for part in parts):
            side_by_side = sparse.hstack([sparse.csr_array(part) for part in parts])
            return sparse.csr_matrix(side_by_side)  # LightGBM takes sparse matrices, not arrays
        return np.concatenate(parts, axis=1)

    def _learn_items(self, problems: Problems, seed: int) -> None:
        """Fit one model per item on the problems that offer it, or one with several outputs where all offer all."""
        table = state_table(problems, self.n_items_)
        gains = by_item(problems, gains_alone(problems), self.n_items_, missing=np.nan)
        offered = np.isfinite(gains)
        self.model_, self.models_ = None, {}
        if isinstance(self.estimator, str) and self.estimator in MULTI_OUTPUT and offered.all():
            self.model_ = fit_estimator(self.estimator, table, gains, seed)
            return
        for item in np.flatnonzero(offered.any(axis=0)):
            here = offered[:, item]
            self.models_[int(item)] = fit_estimator(self.estimator, table[here], gains[here, item], seed)

    def _by_item(self, problems: Problems) -> Floats:
        table = state_table(problems, self.n_items_)
        gains = np.zeros((len(problems), self.n_items_))
        if self.model_ is not None:
            gains = predictions(self.model_, table).reshape(gains.shape)
        for item, model in self.models_.items():
            gains[:, item] = predictions(model, table)
        return gains[problems.owners, items_of(problems)]


def fit_estimator(estimator: Any, table: Any, gains: Floats, seed: int, counts: Ints | None = None) -> Any:
    if classifies(estimator):
        gains = (gains > 0).astype(np.int64)
    if (gains == gains[:1]).all():
        from sklearn.dummy import DummyRegressor  # here and below: scikit-learn takes a second to import

        return DummyRegressor().fit(table, gains)
    model = _fresh(estimator, table, seed)
    table = _suit(table, model)
    with threads_for(table), own_warnings():
        if is_ranker(estimator) and counts is not None:
            return fit_ranker(model, table, gains, counts)
        model.fit(table, gains)
    if isinstance(estimator, str) and estimator == "extra_trees":
        model.n_jobs = 1  # threads would add the trees up in any order
    return model


def _suit(table: Any, model: Any) -> Any:
    """Return a sparse table as a dense one for scikit-learn's boosting, which takes no other."""
    dense = sparse.issparse(table) and type(model).__name__.startswith("HistGradientBoosting")
    return table.toarray() if dense else table


def _fresh(estimator: Any, table: Any, seed: int) -> Any:
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
    """Return LightGBM if installed, else scikit-learn's boosting; slow and shallow, as training problems are few."""
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
    if isinstance(relevance, str) and relevance in (known.feature_names or ()):
        return list(known.feature_names).index(relevance)
    if isinstance(relevance, int | np.integer) and not isinstance(relevance, bool):
        return int(relevance) if 0 <= relevance < known.n_features else None
    return None


def column_values(problems: Problems, column: int) -> Floats:
    if sparse.issparse(problems.features):
        return problems.features[:, [column]].toarray().ravel().astype(np.float64)
    return problems.features[:, column].astype(np.float64)


def check_relevance(relevance: Any, problems: Problems, what: str) -> None:
    if column_of(relevance, problems) is not None:
        return
    if isinstance(relevance, int | np.integer) and not isinstance(relevance, bool):
        raise InputError(f"{what} names column {relevance} of {problems.n_features}. Count from 0.")
    if isinstance(relevance, str) and relevance not in NAMES:
        known = ", ".join([*(problems.feature_names or ()), *NAMES])
        raise InputError(f"{what} must be a column or an estimator ({known}). Got {relevance!r}.")
    learns = not isinstance(relevance, type) and hasattr(relevance, "fit") and hasattr(relevance, "predict")
    if not isinstance(relevance, str) and not learns:
        raise InputError(f"{what} must be one of {', '.join(NAMES)}, or an estimator. Got {relevance!r}.")
