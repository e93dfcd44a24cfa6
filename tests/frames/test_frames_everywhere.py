"""Frames of every library, in memory and lazy, wherever problems go; what comes out is of the kind that went in."""

from __future__ import annotations

import copy
import inspect
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import listwright as lw
from listwright.baselines import TopK
from listwright.errors import InputError
from listwright.frames.columns import ColumnOptions, Columns, FrameKeywords
from listwright.predictor import Predictor

NAMES: dict[str, Any] = {"problem": "user", "item": "article", "categorical": ["kind"], "ignore": ["good_user"]}


def frame(n: int = 40, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    good = rng.random(n * 5)
    return pd.DataFrame(
        {
            "user": np.repeat(np.arange(n) + 1000 * seed, 5),
            "article": np.arange(n * 5),
            "good": good,
            "kind": rng.choice(["u", "v"], n * 5),
            "good_user": np.repeat(rng.integers(1, 4, n), 5),
            "clicked": (good + 0.3 * rng.random(n * 5) > 0.9).astype(int),
        }
    )


def fitted(**options: Any) -> lw.SCP:
    return lw.SCP(2, effort="fast", random_state=0).fit(frame(), reward="any:clicked", **(NAMES | options))


def as_duckdb(table: pd.DataFrame) -> Any:
    duckdb = pytest.importorskip("duckdb")
    return duckdb.from_arrow(pa.Table.from_pandas(table))


KINDS = {
    "pandas": (lambda table: table, pd.DataFrame),
    "polars": (pl.from_pandas, pl.DataFrame),
    "lazy polars": (lambda table: pl.from_pandas(table).lazy(), pl.DataFrame),
    "pyarrow": (pa.Table.from_pandas, pa.Table),
    "duckdb": (as_duckdb, pa.Table),
}


@pytest.mark.parametrize("kind", KINDS)
def test_lists_come_out_as_the_kind_of_frame_that_went_in(kind: str) -> None:
    convert, out = KINDS[kind]
    model, new = fitted(), frame(10, seed=1)
    lists = model.predict(convert(new))
    assert lists == model.predict(new)
    assert isinstance(lists.to_frame(), out)
    assert isinstance(lw.Problems.from_frame(convert(new), **NAMES)[2:4].backend, str)


@pytest.mark.parametrize("kind", KINDS)
def test_everything_that_takes_problems_takes_frames(kind: str) -> None:
    convert, _ = KINDS[kind]
    past, new = convert(frame()), convert(frame(20, seed=1))
    model = lw.SCP(2, effort="fast", random_state=0).fit(past, reward="any:clicked", **NAMES)
    problems = lw.Problems.from_frame(new, reward="any:clicked", columns=model.columns_)
    assert model.score(new) == model.score(problems)
    assert str(lw.evaluate(model, new)) == str(lw.evaluate(model, problems))
    assert str(lw.importance(model, new)) == str(lw.importance(model, problems))
    comparison = lw.compare({"top-k": TopK()}, past, reward="any:clicked", lengths=[1], folds=2, **NAMES)
    assert "40 problems" in str(comparison)
    held_out = lw.compare({"top-k": TopK()}, past, test=new, reward="any:clicked", lengths=[1], **NAMES)
    assert "20 problems" in str(held_out)
    weighted = model.certify(new, weight="good_user", cluster="user")
    assert weighted == model.certify(frame(20, seed=1), weight="good_user", cluster="user")
    assert model.partial_fit(new).n_rounds_ > 40


@pytest.mark.parametrize("kind", ["lazy polars", "pandas"])
def test_clusters_are_columns_of_frames_whose_ids_are_floats_too(kind: str) -> None:
    convert, _ = KINDS[kind]
    model, new = fitted(), frame(20, seed=1).assign(team=np.repeat(np.arange(20) // 4, 5))
    floats = convert(new.assign(user=new.user.astype(float)))
    by_team = model.certify(floats, cluster="team")
    assert by_team.n_groups == 5
    assert by_team == model.certify(new, cluster=np.arange(20) // 4)
    with pytest.raises(InputError, match="no column 'teem' for cluster"):
        model.certify(floats, cluster="teem")


def test_the_first_frame_of_partial_fit_names_the_columns() -> None:
    model = lw.SCP(2, effort="fast", random_state=0).partial_fit(frame(), reward="any:clicked", **NAMES)
    assert model.partial_fit(frame(20, seed=1)).n_rounds_ > 0
    assert model.score(frame(20, seed=2)) > 0
    with pytest.raises(InputError, match="item= goes with the first frame"):
        model.partial_fit(frame(20, seed=1), item="article")


def test_score_takes_a_reward_a_length_and_a_budget(tmp_path: Path) -> None:
    model, new = fitted(), frame(20, seed=1)
    assert model.score(new, length=1) <= model.score(new) < model.score(new, reward="sum:good", length=4)
    assert model.score(new, reward="sum:good") > 1
    assert TopK(2).fit(frame(), reward="any:clicked", **NAMES).score(new, length=1) <= 1
    own = lw.SCP(2, effort="fast", random_state=0).fit(frame(), reward=lw.rewards.Function(worth), **NAMES)
    assert own.score(new) == own.score(new, reward=lw.rewards.Function(worth)) > 0
    assert own.partial_fit(new).score(new) == lw.evaluate(own, new).metrics["value"].mean
    own.save(tmp_path / "own.listwright")  # without the function, which is code
    with pytest.raises(InputError, match="Pass reward="):
        lw.load(tmp_path / "own.listwright").score(new)
    with pytest.raises(InputError, match="Pass reward="):
        copy.deepcopy(own).score(new)


def worth(problem: lw.Problems, items: Any) -> float:
    return float(len(items) > 0 and problem.features[np.asarray(items), 0].max())


def test_unknown_levels_are_zeros_where_asked_for() -> None:
    new = frame(10, seed=1)
    new.loc[3, "kind"] = "w"
    with pytest.raises(InputError, match=r'"w" was not|\'w\' was not in the training data.*new_levels="zeros"'):
        fitted().predict(new)
    assert len(fitted().predict(new, new_levels="zeros")) == 10
    assert len(fitted(new_levels="zeros").predict(new)) == 10
    assert fitted().score(new, new_levels="zeros") == fitted(new_levels="zeros").score(new)
    assert len(TopK(2).fit(frame(), reward="any:clicked", **NAMES).predict(new, new_levels="zeros")) == 10
    problems = lw.Problems.from_frame(frame(), **NAMES)
    with pytest.raises(InputError, match="new_levels= goes with a frame"):
        fitted().predict(problems, new_levels="zeros")


@pytest.mark.parametrize(
    "call",
    [
        lambda model, new: model.certify(new),
        lambda model, new: model.partial_fit(new),
        lambda model, new: lw.evaluate(model, new),
    ],
)
def test_unknown_levels_in_calls_without_that_option_say_what_helps(call: Any) -> None:
    new = frame(10, seed=1)
    new.loc[3, "kind"] = "w"
    model = fitted()
    told = r"for other calls to fit, or to Problems\.from_frame with the model's columns_"
    with pytest.raises(InputError, match=told):
        call(model, new)
    call(fitted(new_levels="zeros"), new)
    options: dict[str, Any] = {"columns": model.columns_, "new_levels": "zeros", "reward": "any:clicked"}
    call(model, lw.Problems.from_frame(new, **options))


def test_columns_are_there_for_type_checkers() -> None:
    assert get_type_hints(Predictor)["columns_"] is Columns  # of a fitted model: `model.columns_.features` is a tuple


def test_options_are_parameters_of_fit() -> None:
    names = set(inspect.signature(lw.Problems.from_frame).parameters) - {"frame", "reward", "columns"}
    for method in (lw.SCP.fit, lw.SCP.partial_fit, TopK.fit, lw.OnlineSCP.fit):
        assert names <= set(inspect.signature(method).parameters)
    options = set(ColumnOptions.__dataclass_fields__)
    assert set(get_type_hints(FrameKeywords)) == options | {"references"}
    assert names | {"columns"} == options - {"fixed"} | {"references"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("past.csv", "Got the path 'past.csv'. Read files with lw.read"),
        (pd.DataFrame([[1, 1, 2.0]], columns=["user", "good", "good"]), "two columns named 'good'"),
        ([1, 2], "Give a frame of pandas, polars, pyarrow or DuckDB. Got builtins.list"),
        (pl.scan_csv("nowhere/past.csv"), "This frame cannot be read"),
        (
            pl.LazyFrame({"user": [1]}).select("user", pl.col("user").alias("user")),
            "This frame cannot be read.*duplicate",
        ),
        (pa.table([[1], [1.0], [2.0]], names=["user", "good", "good"]), "two columns named 'good'"),
    ],
)
def test_what_is_no_frame_is_explained(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        lw.Problems.from_frame(given, **NAMES)


def test_a_path_in_place_of_problems_is_explained() -> None:
    with pytest.raises(InputError, match=r"listwright\.read|lw\.read"):
        lw.SCP(2, effort="fast").fit("past.csv")
    with pytest.raises(InputError, match="two columns named 'good'"):
        lw.SCP(2).fit(pd.DataFrame([[1, 1, 2.0]], columns=["user", "good", "good"]), reward="any:good", **NAMES)


@pytest.mark.parametrize("given", [{"user": [1]}, np.zeros((2, 2)), [1, 2], None, "past.csv"])
def test_what_is_neither_problems_nor_a_frame_is_refused_everywhere(given: Any) -> None:
    model = lw.SCP(2, effort="fast", random_state=0).fit(frame(), reward="any:clicked", **NAMES)
    calls: list[Callable[[], Any]] = [
        lambda: model.predict(given),
        lambda: model.score(given),
        lambda: model.certify(given),
        lambda: lw.evaluate(model, given),
        lambda: lw.importance(model, given),
        lambda: lw.SCP(2).fit(given, reward="any:clicked"),
        lambda: lw.SCP(2).partial_fit(given, reward="any:clicked"),
        lambda: lw.compare({"model": model}, given, reward="any:clicked"),
    ]
    for call in calls:
        with pytest.raises(InputError, match=r"a frame|no file|the path"):
            call()


@pytest.mark.skipif(not hasattr(pa, "uuid"), reason="this pyarrow has no UUIDs, and says so")
def test_ids_that_are_uuids_are_names() -> None:
    ids = {number: uuid.UUID(int=number * 2**99 + 255) for number in range(1020)}
    past, new = (table.assign(user=table.user.map(ids)) for table in (frame(), frame(20, seed=1)))
    model = lw.SCP(2, effort="fast", random_state=0).fit(past, reward="any:clicked", **NAMES)
    assert model.predict(new).to_frame()["problem"].tolist()[::2] == [str(name) for name in new.user[::5]]


def test_a_column_in_the_index_is_named() -> None:
    with pytest.raises(InputError, match=r"has 'user' in its index, which is not read\. Pass frame\.reset_index\(\)"):
        lw.SCP(2).fit(frame().set_index(["user", "article"]), reward="any:clicked", **NAMES)
    with pytest.raises(InputError, match=r"has 'user' in its index"):
        fitted().predict(frame(20, seed=1).set_index("user"))


def test_a_lambda_as_reward_names_the_class_that_takes_it() -> None:
    with pytest.raises(InputError, match=r"rewards\.Function"):
        lw.SCP(2, effort="fast").fit(frame(), reward=lambda problem, items: 1.0, **NAMES)


@pytest.mark.parametrize(("convert", "kind"), [(pl.from_pandas, pl.DataFrame), (pa.Table.from_pandas, pa.Table)])
def test_tables_of_a_model_are_of_the_kind_that_went_in(convert: Any, kind: type) -> None:
    model = lw.SCP(2, effort="fast", random_state=0).fit(convert(frame()), reward="any:clicked", **NAMES)
    new = convert(frame(20, seed=1))
    compared = lw.compare({"top-k": TopK(2)}, new, reward="any:clicked", lengths=[1], **NAMES)
    tables = [model.weights_, model.history_, lw.importance(model, new), compared]
    assert all(isinstance(table.to_frame(), kind) for table in tables)
    assert isinstance(model.weights_.to_frame("pandas"), pd.DataFrame)


def test_a_path_with_a_reward_is_explained_too() -> None:
    with pytest.raises(InputError, match=r"Read files with lw\.read"):
        lw.SCP(2, effort="fast").fit("past.csv", reward="any:clicked")
    assert "weight" in inspect.signature(lw.compare).parameters
