"""`Selector`: the estimator, and streams against the selection from the whole table."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse
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
        np.testing.assert_array_equal(selector.vectors_, small[selector.rows_])


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


@pytest.mark.parametrize("size", [1, 7, 150])
def test_a_stream_is_the_same_whatever_the_size_of_its_first_chunks(size: int) -> None:
    whole = lw.Selector(6, random_state=0).partial_fit(X)
    parts = lw.Selector(6, random_state=0).partial_fit(X[low : low + size] for low in range(0, 400, size))
    assert parts.n_seen_ == 400
    assert parts.rows_.tolist() == whole.rows_.tolist()
    assert len(parts.rows_) == 6


def test_a_stream_that_is_sorted_represents_all_of_it() -> None:
    clusters = np.repeat(np.eye(6, dtype=np.float32), 40, axis=0)
    selector = lw.Selector(6)
    for low in range(0, 240, 20):
        selector.partial_fit(clusters[low : low + 20])
        assert len(selector.rows_) <= 6  # reading it changes nothing
    assert (clusters[selector.rows_] @ clusters.T).max(axis=0).sum() >= 0.5 * 240


def test_names_of_a_stream_of_record_batches(tmp_path) -> None:
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"id": [f"r{i}" for i in range(400)], "vector": X.tolist()}), path)
    selector = lw.Selector(4).partial_fit(parquet.ParquetFile(path))
    assert selector.ids_.tolist() == [f"r{row}" for row in selector.rows_]
    batches = lw.Selector(4).partial_fit(parquet.ParquetFile(path).iter_batches(90))
    assert batches.rows_.tolist() == selector.rows_.tolist()
    np.testing.assert_allclose(selector.vectors_, X[selector.rows_])
    assert lw.Selector(4).fit(path).n_seen_ == 400
    assert lw.Selector(4).fit_transform(path).shape == (4, 6)


def test_tables_of_every_kind_can_be_fitted_and_a_stream_begins_anew_after_fit() -> None:
    assert lw.Selector(4).fit_transform(sparse.csr_array(X)).shape == (4, 6)
    assert lw.Selector(4).fit_transform(X.tolist()).shape == (4, 6)
    selector = lw.Selector(4).partial_fit(X).fit(X[:50]).partial_fit(X[:10])
    assert selector.n_seen_ == 10
    with pytest.raises(InputError, match="transform takes the table"):
        lw.Selector(4).fit(X).transform(X[:5])
    with pytest.raises(InputError, match="Rows must have 6 numbers, as in the chunks before"):
        lw.Selector(4).partial_fit(X).partial_fit(X[:, :3])


def test_what_streams_do_not_take_is_refused() -> None:
    for name, value in {"sample": 0, "scale": -1.0, "k": 0}.items():
        with pytest.raises(InputError, match=f"{name} must be"):
            lw.Selector(**{name: value}).partial_fit(X)
    with pytest.raises(InputError, match="A stream takes reward"):
        lw.Selector(3, reward="graph_cut").partial_fit(X)
    with pytest.raises(InputError, match="A stream takes metric"):
        lw.Selector(3, metric="rbf").partial_fit(X)
    with pytest.raises(InputError, match="epsilon must be"):
        lw.Selector(3, epsilon=2.0).partial_fit(X)
    with pytest.raises(InputError, match="options= are for fit"):
        lw.Selector(3, options={"exclude": [0]}).partial_fit(X)


def test_a_stream_whose_rows_are_worth_nothing_has_no_picks() -> None:
    selector = lw.Selector(3, metric="dot", targets=-X[:5]).partial_fit(iter([X[:50], X[50:]]))
    assert (len(selector.rows_), selector.value_, selector.transform(X).shape) == (0, 0.0, (0, 6))
    assert selector.vectors_.shape == (0, 6)


def test_columns_keep_their_names() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    assert make_pipeline(StandardScaler().set_output(transform="pandas"), lw.Selector(3)).fit(
        frame
    ).get_feature_names_out().tolist() == list("abcdef")
    for selector in (lw.Selector(3).fit(X), lw.Selector(3).partial_fit(X)):
        assert selector.n_features_in_ == 6
        assert selector.get_feature_names_out().tolist() == ["x0", "x1", "x2", "x3", "x4", "x5"]


def test_empty_chunks_of_a_stream_are_nothing() -> None:
    rng, selector, at = np.random.default_rng(1), lw.Selector(4), 0
    while at < len(X):
        step = int(rng.integers(0, 60))
        selector.partial_fit(X[at : at + step])
        at += step
    assert selector.rows_.tolist() == lw.Selector(4).partial_fit(X).rows_.tolist()
    batch = pa.RecordBatch.from_pydict({"v": X.tolist()})
    assert lw.Selector(4).partial_fit(batch.slice(0, 0)).partial_fit(batch).n_seen_ == 400


def test_chunks_of_a_pandas_frame_are_named_by_its_index_from_the_first_row_on() -> None:
    x = np.random.default_rng(0).normal(size=(300, 4)) * np.linspace(1, 2, 300)[:, None]
    frame, selector = pd.DataFrame(x), lw.Selector(6, sample=50, metric="dot", random_state=0)
    for low in range(0, 300, 50):
        selector.partial_fit(frame.iloc[low : low + 50])
    assert selector.rows_.max() >= 50 > selector.rows_.min()
    assert selector.ids_.tolist() == selector.rows_.tolist()


def test_a_pipeline_with_a_kind_of_output_takes_it() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=["a", "b", "c"])
    pipeline = make_pipeline(StandardScaler(), lw.Selector(4)).set_output(transform="pandas")
    assert pipeline.fit_transform(frame).columns.tolist() == ["a", "b", "c"]


def test_a_list_of_chunks_is_refused_with_the_way_to_pass_it() -> None:
    chunks = list(np.random.default_rng(0).random((3, 20, 4)))
    with pytest.raises(InputError, match=r"iter\(chunks\)"):
        lw.Selector(2).partial_fit(chunks)
    assert lw.Selector(2).partial_fit(iter(chunks)).n_seen_ == 60
    assert lw.Selector(2).partial_fit(chunks[0].tolist()).n_seen_ == 20
