"""Frames in place of problems: fit, predict, score and certify by the names of columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import listwright as lw
from listwright.baselines import MMR, Oracle, StaticList, TopK
from listwright.errors import InputError


def frame(n: int = 60, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = n * 6
    good = rng.random(rows)
    return pd.DataFrame(
        {
            "user": np.repeat(np.arange(n) + 1000 * seed, 6),
            "article": np.tile([f"a{i}" for i in range(6)], n),
            "quality": good,
            "age": rng.random(rows),
            "clicked": (good + 0.3 * rng.random(rows) > 0.9).astype(int),
        }
    )


NAMES = {"problem": "user", "item": "article"}
MODELS = [
    lw.SCP(2, effort="fast", random_state=0),
    lw.ConSeqOpt(2, random_state=0),
    lw.OnlineSCP(2, random_state=0),
    TopK(length=2),
    MMR(length=2),
]


@pytest.mark.parametrize("as_frame", [lambda f: f, pl.from_pandas, pa.Table.from_pandas])
@pytest.mark.parametrize("model", MODELS)
def test_frames_go_in_and_are_aligned_by_name(model, as_frame):
    model.fit(as_frame(frame()), reward="any:clicked", **NAMES)
    new = frame(20, seed=1)
    lists = model.predict(as_frame(new[["age", "article", "quality", "user"]]))  # another order, no reward
    known = lw.Problems.from_frame(new, reward="any:clicked", **NAMES)
    np.testing.assert_array_equal(lists.rows, model.predict(known).rows)
    assert model.score(as_frame(new)) == pytest.approx(model.score(known))
    assert lists.problems.item_ids[0] == "a0"


def test_a_missing_column_is_named():
    model = lw.SCP(2, effort="fast", random_state=0).fit(frame(), reward="any:clicked", **NAMES)
    with pytest.raises(InputError, match="has no column 'age'"):
        model.predict(frame().drop(columns="age"))


def test_a_model_fitted_on_a_frame_keeps_its_columns_in_its_file(tmp_path):
    model = lw.SCP(2, effort="fast", random_state=0).fit(frame(), reward="any:clicked", certify=0.3, **NAMES)
    model.save(tmp_path / "model")
    loaded, new = lw.load(tmp_path / "model"), frame(20, seed=1)
    assert loaded.score(new) == model.score(new)
    assert loaded.certify(new).n == 20
    assert loaded.certified_.n == 18


def test_a_fit_on_problems_forgets_the_frame():
    problems = lw.Problems.from_frame(frame(), reward="any:clicked", **NAMES)
    model = lw.SCP(2, effort="fast", random_state=0).fit(frame(), reward="any:clicked", **NAMES).fit(problems)
    with pytest.raises(InputError, match="cannot tell which column is which"):
        model.predict(frame())


def test_what_cannot_be_meant_is_said_in_a_sentence():
    problems = lw.Problems.from_frame(frame(), reward="any:clicked", **NAMES)
    with pytest.raises(InputError, match="Pass reward="):
        lw.SCP(2, effort="fast").fit(frame(), **NAMES)
    with pytest.raises(InputError, match="reward= goes with a frame"):
        lw.SCP(2, effort="fast").fit(problems, reward="any:clicked")
    with pytest.raises(InputError, match="takes no y"):
        lw.SCP(2, effort="fast").fit(problems, np.zeros(60))
    with pytest.raises(TypeError, match="unexpected keyword argument 'colums'"):
        lw.SCP(2, effort="fast").fit(frame(), reward="any:clicked", colums=1)
    with pytest.raises(InputError, match="takes no y"):
        StaticList(2).fit(problems, [1])


def test_pipelines_pass_problems_through():
    problems = lw.Problems.from_frame(frame(), reward="any:clicked", **NAMES)
    piped = Pipeline([("scp", lw.SCP(2, effort="fast", random_state=0))]).fit(problems)
    assert piped.score(problems) == lw.SCP(2, effort="fast", random_state=0).fit(problems).score(problems)


def test_a_scaler_in_a_pipeline_says_why_it_cannot_take_problems():
    problems = lw.Problems.from_frame(frame(), reward="any:clicked", **NAMES)
    with pytest.raises(InputError, match=r"Problems are not an array.*StandardScaler"):
        Pipeline([("scale", StandardScaler()), ("scp", lw.SCP(2))]).fit(problems)


def test_learning_goes_on_from_frames():
    model = lw.SCP(2, effort="fast", random_state=0).fit(frame(), reward="any:clicked", **NAMES)
    before = model.n_rounds_
    model.partial_fit(frame(20, seed=1))
    assert model.n_rounds_ == before + 20


def test_the_oracle_reads_the_reward_of_a_frame():
    oracle = Oracle(2).fit(frame(), reward="any:clicked", **NAMES)
    assert oracle.predict(frame(20, seed=1)).values.mean() == oracle.score(frame(20, seed=1))


def test_clicks_go_on_from_a_frame():
    model = lw.OnlineSCP(2, random_state=0).fit(frame(), reward="any:clicked", **NAMES)
    shown = model.recommend(frame(20, seed=1))
    assert model.feedback(shown.list_ids, [[1, 0]] * 20) == 20
    with pytest.raises(InputError, match='learner="ridge"'):
        lw.OnlineSCP(2, learner="boosting").fit(frame(), reward="any:clicked", **NAMES)
    with pytest.raises(InputError, match="takes no y"):
        lw.OnlineSCP(2).fit(frame(), [1], reward="any:clicked", **NAMES)


@pytest.mark.parametrize("as_frame", [lambda f: f, pl.from_pandas, pa.Table.from_pandas])
def test_links_are_columns_of_item_ids(as_frame):
    table = frame(20).assign(cites=[["a1", "elsewhere", "a1"] if i % 2 else [] for i in range(120)])
    mixed = table.sample(frac=1.0, random_state=0)
    problems = lw.Problems.from_frame(as_frame(mixed), links="cites", reward="any:clicked", **NAMES)
    for row in range(12):
        owner = problems.owners[row]
        ids = problems.item_ids[problems.offsets[owner] : problems.offsets[owner + 1]]
        linked = ids[problems.links["cites"][[row]].toarray()[0, : len(ids)] > 0].tolist()
        odd = int(problems.item_ids[row][1:]) % 2 == 1
        assert linked == (["a1"] if odd and problems.item_ids[row] != "a1" else [])
    model = lw.SCP(2, effort="fast", random_state=0).fit(as_frame(mixed), links="cites", reward="any:clicked", **NAMES)
    assert "cites" in " ".join(model.weights_["feature"])
    assert model.predict(as_frame(mixed)) == model.predict(problems)
    with pytest.raises(InputError, match="Name the column with item="):
        lw.Problems.from_frame(table, problem="user", item=None, links="cites", features=["age"])


def test_names_of_features_are_known():
    model = lw.SCP(2, effort="fast", random_state=0).fit(frame(), reward="any:clicked", **NAMES)
    assert model.feature_names_in_.tolist() == ["quality", "age"]
    assert not hasattr(lw.SCP(2, effort="fast").fit(unnamed()), "feature_names_in_")


def unnamed() -> lw.Problems:
    x = np.random.default_rng(0).random((30, 5, 2))
    return lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.7))
