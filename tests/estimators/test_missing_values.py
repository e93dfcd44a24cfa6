"""Missing values of a frame go to a learner that takes NaN as they are, and to all others as medians with marks."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

import listwright as lw
from listwright.learners import Aggregate
from tests.booster_tools import booster

SKLEARN = ["sklearn.ensemble._hist_gradient_boosting.gradient_boosting:HistGradientBoostingRegressor"]


class SeesGaps(HistGradientBoostingRegressor):
    """Remembers how many values of each column were missing in training and in prediction."""

    fitted: ClassVar[list[int]] = []
    asked: ClassVar[list[int]] = []

    def fit(self, X, y, sample_weight=None):
        SeesGaps.fitted = np.isnan(X).sum(axis=0).tolist()
        return super().fit(X, y, sample_weight=sample_weight)

    def predict(self, X):
        SeesGaps.asked = np.isnan(X).sum(axis=0).tolist()
        return super().predict(X)


def candidates(seed: int = 0, *, n: int = 60) -> pd.DataFrame:
    """Articles of which the value is known exactly where it is low: what is missing is worth the most."""
    rng = np.random.default_rng(seed)
    quality = rng.random(n * 6)
    return pd.DataFrame(
        {
            "problem": np.repeat([f"q{seed}-{i}" for i in range(n)], 6),
            "quality": np.where(quality > 0.7, np.nan, quality),
            "other": np.where(quality > 0.7, np.nan, rng.random(n * 6)),
            "noise": rng.random(n * 6),
            "clicked": (quality > 0.7).astype(int),
        }
    )


def solver_runs(n: int = 60) -> pd.DataFrame:
    """Solvers of which one works where a feature of the instance is missing, and another one elsewhere."""
    rng = np.random.default_rng(0)
    size = np.where(rng.random(n) < 0.5, np.nan, rng.random(n))
    best = np.where(np.isnan(size), 2, 0)
    return pd.DataFrame(
        {
            "instance": np.repeat([f"i{i}" for i in range(n)], 4),
            "solver": np.tile([f"s{j}" for j in range(4)], n),
            "clauses": size.repeat(4),
            "solved": (np.tile(np.arange(4), n) == best.repeat(4)).astype(int),
        }
    )


def best_score(frame: pd.DataFrame) -> float:
    """Share of the problems that have a candidate worth listing: 12 % have none."""
    return float(frame.groupby("problem")["clicked"].max().mean())


def model(learner: object, length: int = 1) -> lw.SCP:
    return lw.SCP(length, learner=learner, n_passes=1, random_state=0)


def fit(learner: object, frame: pd.DataFrame, **options: object) -> lw.SCP:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.errors.DataWarning)
        warnings.simplefilter("ignore", lw.errors.Notice)
        return model(learner).fit(frame, **options)


@pytest.mark.parametrize("wrap", [lambda estimator: estimator, Aggregate])
def test_a_learner_that_takes_nan_gets_it_in_fit_and_predict(wrap):
    frame = candidates()
    fitted = fit(wrap(SeesGaps(max_iter=5)), frame, reward="any:clicked")
    gaps = int(frame["quality"].isna().sum())
    assert SeesGaps.fitted.count(gaps) == 2  # "quality" and "other", which are missing in the same rows
    later = candidates(1)
    fitted.predict(later)
    assert SeesGaps.asked[:4:2] == [int(later["quality"].isna().sum()), int(later["other"].isna().sum())]


def test_a_learner_that_takes_no_nan_gets_medians():
    later = candidates(1)
    assert fit(LinearRegression(), candidates(), reward="any:clicked").score(later) == best_score(later)


def test_context_is_passed_on_too():
    frame = solver_runs()
    fitted = fit(SeesGaps(max_iter=20, min_samples_leaf=5), frame, reward="any:solved", problem="instance")
    assert fitted.columns_.context == ("clauses",)
    assert int(frame["clauses"].isna().sum()) in SeesGaps.fitted
    assert fitted.score(frame) == 1.0


def test_a_saved_model_passes_them_on(tmp_path):
    learner = HistGradientBoostingRegressor(max_iter=20, random_state=0)
    fitted, later = fit(learner, candidates(), reward="any:clicked"), candidates(1)
    fitted.save(tmp_path / "model.listwright")
    loaded = lw.load(tmp_path / "model.listwright", trusted=SKLEARN)
    assert loaded.predict(later) == fitted.predict(later)
    assert loaded.score(later) == best_score(later)


@pytest.mark.parametrize("kind", ["LGBMRegressor", "XGBRegressor"])
def test_saved_trees_send_nan_where_they_sent_it(tmp_path, kind):
    rng, frame, later = np.random.default_rng(0), candidates(), candidates(1)
    frame["noise"] = frame["noise"].where(rng.random(len(frame)) < 0.8)
    fitted = fit(booster(kind, n_estimators=20), frame, reward="any:clicked")
    fitted.save(tmp_path / "model.listwright")
    later["noise"] = later["noise"].where(rng.random(len(later)) < 0.8)
    assert lw.load(tmp_path / "model.listwright").predict(later) == fitted.predict(later)


def test_the_notice_says_what_is_done():
    with pytest.warns(lw.errors.Notice, match="are filled with the median.*; learners that take NaN get NaN"):
        model(HistGradientBoostingRegressor(max_iter=5)).fit(candidates(), reward="any:clicked")


def test_missing_values_can_be_refused():
    with pytest.raises(lw.errors.InputError, match=r"2 columns: 'quality' \(\d+\), 'other' \(\d+\)"):
        model(HistGradientBoostingRegressor()).fit(candidates(), reward="any:clicked", missing="error")
