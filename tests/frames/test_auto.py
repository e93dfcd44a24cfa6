"""What a table itself says: context and catalogue without options, and missing values."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import listwright as lw
from listwright.errors import DataWarning, InputError, Notice
from listwright.tables import read_with_columns


def solvers(n: int = 60, seed: int = 0) -> pd.DataFrame:
    """Runs of four solvers, each of which solves the instances of one kind, with gaps in the instances' features."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(4, size=n)
    size = np.where(rng.random(n) < 0.2, np.nan, rng.random(n))
    return pd.DataFrame(
        {
            "instance": np.repeat([f"i{seed}-{i}" for i in range(n)], 4),
            "algorithm": np.tile(["ace", "bee", "cat", "dog"], n),
            **{f"is_{j}": np.repeat((kind == j).astype(float), 4) for j in range(4)},
            "size_of_instance": np.repeat(size, 4),
            "solved": (np.tile(np.arange(4), n) == np.repeat(kind, 4)).astype(int),
        }
    )


def test_a_solver_frame_needs_no_option_but_problem_and_reward() -> None:
    with pytest.warns(Notice) as said:
        model = lw.SCP(1, effort="fast", random_state=0).fit(solvers(), problem="instance", reward="any:solved")
    lines = sorted(str(line.message) for line in said)
    assert lines == [
        "The table: context, with one value per problem: 'is_0', 'is_1', 'is_2' and 2 more columns (to keep them as "
        "features, pass context=None); catalogue, with recurring items: 'algorithm' (to keep them as ids, pass "
        "catalogue=None).",
        "The table: missing values of 'size_of_instance' are filled with the median, and 0/1 columns mark them; "
        'learners that take NaN get NaN. Pass missing="error" to refuse them.',
    ]
    assert model.columns_.catalogue == model.columns_.item == "algorithm"
    assert model.score(solvers(seed=1)) > 0.95
    assert set(model.predict(solvers(seed=1)).to_frame()["item"]) == {"ace", "bee", "cat", "dog"}


def test_both_can_be_switched_off() -> None:
    ids: dict[str, Any] = {"problem": "instance", "item": "algorithm", "ignore": ["solved"]}
    features = lw.Problems.from_frame(solvers(), context=None, catalogue=None, **ids)
    assert (features.n_features, features.context, features.catalogue) == (6, None, None)
    known = lw.Problems.from_frame(solvers(), context=None, **ids)  # each is switched off alone
    assert known.n_features == 6
    assert known.context is None
    assert known.catalogue is not None
    named = lw.Problems.from_frame(solvers(), problem="instance", reward="any:solved", catalogue=None)
    assert (named.catalogue, named.item_ids.tolist()[:2]) == (None, ["ace", "bee"])
    with pytest.raises(InputError, match=r"cannot be distinguished|no features"):
        lw.SCP(1).fit(solvers(), reward="any:solved", context=["is_*"], catalogue=None, **(ids | {"ignore": ["size*"]}))
    assert lw.Problems.from_frame(solvers(), **ids).catalogue is not None


@pytest.mark.parametrize("options", [("item",), ("item", "categorical"), ("categorical",)])
def test_a_recurring_item_is_never_dropped_in_silence(options: tuple[str, ...]) -> None:
    ways: dict[str, Any] = {"item": "algorithm", "categorical": ["algorithm"]}
    names = {option: ways[option] for option in options}
    problems, columns = read_with_columns(solvers(), problem="instance", reward="any:solved", **names)
    assert columns.catalogue == "algorithm"
    assert lw.SCP(1, effort="fast", random_state=0).fit(problems).score(problems) > 0.9


def test_features_of_candidates_stay_features() -> None:
    table = solvers().drop(columns=["size_of_instance", "is_0", "is_1", "is_2", "is_3"])
    table["speed"] = np.random.default_rng(0).random(len(table))
    problems = lw.Problems.from_frame(table, problem="instance", item="algorithm", reward="any:solved")
    assert (problems.n_features, problems.context, problems.catalogue) == (1, None, None)


def test_numbers_that_are_text_are_not_dropped_in_silence() -> None:
    table = solvers(20).assign(speed=[f"{seconds:.2f}" for seconds in np.random.default_rng(0).random(80)])
    with pytest.warns(DataWarning, match=r"numbers written as text .* left out: 'speed'\. Convert them"):
        lw.Problems.from_frame(table, problem="instance", reward="any:solved")


