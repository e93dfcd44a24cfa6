"""One table gives the same problems in every format, and as a frame of every kind."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings

import listwright as lw
from listwright.tables import read
from tests.table_tools import FORMATS, assert_same, write

# Columns of lists here are for one reward each, and have no role with the others.
pytestmark = pytest.mark.filterwarnings("ignore:.*lists are not used as features:listwright.errors.DataWarning")
REWARDS = ["any:clicked", "coverage:topics", "coverage:topics*weights", "sqrt:amount_*", "facility:embedding"]
OPTIONS: dict[str, Any] = {
    "context": ["user_*"],
    "categorical": ["colour"],
    "catalogue": "kind",
    "ignore": ["amount_*"],
}

names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
floats32 = st.floats(-1e6, 1e6, width=32)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Rows of a few problems, in any order, with columns of every kind."""
    ids = draw(st.lists(names | st.integers(-99, 99).map(str), min_size=1, max_size=3, unique=True))
    items = draw(st.lists(names, min_size=3, max_size=4, unique=True))
    rows = [(problem, item) for problem in ids for item in items]
    rows = draw(st.permutations(rows))
    n = len(rows)
    weight_of = {topic: draw(st.floats(0.125, 8.0, width=16)) for topic in ("a b", "c,d", "é")}
    topics = [draw(st.lists(st.sampled_from(sorted(weight_of)), max_size=3, unique=True)) for _ in range(n)]
    topics[0] = ["é"]
    user = {problem: draw(floats32) for problem in ids}
    column = lambda strategy: [draw(strategy) for _ in range(n)]  # noqa: E731
    return pa.table(
        {
            "problem": [problem for problem, _ in rows],
            "item": [item for _, item in rows],
            "size": column(st.floats(0.5, 9.0)),
            "price": column(floats32),
            "count": column(st.integers(-5, 5)),
            "user_age": [user[problem] for problem, _ in rows],
            "colour": column(st.sampled_from(["red", "blue, dark", '"'])),
            "kind": [f"kind {items.index(item)}" for _, item in rows],
            "clicked": column(st.integers(0, 1)),
            "topics": topics,
            "weights": [[weight_of[topic] for topic in several] for several in topics],
            "amount_1": column(st.floats(0, 4)),
            "amount_2": [1.5] * n,
            "embedding": column(st.lists(floats32, min_size=2, max_size=2)),
        }
    )


@given(tables(), st.sampled_from(REWARDS), st.sampled_from(FORMATS))
@settings(max_examples=60, deadline=None)
def test_every_format_gives_the_same_problems(table: pa.Table, reward: str, ending: str) -> None:
    expected = lw.Problems.from_frame(table, reward=reward, **OPTIONS)
    with tempfile.TemporaryDirectory() as folder:
        found = read(write(table, Path(folder), ending), reward=reward, **OPTIONS)
    assert_same(expected, found)


@given(st.data(), st.sampled_from(["csv", "tsv", "jsonl", "parquet"]))
@settings(max_examples=40, deadline=None)
def test_lists_are_lists_in_every_format(data: st.DataObject, ending: str) -> None:
    """CSV writes them as text: all equal they looked like a category, all different they were dropped in silence."""
    n = data.draw(st.integers(2, 12))
    numbers = data.draw(st.lists(st.lists(floats32, min_size=1, max_size=3), min_size=1, max_size=2)) * n
    several = data.draw(st.lists(st.lists(names, min_size=1, max_size=3), min_size=1, max_size=n)) * n
    table = pa.table({"problem": ["q"] * n, "x": range(n), "near": numbers[:n], "about": several[:n]})
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert read(write(table, Path(folder), ending)).feature_names == ("x",)
    said = [str(warning.message).partition(": ")[2] for warning in warned]
    assert [line.partition(". Name ")[0].rpartition(": ")[2] for line in said] == ["'near'", "'about'"]
    assert all(line.startswith("lists are not used as features") for line in said)


@given(tables(), st.sampled_from(REWARDS))
@settings(max_examples=25, deadline=None)
def test_every_kind_of_frame_gives_the_same_problems(table: pa.Table, reward: str) -> None:
    expected = lw.Problems.from_frame(table, reward=reward, **OPTIONS)
    assert_same(expected, lw.Problems.from_frame(table.to_pandas(), reward=reward, **OPTIONS))
    polars = pl.from_arrow(table)
    assert isinstance(polars, pl.DataFrame)
    assert_same(expected, lw.Problems.from_frame(polars, reward=reward, **OPTIONS))
    assert_same(
        expected,
        lw.Problems.from_frame(polars.with_columns(pl.col("colour").cast(pl.Categorical)), reward=reward, **OPTIONS),
    )


