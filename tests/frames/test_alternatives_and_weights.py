"""Candidates that are alternatives of one another under a budget, and problems that count differently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import listwright as lw
from listwright.baselines import ForestCover, StaticList, TopK
from listwright.errors import InputError

SLICES = (1.0, 4.0, 9.0)


def slices(n: int = 60, seed: int = 0) -> pd.DataFrame:
    """Time slices of three solvers: a longer slice solves all that a shorter one of the same solver does."""
    rng = np.random.default_rng(seed)
    size = rng.random(n)
    seconds = rng.exponential(4.0, (n, 3)) * np.where(np.arange(3)[None] == (size * 3).astype(int)[:, None], 0.4, 2.0)
    rows = [
        {"instance": f"{seed}-{i}", "slice": f"{solver}/{limit:g}", "solver": f"s{solver}", "size": limit}
        | {"vars": size[i], "solved": int(seconds[i, solver] <= limit)}
        for i in range(n)
        for solver in range(3)
        for limit in SLICES
    ]
    return pd.DataFrame(rows)


NAMES: dict[str, Any] = {"problem": "instance", "item": "slice", "alternatives": "solver"}


@pytest.mark.parametrize(
    "model",
    [
        lw.SCP(budget=14, effort="fast", random_state=0),
        lw.SCP(budget=14, random_state=0, time_limit=1),
        lw.ConSeqOpt(budget=14, random_state=0),
        TopK(budget=14),
        StaticList(budget=14),
        ForestCover(budget=14),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_list_has_a_shorter_slice_after_a_longer_one(model: Any) -> None:
    model.fit(slices(), reward="any:solved", **NAMES)
    lists = model.predict(slices(20, seed=1))
    problems = lists.problems
    for rows in lists.rows:
        held = [(problems.item_ids[row].partition("/")[0], problems.sizes[row]) for row in rows if row >= 0]
        for position, (solver, size) in enumerate(held):
            assert all(size > before for other, before in held[:position] if other == solver), held
    assert model.score(slices(20, seed=1)) > 0.5


def test_greedy_and_files_and_parts_keep_to_alternatives(tmp_path: Path) -> None:
    problems = lw.Problems.from_frame(slices(), reward="sum:vars", **NAMES)
    lists = lw.greedy(problems[5:9], budget=14)
    sets = lists.problems.quotas.alternatives[:, 0]
    assert all(len({sets[row] for row in rows if row >= 0}) <= (rows >= 0).sum() for rows in lists.rows)
    joined = lw.Problems.concat([problems[:3], problems[3:5]])
    np.testing.assert_array_equal(joined.quotas.alternatives, problems[:5].quotas.alternatives)
    model = lw.SCP(budget=14, effort="fast", random_state=0).fit(slices(), reward="any:solved", **NAMES)
    model.save(tmp_path / "model")
    assert lw.load(tmp_path / "model").predict(slices(9, seed=1)) == model.predict(slices(9, seed=1))


def test_the_default_measures_itself_where_candidates_have_features_too() -> None:
    table = slices().assign(speed=lambda t: np.random.default_rng(0).random(len(t)))
    model = lw.SCP(budget=14, effort="fast", random_state=0).fit(table, reward="any:solved", **NAMES)
    assert "MMR" not in [rival.name for rival in model.measured_.rivals]
    assert "sorting by trees" in [rival.name for rival in model.measured_.rivals]


def test_alternatives_need_sizes_and_a_label_for_each_row() -> None:
    with pytest.raises(InputError, match="alternatives differ in size"):
        lw.Problems.from_frame(slices().drop(columns="size"), **NAMES)
    with pytest.raises(InputError, match="has no column 'solvr'"):
        lw.Problems.from_frame(slices(), **(NAMES | {"alternatives": "solvr"}))
    with pytest.raises(InputError, match="one label per row"):
        lw.Problems.from_arrays(np.zeros((1, 2, 1)), sizes=[1, 2]).with_constraints(alternatives=["a"])


def weighted(n: int = 200, seed: int = 0) -> pd.DataFrame:
    """Two kinds of users want opposite things, and those of the second kind are few, but weigh much."""
    rng = np.random.default_rng(seed)
    x, rare = rng.random((n, 5)), np.arange(n) % 5 == 0
    clicked = np.where(rare[:, None], 1 - x, x) + 0.2 * rng.random((n, 5)) > 0.8
    return pd.DataFrame(
        {
            "user": np.repeat(np.arange(n), 5),
            "x": x.ravel(),
            "revenue": np.repeat(np.where(rare, 100.0, 1.0), 5),
            "clicked": clicked.ravel().astype(int),
        }
    )


def test_problems_count_by_their_weight() -> None:
    names: dict[str, Any] = {"problem": "user", "reward": "any:clicked"}
    plain = lw.SCP(1, effort="fast", random_state=0).fit(weighted(), ignore=["revenue"], **names)
    model = lw.SCP(1, effort="fast", random_state=0).fit(weighted(), weight="revenue", **names)
    assert model.feature_names_in_.tolist() == ["x"]
    new = weighted(100, seed=1)
    by_value = lw.evaluation.list_values(model.predict(new), lw.Problems.from_frame(new, **names, ignore=["revenue"]))
    weights = new.revenue.to_numpy()[::5]
    assert model.score(new) == pytest.approx(np.average(by_value, weights=weights))
    weighs = lw.Problems.from_frame(new, weight="revenue", **names)
    assert model.score(new) > 0.7 > plain.score(weighs)
    assert len(model.predict(new.drop(columns=["revenue", "clicked"]))) == 100


def test_equal_weights_change_nothing() -> None:
    names: dict[str, Any] = {"problem": "user", "reward": "any:clicked"}
    table = weighted(60).assign(revenue=7.0)
    plain = lw.SCP(2, effort="fast", random_state=0).fit(table, ignore=["revenue"], **names)
    model = lw.SCP(2, effort="fast", random_state=0).fit(table, weight="revenue", **names)
    np.testing.assert_array_equal(model.predict(table).rows, plain.predict(table).rows)
    assert model.score(table) == pytest.approx(plain.score(table))


@pytest.mark.parametrize(("row", "value"), [(3, 2.0), (slice(None), -1.0)])
def test_a_problem_has_one_weight_of_0_or_more(row: Any, value: float) -> None:
    table = weighted(20)
    table.loc[row, "revenue"] = value
    with pytest.raises(InputError, match=r"column 'revenue': .*one weight, 0 or more"):
        lw.Problems.from_frame(table, problem="user", reward="any:clicked", weight="revenue")