@pytest.mark.parametrize("convert", [lambda table: table, pl.from_pandas])
def test_missing_values_are_filled_alike_in_later_frames(convert: Any) -> None:
    table = pd.DataFrame({"problem": [1, 1, 2, 2], "x": [1.0, None, 3.0, 8.0], "y": [1.0, 2.0, 3.0, 4.0]})
    problems, columns = read_with_columns(convert(table))
    assert problems.feature_names == ("x", "x is missing", "y")
    assert problems.features.tolist() == [[1, 0, 1], [3, 1, 2], [3, 0, 3], [8, 0, 4]]
    later = lw.Problems.from_frame(convert(table.assign(x=[None, 5.0, 5.0, 5.0])), columns=columns)
    assert later.features[:, :2].tolist() == [[3, 1], [5, 0], [5, 0], [5, 0]]
    with pytest.warns(DataWarning, match="missing values of 'y', which had none in training, are filled with the"):
        later = lw.Problems.from_frame(convert(table.assign(y=[None, 5.0, 5.0, 5.0])), columns=columns)
    assert later.features[:, 2].tolist() == [2.5, 5, 5, 5]
    _, strict = read_with_columns(convert(table.drop(columns="x")), missing="error")
    with pytest.raises(InputError, match=r"column 'y': the value is missing"):
        lw.Problems.from_frame(convert(table.assign(y=[None, 5.0, 5.0, 5.0])), columns=strict)


def test_columns_that_are_missing_together_are_marked_once() -> None:
    gaps = [1.0, None, 3.0, None]
    table = pd.DataFrame({"problem": [1, 1, 2, 2], "x": gaps, "y": gaps, "z": [None, 2.0, 3.0, 4.0]})
    problems, columns = read_with_columns(table)
    assert problems.feature_names == ("x", "x is missing", "y", "z", "z is missing")
    assert problems.features[:, :3].tolist() == [[1, 0, 1], [2, 1, 2], [3, 0, 3], [2, 1, 2]]
    later = lw.Problems.from_frame(table.assign(y=[None, 1.0, 1.0, 1.0]), columns=columns)
    assert later.features[:, 2].tolist() == [2, 1, 1, 1]


def test_all_columns_with_missing_values_are_named_at_once() -> None:
    table = pd.DataFrame({"problem": [1, 1, 2], "x": [1.0, None, None], "y": [None, 2.0, 3.0], "z": [1, 2, 3]})
    with pytest.raises(InputError, match=r"missing in 2 columns: 'x' \(2\), 'y' \(1\)"):
        lw.Problems.from_frame(table, missing="error")
    with pytest.raises(InputError, match='missing must be "auto" or "error"'):
        lw.Problems.from_frame(table, missing="drop")


