"""Frames: which column is what, and what is said where a table cannot be used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import listwright as lw
from listwright.errors import DataWarning, InputError
from listwright.problems import Problems
from listwright.tables import read_with_columns

TABLE = {
    "problem": ["q2", "q1", "q2", "q1"],
    "item": ["a", "b", "c", "a"],
    "size": [1, 2, 3, 4],
    "price": [0.5, 1.5, 2.5, 3.5],
    "user": [10, 20, 10, 20],
    "colour": ["red", "blue", "red", "green"],
    "good": [True, False, False, True],
}


def table(**changes: Any) -> pa.Table:
    """The table above with some columns changed; None takes one out."""
    return pa.table({name: column for name, column in (TABLE | changes).items() if column is not None})


def test_by_default_numbers_are_features_and_names_are_found() -> None:
    problems = lw.Problems.from_frame(table())
    assert problems.feature_names == ("price", "user", "good")
    assert problems.problem_ids.tolist() == ["q2", "q1"]
    np.testing.assert_array_equal(problems.features, [[0.5, 10, 1], [2.5, 10, 0], [1.5, 20, 0], [3.5, 20, 1]])
    np.testing.assert_array_equal(problems.sizes, [1, 3, 2, 4])
    assert problems.reward is None


def test_item_and_size_may_be_missing() -> None:
    problems = lw.Problems.from_frame(table(item=None, size=None))
    assert problems.item_ids is None
    assert problems.sizes is None


def test_columns_go_by_the_names_given() -> None:
    frame = pl.DataFrame(
        {"query": [1, 1], "doc": ["x", "y"], "cost": [1.0, 2.0], "f1": [1, 2], "f2": [3, 4], "g": [5, 6]}
    )
    problems = lw.Problems.from_frame(frame, problem="query", item="doc", size="cost", features=["f*"])
    assert problems.feature_names == ("f1", "f2")
    np.testing.assert_array_equal(problems.sizes, [1.0, 2.0])


def test_context_is_one_row_a_problem() -> None:
    problems = lw.Problems.from_frame(table(), context=["user"])
    assert problems.context is not None
    np.testing.assert_array_equal(problems.context, [[10], [20]])
    assert problems.feature_names == ("price", "good")


def test_categories_become_flags_and_are_read_the_same_again() -> None:
    problems, columns = read_with_columns(table(), categorical=["colour"])
    assert problems.feature_names == ("price", "user", "colour=blue", "colour=green", "colour=red", "good")
    np.testing.assert_array_equal(problems.features[:, 2:5], [[0, 0, 1], [0, 0, 1], [1, 0, 0], [0, 1, 0]])
    later = lw.Problems.from_frame(table(colour=["green"] * 4), columns=columns)
    assert later.feature_names == problems.feature_names
    np.testing.assert_array_equal(later.features[:, 3], 1)


def test_a_new_level_is_an_error_or_no_level() -> None:
    _, columns = read_with_columns(table(), categorical=["colour"])
    new = table(colour=["pink", "red", "red", "red"])
    with pytest.raises(InputError, match="'pink' was not in the training data"):
        lw.Problems.from_frame(new, columns=columns)
    problems = lw.Problems.from_frame(new, columns=columns, new_levels="zeros")
    np.testing.assert_array_equal(problems.features[0, 2:5], 0)


def test_a_catalogue_keeps_its_names_and_codes() -> None:
    problems, columns = read_with_columns(table(), catalogue="item")
    assert problems.catalogue is not None
    assert problems.catalogue.tolist() == [0, 2, 1, 0]
    assert columns.catalogue_names == ("a", "b", "c")
    again = lw.Problems.from_frame(
        table(item=["c", "a", "b", "b"]), catalogue="item", catalogue_names=columns.catalogue_names
    )
    assert again.catalogue is not None
    assert again.catalogue.tolist() == [2, 1, 0, 1]
    with pytest.raises(InputError, match="item z is not in the catalogue of 3 items"):
        lw.Problems.from_frame(table(item=["z", "a", "b", "b"]), columns=columns)


def test_vectors_come_from_lists_or_columns() -> None:
    expected = np.array([[1, 2], [5, 6], [3, 4], [7, 8]], dtype=np.float32)
    lists = table(e=[[1.0, 2.0], [3, 4], [5, 6], [7, 8]])
    np.testing.assert_array_equal(lw.Problems.from_frame(lists, vectors="e").vectors, expected)
    columns = table(e_1=[1, 3, 5, 7], e_2=[2, 4, 6, 8])
    problems = lw.Problems.from_frame(columns, vectors="e_*")
    np.testing.assert_array_equal(problems.vectors, expected)
    assert problems.feature_names == ("price", "user", "good")


def test_a_model_fits_and_reads_the_next_table() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"problem": np.repeat(np.arange(30), 5), "x": rng.random(150), "kind": list("abcde") * 30})
    frame["hit"] = (frame["x"] > 0.6).astype(int)
    problems, columns = read_with_columns(frame, categorical=["kind"], reward="any:hit")
    model = lw.SCP(length=2, effort="fast", random_state=0).fit(problems)
    new = frame.drop(columns="hit").sample(frac=1, random_state=1)[["kind", "x", "problem"]]
    lists = model.predict(lw.Problems.from_frame(new, columns=columns))
    assert len(lists) == 30


ERRORS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no problem column": ({"problem": None}, {}, r"has no column 'problem'. It has 'item', .* Name .* with problem="),
    "named column": ({}, {"item": "doc"}, "has no column 'doc'"),
    "pattern": ({}, {"features": ["f_*"]}, r"has no column 'f_\*'"),
    "missing id": ({"problem": ["q", None, "q", "q"]}, {}, r"Row 1 .* column 'problem': the value is missing"),
    "empty id": ({"item": ["a", "", "c", "d"]}, {}, r"Row 1 .* column 'item': the value is empty"),
    "missing number": ({"price": [1, None, 2, 3]}, {}, r"Row 1 .* column 'price': the value is missing"),
    "nan": ({"price": [1, float("nan"), 2, 3]}, {}, r"Row 1 .* column 'price': the value is missing"),
    "infinite": ({"price": [1, 2, float("inf"), 3]}, {}, r"Row 2 .* column 'price': inf is not finite"),
    "too large": ({"price": [1, 2, 3, 1e300]}, {}, r"Row 3 .* 1e\+300 is too large for float32"),
    "nan as a level": ({"price": [1, 2, float("nan"), 3]}, {"categorical": ["price"]}, r"Row 2 .* value is missing"),
    "text": ({}, {"features": ["colour"]}, r"column 'colour': 'red' is text where a number is expected"),
    "item twice": ({"item": ["a", "b", "a", "b"]}, {}, r"Row 2 .* problem q2 has this item already, at row 0"),
    "size": ({"size": [1, 0, 1, 1]}, {}, r"Row 1 .* size 0 is not above 0"),
    "context": ({}, {"context": ["price"]}, r"Row 2 .* problem q2 has another value at row 0"),
    "no features": ({}, {"features": []}, "has no features"),
    "vectors": (
        {"e": [[1.0], [2.0], [3.0, 4.0], [5.0]]},
        {"vectors": "e"},
        r"Row 2 .* 2 numbers, most have 1",
    ),
    "vectors of text": ({"e": [["x"], ["y"], ["z"], ["w"]]}, {"vectors": "e"}, "does not hold finite numbers"),
    "new_levels": ({}, {"new_levels": "guess"}, "new_levels must be"),
    "kind of id": ({"problem": [[1], [2], [3], [4]]}, {}, "must hold names or whole numbers"),
    "reward column": ({}, {"reward": "any:clicked"}, r"has no column 'clicked'. .* with reward="),
    "reward range": ({"clicked": [0, 1, 2, 0]}, {"reward": "any:clicked"}, r"Row 2 .* 2 is not between 0 and 1"),
    "reward object": ({}, {"reward": lw.rewards.AnySuccess([0, 1, 0, 1])}, "Sort the table by problem"),
    "reward kind": ({}, {"reward": 3}, "reward must be text such as"),
    "references": ({}, {"reward": "any:good", "references": {"q1": "x"}}, "references go with"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_where_and_what(name: str) -> None:
    changes, options, message = ERRORS[name]
    with pytest.raises(InputError, match=message):
        lw.Problems.from_frame(table(**changes), missing="error", **options)


def test_where_a_model_names_the_columns_no_option_is_advised() -> None:
    _, columns = read_with_columns(table(), missing="error")
    for changes, message in (
        ({"price": None}, r"has no column 'price'. .* The model was fitted with it: add it\.$"),
        (
            {"price": [1, 2, None, 3]},
            r"column 'price': the value is missing. Put a number there, or leave the row out\.$",
        ),
        ({"item": ["a", "b", "a", "b"]}, r"at row 0 \(from 0\). List an item only once per problem\.$"),
    ):
        with pytest.raises(InputError, match=message):
            lw.Problems.from_frame(table(**changes), columns=columns)


def test_a_reward_object_suits_a_table_that_is_grouped() -> None:
    problems = lw.Problems.from_frame(
        table(problem=["p", "p", "q", "q"], item=list("abab")), reward=lw.rewards.AnySuccess([0, 1, 1, 0])
    )
    assert [items.tolist() for items in lw.greedy(problems, length=1)] == [[1], [0]]


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(InputError, match=r"Give a frame of pandas, polars, pyarrow or DuckDB. Got builtins.dict\.$"):
        lw.Problems.from_frame(dict(TABLE))
    with pytest.raises(InputError, match="has no rows"):
        lw.Problems.from_frame(table().slice(0, 0))
    with pytest.raises(InputError, match="'x'"):
        lw.Problems.from_frame(pd.DataFrame([[1, 2, 3]], columns=["problem", "x", "x"]))


def test_a_column_of_mixed_kinds_is_an_error_unless_ignored() -> None:
    frame = pd.DataFrame({"problem": [1, 1], "x": [1.0, 2.0], "odd": [1, "two"]})
    with pytest.raises(InputError, match=r"column 'odd' cannot be used.*leave it out with ignore="):
        lw.Problems.from_frame(frame)
    assert lw.Problems.from_frame(frame, ignore=["odd"]).feature_names == ("x",)


def test_categorical_columns_of_frames_are_encoded() -> None:
    frame = pd.DataFrame({"problem": [0, 0, 1], "x": [1.0, 2.0, 3.0], "kind": pd.Categorical(["a", "b", "a"])})
    for given in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        problems = lw.Problems.from_frame(given)
        assert problems.feature_names == ("x", "kind=a", "kind=b")
        assert lw.Problems.from_frame(given, ignore=["kind"]).feature_names == ("x",)
        assert lw.Problems.from_frame(given, features=["x"]).feature_names == ("x",)


def test_dates_are_left_out_with_a_warning_that_names_them() -> None:
    frame = pd.DataFrame({"problem": [0, 0], "x": [1.0, 2.0], "day": pd.to_datetime(["2026-01-01", "2026-01-02"])})
    with pytest.warns(DataWarning, match="left out: 'day'"):
        assert lw.Problems.from_frame(frame).feature_names == ("x",)
    assert lw.Problems.from_frame(frame, ignore=["day"]).feature_names == ("x",)


def test_lists_without_a_role_are_left_out_with_a_warning_that_names_it() -> None:
    rows = {
        "problem": [0, 0],
        "item": ["a", "b"],
        "x": [1.0, 2.0],
        "emb": [[0.1, 0.2], [0.3, 0.4]],
        "cites": [["b"], []],
    }
    for given in (pd.DataFrame(rows), pl.DataFrame(rows), pa.table(rows)):
        with pytest.warns(DataWarning) as told:
            assert lw.Problems.from_frame(given).feature_names == ("x",)
        one, other = (str(warning.message) for warning in told)
        assert "left out: 'emb'. Name embeddings with vectors=" in one
        assert "left out: 'cites'. Name ids of other items with links=" in other
        assert lw.Problems.from_frame(given, vectors="emb", links="cites").feature_names == ("x",)
        assert lw.Problems.from_frame(given, ignore=["emb", "cites"]).vectors is None


def test_coordinates_of_embeddings_among_the_features_are_named() -> None:
    columns = {f"emb_{i}": [0.1 * i, 0.2, 0.3] for i in range(16)}
    frame = pa.table({"problem": [0, 0, 1], "x": [1.0, 2.0, 3.0], **columns})
    with pytest.warns(DataWarning, match=r"'emb_0' to 'emb_15' look like the coordinates .*vectors='emb_\*'"):
        assert lw.Problems.from_frame(frame).n_features == 17
    found = lw.Problems.from_frame(frame, vectors="emb_*")
    assert (found.n_features, found.vectors.shape) == (1, (3, 16))
    assert lw.Problems.from_frame(frame.drop(["emb_0"])).n_features == 16  # too few to be sure
    assert (
        lw.Problems.from_frame(
            frame.rename_columns([name.replace("emb", "f") for name in frame.column_names])
        ).n_features
        == 17
    )


def test_read_takes_frames_too() -> None:
    for given in (table(), pl.from_arrow(table()), table().to_pandas()):
        read = lw.read(given, reward="any:good", ignore=["user", "colour"])
        assert read.item_ids.tolist() == ["a", "c", "b", "a"]
        assert read.feature_names == ("price",)


@pytest.mark.parametrize(
    "values", [np.array([["1.5"], ["2"]]), np.array([["1.5"], [2.0]], dtype=object), [["a"], ["b"]]]
)
def test_arrays_of_text_are_refused(values) -> None:
    with pytest.raises(InputError, match=r"features must be an array of numbers\. Got text, such as"):
        Problems.from_arrays(values, offsets=[0, 2])


@pytest.mark.parametrize("backend", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("first", "told"),
    [(None, "the vector is missing"), ([], "the vector is empty"), ([1.0], "the vector has 1 numbers, most have 2")],
    ids=str,
)
def test_the_row_whose_vector_is_wrong_is_named(backend: Any, first: Any, told: str) -> None:
    frame = backend({**TABLE, "embedding": [first, [1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]})
    with pytest.raises(InputError, match=rf"Row 0 \(from 0\), column 'embedding': {told}\."):
        lw.Problems.from_frame(frame, vectors="embedding")


def test_columns_may_have_numbers_for_names() -> None:
    frame = pd.DataFrame(np.arange(8.0).reshape(4, 2)).assign(problem=[1, 1, 2, 2])
    problems = lw.Problems.from_frame(frame)
    assert problems.feature_names == ("0", "1")
    np.testing.assert_array_equal(problems.features, np.arange(8.0).reshape(4, 2))


def test_text_that_repeats_is_left_out_with_a_warning_and_other_text_in_silence() -> None:
    rows = {"problem": np.repeat(np.arange(6), 5), "value": np.arange(30.0), "kind": ["new", "old", "new"] * 10}
    frame = pd.DataFrame(rows | {"title": [f"title {i}" for i in range(30)]})
    with pytest.warns(DataWarning, match=r"left out: 'kind'\. Name those that hold categories with categorical="):
        assert lw.Problems.from_frame(frame).feature_names == ("value",)
    named = lw.Problems.from_frame(frame, categorical=["kind"])
    assert named.feature_names == ("value", "kind=new", "kind=old")
    assert lw.Problems.from_frame(frame, ignore=["kind"]).feature_names == ("value",)
