"""Warnings before mistakes, and silence where all is well."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import listwright as lw
from listwright.checks import examine
from listwright.checks.mistakes import leaks_of
from listwright.errors import DataWarning


def frame(n: int = 60, n_items: int = 6) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = n * n_items
    quality = rng.random(rows)
    return pd.DataFrame(
        {
            "problem": np.repeat(np.arange(n), n_items),
            "item": np.tile(np.arange(n_items), n),
            "quality": quality,
            "price": rng.integers(1, 100, rows),
            "clicked": (quality + 0.2 * rng.standard_normal(rows) > 0.8).astype(int),
        }
    )


def test_nothing_is_said_of_good_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lw.SCP(2, random_state=0).fit(frame(), reward="any:clicked")


def test_a_column_that_gives_the_label_away():
    table = frame()
    table["covers"] = [["x", "y"][: i % 3] for i in range(len(table))]
    table["is_supporting"] = (np.arange(len(table)) % 3 > 0).astype(int)
    with pytest.warns(DataWarning, match=r"computed from is_supporting\. Will it be known"):
        lw.SCP(2, random_state=0).fit(table, reward="coverage:covers", ignore=["clicked"])


def test_a_column_that_is_the_gain_itself():
    table = frame()
    table["label"] = 3.0 * table.clicked - 1.0
    with pytest.warns(DataWarning, match="computed from label"):
        lw.ConSeqOpt(2, random_state=0).fit(table, reward="any:clicked")


def test_lists_that_hold_every_candidate_look_like_a_log():
    with pytest.warns(DataWarning, match=r"exactly 6 candidates.*fit_log"):
        lw.SCP(6, random_state=0).fit(frame(), reward="any:clicked")


@pytest.mark.parametrize("start", [0, 1])
def test_a_column_that_looks_like_the_position_shown(start):
    table = frame().assign(slot=np.tile(np.arange(6) + start, 60))
    with pytest.warns(DataWarning, match="Column slot counts the candidates"):
        lw.SCP(2, random_state=0).fit(table, reward="any:clicked")


@pytest.mark.parametrize("name", ["position", "rank", "Rank", "shown_rank", "display rank", "item_rank", "pos"])
def test_a_name_that_says_nothing_of_a_score_is_told_of(name):
    table = frame().assign(**{name: np.tile(np.arange(6), 60)})
    with pytest.warns(DataWarning, match=f"Column {name} counts"):
        lw.SCP(2, effort="fast", random_state=0).fit(table, reward="any:clicked")


@pytest.mark.parametrize("name", ["bm25_rank", "retriever rank", "rank_by_price", "Dense-Ranking"])
def test_the_rank_by_a_score_is_a_feature(name):
    table = frame().assign(**{name: np.tile(np.arange(6), 60)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lw.SCP(2, effort="fast", random_state=0).fit(table, reward="any:clicked")


def test_candidates_that_differ_in_nothing():
    table = frame()[["problem", "item", "clicked"]].assign(age=np.repeat(np.arange(60), 6))
    with pytest.warns(DataWarning, match="do not differ"):
        lw.SCP(2, random_state=0).fit(table, reward="any:clicked", context=None, catalogue=None)


def test_fits_inside_of_a_fit_do_not_warn_again():
    table = frame().assign(slot=np.tile(np.arange(6), 60))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        lw.SCP(2, tune=True, random_state=0).fit(table, reward="any:clicked")
    assert len([one for one in told if issubclass(one.category, DataWarning)]) == 1


def test_a_budget_leaves_a_choice_among_few():
    table = frame().assign(size=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lw.SCP(budget=2, random_state=0).fit(table, reward="any:clicked")


@pytest.mark.parametrize("mirror", [False, True])
def test_what_was_measured_afterwards_gives_the_reward_away(mirror):
    table = frame()
    seconds = np.random.default_rng(0).exponential(30, len(table))
    table["seconds"] = 100 - table.clicked * seconds if mirror else table.clicked * seconds
    with pytest.warns(DataWarning, match=r"computed from seconds\."):
        lw.SCP(2, effort="fast", random_state=0).fit(table, reward="any:clicked")


def test_a_column_without_a_single_mistake_leaks_in_few_problems_too():
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        clicked = rng.random((45, 10)) < 0.2
        x = np.stack([rng.random((45, 10)), 0.7 * clicked + 0.5 * rng.random((45, 10))], axis=2)
        found += leaks(x, clicked, ["honest", "watch_time"]) == "watch_time"
    assert found == 20


def test_a_name_that_says_afterwards_makes_a_good_column_suspicious():
    table = frame()
    noise = np.random.default_rng(1).random(len(table))
    table["value"] = table.clicked + 1.5 * noise
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lw.SCP(2, effort="fast", random_state=0).fit(table, reward="any:clicked")
    with pytest.warns(DataWarning, match=r"computed from Dwell_time\."):
        lw.SCP(2, effort="fast", random_state=0).fit(
            table.rename(columns={"value": "Dwell_time"}), reward="any:clicked"
        )


@pytest.mark.parametrize("name", ["past_clicks", "mean dwell", "predicted_runtime", "click_rate"])
def test_what_was_known_before_is_no_leak_by_its_name(name):
    table = frame()
    table[name] = table.clicked + 1.5 * np.random.default_rng(1).random(len(table))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lw.SCP(2, effort="fast", random_state=0).fit(table, reward="any:clicked")
    assert [one.level for one in examine(table, reward="any:clicked") if one.check == "leak"] == ["ok"]


@pytest.mark.parametrize(("value", "worth"), [(0, "nothing"), (1, r"the same \(1\)")])
def test_rewards_that_do_not_differ_teach_nothing(value, worth):
    with pytest.warns(DataWarning, match=f"Every item is worth {worth}"):
        lw.SCP(2, effort="fast", random_state=0).fit(frame().assign(clicked=value), reward="any:clicked")


def drawn(rng: np.random.Generator, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels of a data set as people make them up: good where a noisy sum of columns is high."""
    shape = int(rng.choice([20, 40, 100, 300])), int(rng.choice([4, 8, 16])), int(rng.integers(1, 6))
    x = rng.random(shape) if rng.random() < 0.5 else rng.standard_normal(shape)
    x = np.floor(5 * x) / 5 if rng.random() < 0.3 else x
    worth = x[..., 0] / x[..., 0].std() + noise * rng.standard_normal(shape[:2])
    worth += rng.random() * x[..., -1]
    return x, worth > np.quantile(worth, rng.choice([0.7, 0.8, 0.9]))


