"""Boosted trees, or any other regressor, trained on shown items and retrained in the background."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, ClassVar

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.extras import find_extra
from listwright._internal.parameters import clone
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features import Crossed, Rows
from listwright.feedback.gain_ridge import GainLearner, GainRidge
from listwright.learners.examples import Examples
from listwright.policies import Estimator, Policy

FIRST = 300  # lists before the first training: the regression alone answers until then
GROWTH = 1.3  # times as many lists until the next training
KEPT = ("rows_", "gains_", "weights_", "lists_")
TIME = 1.1  # times as many lists that a training may take before it is waited for


def boosted_trees() -> Any:
    """Return an unfitted LightGBM regressor, or scikit-learn's histogram boosting where LightGBM is not installed."""
    lightgbm = find_extra("lightgbm", instead="scikit-learn's boosting")
    if lightgbm is None:
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(max_iter=100, learning_rate=0.05, max_leaf_nodes=15, random_state=0)
    steady = {"random_state": 0, "n_jobs": 1, "deterministic": True, "force_row_wise": True, "verbose": -1}
    return lightgbm.LGBMRegressor(n_estimators=100, learning_rate=0.05, num_leaves=15, **steady)


@saved_as("feedback.GainTrees")
class GainTrees(GainLearner):
    """Regressor of gains on the rows of recent lists, with a ridge regression until there are enough."""

    # After 300 lists, and whenever there are 1.3 times as many, a background thread fits the estimator on all stored
    # rows while lists are built with the previous one. The new one takes over after a tenth more lists; if it is not
    # ready by then, learning waits for it. What is learned therefore depends on the feedback and its order only, not on
    # timing.

    keeps_rows = True
    not_saved: ClassVar[tuple[str, ...]] = ("_future", "_buffers")
    ridge_: GainRidge
    rows_: Floats32
    gains_: Floats
    weights_: Floats
    lists_: Ints  # by row: the number of its list
    rounds_: int
    trained_on_: Ints  # first row and end of what the estimator in use was trained on; 0, 0 for none
    training_on_: Ints  # and the one in training
    takes_over_: int  # the round at which it takes over; 0 where none is in training
    next_training_: int
    estimator_: Any

    def __init__(
        self,
        estimator: Any = "boosting",
        *,
        penalty: float | str = "auto",
        leverage: float | None = None,
        half_life: float | None = None,
        keep: int = 50_000,
    ) -> None:
        self.estimator = estimator
        self.penalty = penalty
        self.leverage = leverage
        self.half_life = half_life
        self.keep = keep

    def open(self, rows: Rows) -> None:
        self.ridge_ = GainRidge(self.penalty, center=False, leverage=self.leverage, half_life=self.half_life)
        self.ridge_.open(rows)
        self.rows_ = np.zeros((0, rows.written_out().shape[1]), dtype=np.float32)
        self.gains_ = self.weights_ = np.zeros(0)
        self.lists_ = np.zeros(0, dtype=np.int64)
        self.rounds_, self.next_training_, self.takes_over_ = 0, FIRST, 0
        self.trained_on_ = self.training_on_ = np.zeros(2, dtype=np.int64)
        self.estimator_ = None

    def learn(self, examples: Examples) -> None:
        """Store the picks of the examples only, as if they had been shown."""
        picks = examples.picks[examples.picks >= 0]
        seen, n, crossed = examples.rows, len(picks), None
        if seen.crossed is not None:
            states = seen.crossed.states[seen.owners[picks]]
            crossed = Crossed(seen.crossed.items[picks], seen.crossed.n_items, states)
        rows = Rows(seen.table[picks], np.arange(n), np.arange(n + 1), crossed)
        self.reveal(rows, examples.gains[picks], np.full(n, examples.weight), 0)

    def validation_error(self) -> str:
        """Describe what is inconsistent in rows read from a file; an empty string if nothing is."""
        n = len(self.rows_)
        spans = np.concatenate([self.trained_on_, self.training_on_])
        if self.rows_.ndim != 2 or not all(getattr(self, name).shape == (n,) for name in KEPT[1:]):
            return "kept rows are of the wrong shape"
        return "" if spans.shape == (4,) and (spans >= 0).all() and (spans <= n).all() else "there are not so many rows"

    def reveal(self, rows: Rows, gains: Floats, weights: Floats, fold: int, share: float = 1.0) -> None:
        self.ridge_.reveal(rows, gains, weights, fold, share)
        self._keep(rows.written_out(), gains, weights * share, np.full(len(gains), self.rounds_))
        self.rounds_ += 1
        if self.takes_over_ and self.rounds_ >= self.takes_over_:
            self._take_over()
        if not self.takes_over_ and self.rounds_ >= self.next_training_:
            self._start_training()

    def reveal_many(self, rows: Rows, gains: Floats, weights: Floats, numbers: Ints, folds: Ints) -> None:
        """Store the rows of many lists; if a training is due, fit once and wait for it."""
        self.ridge_.reveal_many(rows, gains, weights, numbers, folds)
        self._keep(rows.written_out(), gains, weights, self.rounds_ + numbers)
        self.rounds_ += len(folds)
        if self.rounds_ >= self.next_training_:
            self._take_over()
            self._start_training()
            self._take_over()

    def revise(
        self, rows: Rows, earlier: Floats, gains: Floats, weights: Floats, fold: int, share: float = 1.0
    ) -> None:
        raise InputError("Feedback that changes later needs learner='ridge': trees cannot take back what they learned.")

    def policy(self) -> Policy:
        return self.ridge_.policy() if self.estimator_ is None else Estimator(self.estimator_)

    def after_restore(self) -> None:
        self.__dict__.pop("_future", None)
        self.estimator_ = _fit_estimator(*self._task(*self.trained_on_)) if self.trained_on_[1] else None
        if self.takes_over_:
            self._submit()

    def _keep(self, table: Floats32, gains: Floats, weights: Floats, lists: Ints) -> None:
        """Append to buffers that double when full, so that the amortised cost of a list is that of its own rows."""
        buffers = self.__dict__.setdefault("_buffers", {})
        added: tuple[Any, ...] = table, gains, weights, lists
        for name, values in zip(KEPT, added, strict=True):
            kept = getattr(self, name)
            start, end = len(kept), len(kept) + len(values)
            if kept.base is not buffers.get(name) or kept.base is None or len(kept.base) < end:
                buffers[name] = np.empty((2 * end, *kept.shape[1:]), dtype=kept.dtype)
                buffers[name][:start] = kept
            buffers[name][start:end] = values
            setattr(self, name, buffers[name][:end])

    def _start_training(self) -> None:
        end = len(self.rows_)
        self.training_on_ = np.array([max(0, end - self.keep), end])
        self.takes_over_ = int(np.ceil(TIME * self.rounds_))
        self.next_training_ = int(np.ceil(GROWTH * self.rounds_))
        self._submit()

    def _submit(self) -> None:
        self.__dict__["_future"] = _pool().submit(_fit_estimator, *self._task(*self.training_on_))

    def _take_over(self) -> None:
        if not self.takes_over_:
            return
        future: Future[Any] | None = self.__dict__.pop("_future", None)
        self.estimator_ = _fit_estimator(*self._task(*self.training_on_)) if future is None else future.result()
        first = int(self.training_on_[0])
        for name in KEPT if first else ():
            setattr(self, name, getattr(self, name)[first:].copy())
        self.trained_on_, self.training_on_ = self.training_on_ - first, np.zeros(2, dtype=np.int64)
        self.takes_over_ = 0

    def _task(self, first: int, end: int) -> tuple[Any, Floats32, Floats, Floats]:
        estimator = boosted_trees() if isinstance(self.estimator, str) else clone(self.estimator)
        weights = self.weights_[first:end]
        if self.half_life is not None:
            weights = weights * 0.5 ** ((self.lists_[end - 1] - self.lists_[first:end]) / self.half_life)
        return estimator, self.rows_[first:end], self.gains_[first:end], weights

    def __getstate__(self) -> dict[str, Any]:
        """A training in the background is not copied: the copy trains again when it is due."""
        return {name: value for name, value in vars(self).items() if name not in self.not_saved}


def _fit_estimator(estimator: Any, rows: Floats32, gains: Floats, weights: Floats) -> Any:
    from sklearn.utils.validation import has_fit_parameter

    weighted = {"sample_weight": weights} if has_fit_parameter(estimator, "sample_weight") else {}
    return estimator.fit(rows, gains, **weighted)


@cache
def _pool() -> ThreadPoolExecutor:
    """One thread for all trainings, so that they do not crowd out those that build lists."""
    return ThreadPoolExecutor(1, thread_name_prefix="listwright-training")
