"""`Selector`: the estimator, and streams against the selection from the whole table."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import listwright as lw
from listwright.errors import InputError

X = np.random.default_rng(0).random((400, 6)).astype(np.float32)


def test_the_estimator_is_select() -> None:
    selector = lw.Selector(5).fit(X)
    assert selector.rows_.tolist() == lw.select(X, 5).rows.tolist()
    assert selector.get_support().sum() == 5
    assert selector.get_support(indices=True).tolist() == sorted(selector.rows_)
    np.testing.assert_array_equal(selector.transform(X), X[np.sort(selector.rows_)])
    assert len(selector.transform(pd.DataFrame(X))) == len(selector.transform(pl.DataFrame(X))) == 5
    assert clone(selector).get_params() == selector.get_params()
    assert len(make_pipeline(StandardScaler(), lw.Selector(5, metric="euclidean")).fit_transform(X)) == 5


@pytest.mark.parametrize("reward", ["facility_location", "log_det"])
def test_a_stream_is_worth_half_of_the_best(reward: str) -> None:
    small, targets = X[:12], X[100:130]
    options = {"targets": targets} if reward == "facility_location" else {}
    for k in (2, 3):
        selector = lw.Selector(k, reward=reward, epsilon=0.05, **options)
        for low in range(0, 12, 5):
            selector.partial_fit(small[low : low + 5])
        others = [[row for row in range(12) if row not in rows] for rows in combinations(range(12), k)]
        best = max(
            lw.select(
                small, 1, reward=reward, given=np.setdiff1d(np.arange(12), out)[:-1], exclude=out, **options
            ).value
            for out in others
        )
        assert selector.value_ >= (0.5 - 0.05) * best
        np.testing.assert_allclose(
            np.linalg.norm(selector.vectors_, axis=1), 1.0, rtol=1e-5, err_msg="rows are scaled to length 1"
        )


def test_a_long_stream_comes_near_to_greedy() -> None:
    for reward in ("facility_location", "log_det"):
        options = {"targets": X} if reward == "facility_location" else {}
        selector = lw.Selector(10, reward=reward, **options)
        for low in range(0, 400, 64):
            selector.partial_fit(X[low : low + 64])
        assert selector.n_seen_ == 400
        assert len(set(selector.rows_.tolist())) == len(selector.rows_) <= 10
        assert selector.value_ >= 0.8 * lw.select(X, 10, reward=reward).value
        assert selector.get_support().sum() == len(selector.rows_)
    sampled = lw.Selector(3, sample=50, random_state=0).partial_fit(X)
    assert len(sampled.rows_) == 3


def test_what_streams_do_not_take_is_refused() -> None:
    with pytest.raises(InputError, match="A stream takes reward"):
        lw.Selector(3, reward="graph_cut").partial_fit(X)
    with pytest.raises(InputError, match="A stream takes metric"):
        lw.Selector(3, metric="rbf").partial_fit(X)
    with pytest.raises(InputError, match="epsilon must be"):
        lw.Selector(3, epsilon=2.0).partial_fit(X)