def leaks(x: np.ndarray, clicked: np.ndarray, names: list[str]) -> str:
    problems = lw.Problems.from_arrays(x, feature_names=names, reward=lw.rewards.AnySuccess(clicked))
    return leaks_of(problems, problems.reward.gains(problems.reward.start(problems)))


@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_good_columns_are_not_taken_for_leaks_and_leaks_are_found(noise):
    rng, innocent, missed, tries = np.random.default_rng(0), 0, 0, 200
    for _ in range(tries):
        x, clicked = drawn(rng, noise)
        names = [f"x{i}" for i in range(x.shape[2])]
        innocent += leaks(x, clicked, names) != ""
        seconds = clicked * rng.exponential(30, clicked.shape)
        missed += leaks(np.concatenate([x, seconds[..., None]], axis=2), clicked, [*names, "seconds"]) != "seconds"
    assert innocent <= 0.01 * tries
    assert missed <= 0.01 * tries


def test_few_successes_and_many_columns_of_levels_are_no_leak():
    innocent = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        shape = int(rng.choice([11, 15, 25])), int(rng.choice([3, 5, 10])), int(rng.choice([5, 30, 200]))
        x = np.round(3 * rng.standard_normal(shape))
        x = x if seed % 2 else x[:, :1] + np.round(rng.standard_normal(shape))  # nearly the same in a problem
        worth = rng.standard_normal(shape[:2]) + 0.5 * x[..., 0]
        innocent += leaks(x, worth > np.quantile(worth, 0.8), [f"x{i}" for i in range(shape[2])]) != ""
    assert innocent <= 2