@given(tables())
@settings(max_examples=25, deadline=None)
@pytest.mark.filterwarnings("ignore:.*text is not used as a feature:listwright.errors.DataWarning")
def test_rows_are_grouped_by_problem_in_order(table: pa.Table) -> None:
    problems = lw.Problems.from_frame(table)
    rows = table.to_pylist()
    ids = list(dict.fromkeys(row["problem"] for row in rows))
    assert problems.problem_ids.tolist() == ids
    grouped = [row for name in ids for row in rows if row["problem"] == name]
    assert problems.item_ids is not None
    assert problems.item_ids.tolist() == [row["item"] for row in grouped]
    assert problems.feature_names == ("price", "count", "user_age", "clicked", "amount_1", "amount_2")
    np.testing.assert_array_equal(problems.features[:, 0], [row["price"] for row in grouped])


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_svmlight_gives_the_same_problems_as_a_frame(data: st.DataObject) -> None:
    queries = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=8))
    tables = [data.draw(st.lists(st.just(0.0) | floats32, min_size=3, max_size=3)) for _ in queries]
    tables[0][2] = 1.0  # so that all three columns are there
    labels = [data.draw(st.integers(0, 1)) for _ in queries]
    lines = [
        f"{label} qid:{query} "
        + " ".join(f"{i + 1}:{value!r}" for i, value in enumerate(row) if value)
        + f"  # docid = d{number}\n"
        for number, (label, query, row) in enumerate(zip(labels, queries, tables, strict=True))
    ]
    frame = {"problem": queries, "item": [f"d{i}" for i in range(len(queries))], "label": labels}
    frame |= {f"feature {i + 1}": [row[i] for row in tables] for i in range(3)}
    expected = lw.Problems.from_frame(pa.table(frame), reward="any:label")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.svm")
        path.write_text("".join(lines))
        assert_same(expected, read(path, reward="any:label"), length=1)


@pytest.mark.parametrize("ending", FORMATS)
def test_whole_numbers_as_ids_stay_numbers(ending: str, tmp_path: Path) -> None:
    table = pa.table({"problem": [7, 7, 8], "item": [1, 2, 1], "x": [0.5, 1.0, 2.0]})
    problems = read(write(table, tmp_path, ending))
    assert problems.problem_ids.tolist() == [7, 8]
    assert problems.item_ids is not None
    assert problems.item_ids.tolist() == [1, 2, 1]


def test_ids_that_only_look_alike_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("problem,x\n7,1\n07,2\n7.0,3\n")
    assert read(path).problem_ids.tolist() == ["7", "07", "7.0"]


def test_text_that_looks_like_a_date_is_text(tmp_path: Path) -> None:
    table = pa.table({"problem": ["2020-01-01", "2020-01-02"], "x": [1, 2], "topics": [["2021-01-01"], ["2021-01-01"]]})
    for ending in ("jsonl", "csv"):
        problems = read(write(table, tmp_path, ending), reward="coverage:topics")
        assert problems.problem_ids.tolist() == ["2020-01-01", "2020-01-02"]
        assert lw.greedy(problems, length=1).values.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(("mark", "decimal"), [(";", ","), (";", "."), ("\t", ","), ("\t", "."), ("|", ".")])
def test_fields_may_be_separated_otherwise(tmp_path: Path, mark: str, decimal: str) -> None:
    text = "problem,item,price,age,note,clicked\nq1,a,0.5,1,x y,0\nq1,b,2.25,3,,1\nq2,a,1e-3,2,z,1\n"
    (tmp_path / "commas.csv").write_text(text)
    (tmp_path / "others.csv").write_text(text.replace(",", mark).replace(".", decimal))
    expected = read(tmp_path / "commas.csv", reward="any:clicked")
    found = read(tmp_path / "others.csv", reward="any:clicked")
    assert_same(found, expected, length=1)
    assert found.feature_names == ("price", "age")


def test_a_comma_within_a_name_is_no_separator(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('problem;item;"price, net";clicked\nq1;a;1;0\nq1;b;2;1\n')
    assert read(tmp_path / "t.csv", reward="any:clicked").feature_names == ("price, net",)