@pytest.mark.parametrize("convert", [lambda table: table, pl.from_pandas, lambda table: pl.from_pandas(table).lazy()])
def test_a_missing_category_is_none_of_the_levels(convert: Any, tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    kinds = rng.choice(["red", "blue", None], 80, p=[0.4, 0.4, 0.2])
    table = pd.DataFrame({"problem": np.repeat(np.arange(20), 4), "x": rng.random(80), "kind": kinds})
    names: dict[str, Any] = {"categorical": ["kind"]}
    with pytest.warns(Notice, match="where 'kind' is missing, it is none of the levels"):
        problems, columns = read_with_columns(convert(table), **names)
    expected = np.stack([kinds == "blue", kinds == "red"], axis=1)
    np.testing.assert_array_equal(problems.features[:, 1:], expected)
    assert problems.feature_names == ("x", "kind=blue", "kind=red")
    table.to_csv(tmp_path / "table.csv", index=False)
    with pytest.warns(Notice, match="where 'kind' is missing"):
        np.testing.assert_array_equal(lw.read(tmp_path / "table.csv", **names).features, problems.features)
    assert lw.Problems.from_frame(convert(table), columns=columns).features[:, 1:].sum() == expected.sum()
    whole = table.fillna({"kind": "red"})
    known = read_with_columns(convert(whole), **names)[1]
    with pytest.warns(DataWarning, match="missing values of 'kind', which had none in training"):
        assert lw.Problems.from_frame(convert(table), columns=known).features[:, 1:].sum() == expected.sum()
    with pytest.raises(InputError, match=r"missing in 2 columns: 'x' \(1\), 'kind' \(\d+\)"):
        read_with_columns(convert(table.assign(x=table.x.where(table.index != 5))), missing="error", **names)
    strict = read_with_columns(convert(whole), missing="error", **names)[1]
    with pytest.raises(InputError, match="column 'kind': the value is missing"):
        lw.Problems.from_frame(convert(table), columns=strict)


def test_a_model_keeps_how_gaps_are_filled_in_its_file(tmp_path: Any) -> None:
    model = lw.SCP(1, effort="fast", random_state=0).fit(solvers(), problem="instance", reward="any:solved")
    model.save(tmp_path / "model")
    again = lw.load(tmp_path / "model")
    assert again.columns_ == model.columns_
    assert again.predict(solvers(seed=2)) == model.predict(solvers(seed=2))


def runs(n: int = 150, seed: int = 0) -> pd.DataFrame:
    """What ASlib publishes, joined: 15 solvers, 115 features of instances, nearly all with gaps, and run times."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 5))
    table = hidden @ np.random.default_rng(99).normal(size=(5, 115)) + 0.5 * rng.normal(size=(n, 115))
    gaps = rng.random((n, 10)) < 0.1  # features that are computed together are missing together
    table[gaps[:, np.arange(115) % 10]] = np.nan
    speed = np.random.default_rng(98).normal(size=(5, 15))
    seconds = np.exp(6.0 + 1.5 * (hidden @ speed) + rng.normal(size=(n, 15)))
    frame = pd.DataFrame(np.repeat(table, 15, axis=0), columns=[f"f{i}" for i in range(115)])
    frame.insert(0, "instance_id", np.repeat([f"i{seed}-{i}" for i in range(n)], 15))
    frame.insert(1, "algorithm", np.tile([f"solver {i}" for i in range(15)], n))
    frame.insert(2, "runtime", np.minimum(seconds, 900.0).ravel())
    frame["solved"] = (seconds <= 900.0).ravel().astype(int)
    return frame


def test_a_frame_of_runs_warns_of_its_run_times_and_gives_a_good_model_without_them() -> None:
    names: dict[str, Any] = {"problem": "instance_id", "reward": "any:solved"}
    with pytest.warns(DataWarning, match=r"computed from runtime\. Will it be known"):
        lw.SCP(2, effort="fast", random_state=0).fit(runs(), **names)
    past, new = runs().drop(columns="runtime"), runs(seed=1).drop(columns="runtime")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        model = lw.SCP(2, random_state=0, time_limit=2).fit(past, **names)
    assert model.columns_.catalogue == "algorithm"
    assert len(model.columns_.context) == 115
    static = lw.baselines.StaticList(2).fit(past, **names)
    assert model.score(new) > 0.99 > static.score(new)


def test_a_constant_column_does_not_keep_its_fellows_from_being_context() -> None:
    table = pd.DataFrame(
        {
            "problem": np.repeat(np.arange(20), 3),
            "item": np.tile(["a", "b", "c"], 20),
            "vars": np.repeat(np.arange(20.0), 3),
            "always": 1.0,
            "good": np.tile([1, 0, 0], 20),
        }
    )
    with pytest.warns(Notice, match="'vars', 'always'"):
        problems = lw.Problems.from_frame(table, reward="any:good")
    assert problems.n_features == 0
    assert problems.context is not None
    assert problems.context.shape == (20, 2)


def test_the_report_names_columns_with_missing_values_and_their_refusal_counts_them() -> None:
    table = pd.DataFrame(lw.simulate.readers.table(40, random_state=1))
    table.loc[::7, "quality"] = np.nan
    with pytest.warns(Notice, match="missing values of 'quality'"):
        model = lw.SCP(2, time_limit=0.1, random_state=0).fit(table, reward="any:clicked")
    assert "Missing values were filled with the median, and marked, in quality." in str(model.report_)
    assert "quality" in model.report_._repr_html_()
    with pytest.raises(InputError, match=r"Row 0 .* column 'quality': the value is missing, one of 69\. Fill"):
        lw.SCP(2).fit(table, reward="any:clicked", missing="error")