def test_two_columns_that_together_give_the_reward_away():
    table = frame(120)
    rng = np.random.default_rng(0)
    table["opened"] = 100 * rng.random(len(table))
    table["closed"] = table.opened + rng.random(len(table)) + 2 * table.clicked
    with pytest.warns(DataWarning, match=r"computed from opened and closed\. Will"):
        lw.SCP(2, effort="fast", random_state=0).fit(table, reward="any:clicked")


@pytest.mark.parametrize("convert", [lambda table: table, pl.from_pandas], ids=["pandas", "polars"])
def test_frames_are_examined(convert):
    table = frame().assign(dwell=lambda t: t.clicked * np.random.default_rng(0).exponential(30, len(t)))
    levels = {one.check: one.level for one in examine(convert(table), reward="any:clicked")}
    assert levels["leak"] == "error"
    levels = {one.check: one.level for one in examine(convert(table), reward="any:clicked", ignore=["dwell"])}
    assert levels["leak"] == "ok"


@pytest.mark.parametrize("kind", ["flipped", "status", "levels", "differ"])
def test_leaks_with_noise_and_leaks_of_categories_are_found(kind: str) -> None:
    table, rng = frame(120), np.random.default_rng(0)
    clicked, n = table.clicked.to_numpy(), len(table)
    if kind == "flipped":  # a copy of the label, wrong in one of a hundred rows
        table["seen"] = np.where(rng.random(n) < 0.01, 1 - clicked, clicked)
    elif kind == "status":  # a code whose order says nothing
        table["seen"] = np.where(clicked > 0, 1, rng.choice([0, 2], n))
    elif kind == "levels":  # no level alone says it
        table["seen"] = pd.Categorical([f"{'yes' if good else 'no'} {rng.integers(9)}" for good in clicked])
    else:
        table["drawn"] = rng.integers(0, 2, n)
        table["seen"] = table.drawn ^ clicked
    with pytest.warns(DataWarning, match="computed from .*seen"):
        lw.SCP(2, effort="fast", random_state=0).fit(table, reward="any:clicked")
    assert "error" in {one.level for one in examine(table, reward="any:clicked") if one.check == "leak"}


def test_the_reward_of_a_frame_is_checked() -> None:
    lw.checks.check_reward("any:clicked", frame())
    problems = lw.Problems.from_frame(frame(), reward="any:clicked")
    lw.checks.check_reward(problems.reward, frame())
    with pytest.raises(lw.checks.LawBroken):
        lw.checks.check_reward(lw.rewards.Function(lambda problem, items: len(set(items)) ** 2 / 36), frame())


@pytest.mark.parametrize("first_batch", [True, False])
def test_the_first_batch_of_partial_fit_is_looked_at(first_batch):
    table = frame().assign(seen=frame()["clicked"] * np.random.default_rng(0).exponential(30, 360))
    model = lw.SCP(2, effort="fast", random_state=0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.partial_fit(table, reward="any:clicked")
        if not first_batch:
            model.partial_fit(table)
    assert [str(one.message).partition(". ")[0] for one in told] == ["The reward can be computed from seen"]


def test_compare_warns_once():
    table = frame().assign(seen=frame()["clicked"] * np.random.default_rng(0).exponential(30, 360))
    methods = {"one": lw.SCP(2, effort="fast"), "other": lw.SCP(2, effort="fast", n_passes=2)}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        lw.compare(methods, table, reward="any:clicked", lengths=[2], folds=3)
    assert [str(one.message).partition(". ")[0] for one in told] == ["The reward can be computed from seen"]


def test_what_only_sounds_like_a_leak_is_pointed_out() -> None:
    table = frame().assign(dwell=np.random.default_rng(5).random(360))
    assert [one.level for one in examine(table, reward="any:clicked") if one.check == "leak"] == ["warning"]
    table = frame().assign(shown=np.tile(np.arange(6), 60))
    assert [one.level for one in examine(table, reward="any:clicked") if one.check == "leak"] == ["error"]
