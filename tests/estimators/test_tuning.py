"""`effort="auto"` and `tune=True`: one tuner, which goes by the value of lists out of fold."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.estimators import search
from listwright.estimators.candidates import CombinedMethod, PolicyMethod
from listwright.estimators.search import auto_methods, choose, time_to_try
from listwright.features import BestColumn, Candidate, Identity
from listwright.learners import RidgeFTRL


def by_item(n: int = 60) -> lw.Problems:
    """Which of six items succeeds hangs on a feature of another candidate: only crossed identities can tell."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, 6, 2))
    features[:, :, 1] = np.arange(6)
    success = np.roll(features[:, :, 0], 2, axis=1) > 0.9
    return lw.Problems.from_arrays(features, catalogue=np.arange(6), reward=lw.rewards.AnySuccess(success))


def scored(n: int = 60, seed: int = 0, *, noise: int = 12) -> lw.Problems:
    """A retriever's score says nearly all, and many columns beside it say nothing."""
    rng = np.random.default_rng(seed)
    score = rng.random((n, 10))
    features = np.concatenate([rng.normal(size=(n, 10, noise)), score[..., None]], axis=2)
    success = (score + 0.1 * rng.normal(size=score.shape)) > 0.85
    return lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(success))


def curved(n: int, seed: int = 0) -> lw.Problems:
    """Middling values of a column are the good ones: no straight line can tell."""
    rng = np.random.default_rng(seed)
    features = rng.random((n, 10, 3))
    return lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(np.abs(features[..., 0] - 0.5) < 0.05))


def plain(**settings: Any) -> lw.SCP:
    return lw.SCP(2, effort="fast", random_state=0, **settings)


def told(model: lw.SCP) -> str:
    return " ".join(str(model.report_).split())


def test_sorting_by_one_column_is_taken_where_there_is_no_more_to_learn() -> None:
    model = lw.SCP(2, random_state=0).fit(scored(40))
    assert model.report_.chosen == "one column"
    assert isinstance(model.training_.features, BestColumn)
    assert model.training_.features.names() == ["feature 12"]
    assert "No clear difference to sorting by the best column" in told(model)


def test_trees_are_taken_where_straight_lines_fail() -> None:
    train, test = curved(120), curved(200, seed=1)
    model = lw.SCP(2, random_state=0).fit(train)
    assert "trees" in model.report_.chosen
    assert model.score(test) > lw.SCP(2, effort="fast", random_state=0).fit(train).score(test) + 0.2
    assert model.score(test) > lw.baselines.TopK("extra_trees", 2, random_state=0).fit(train).score(test) - 0.05
    assert {trial.name for trial in model.trials_} >= {"one column", "linear", "boosted trees"}


def test_expected_gains_are_taken_where_items_recur() -> None:
    rng = np.random.default_rng(0)
    context = rng.normal(size=(240, 3))
    kind = (context[:, 0] * context[:, 1] > 0).astype(int)  # which solvers work is no straight line
    success = rng.random((240, 6)) < np.array([[0.9, 0.9, 0.1, 0.1, 0.2, 0.2], [0.1, 0.1, 0.9, 0.9, 0.2, 0.2]])[kind]
    problems = lw.Problems.from_arrays(
        np.zeros((240, 6, 0)), context=context, catalogue=np.arange(6), reward=lw.rewards.AnySuccess(success)
    )
    model = lw.SCP(1, random_state=0).fit(problems[:160])
    assert model.report_.chosen.startswith("expected gains")
    rival = model.report_.measured.rivals[0]
    assert rival.name == "static list"
    assert rival.low > 0
    static = lw.baselines.StaticList(2).fit(problems[:160])
    test = problems[160:]
    first = [lw.evaluation.list_values(one.predict(test, length=1), test).mean() for one in (model, static)]
    assert first[0] > first[1] + 0.15


def test_the_record_says_what_was_tried_and_why() -> None:
    model = lw.SCP(2, random_state=0).fit(curved(60))
    best = max(model.trials_, key=lambda trial: trial.value)
    chosen = next(trial for trial in model.trials_ if trial.name == model.report_.chosen)
    assert best.behind == 0.0
    assert chosen.behind <= chosen.error + 1e-12
    assert model.report_.best == best.name
    assert model.report_.value == pytest.approx(chosen.value, abs=0.1)  # of that choice, by other problems
    assert model.measured_ is model.report_.measured


class Fixed:
    """A method with given values by problem and length."""

    settings, limits, sorts = lw.SCP(2), {"length": 2, "budget": None}, False

    def __init__(self, name: str, table: list[list[float]]) -> None:
        self.name, self.table = name, np.array(table)

    def seconds(self, problems: lw.Problems) -> float:
        return 0.0

    def values(self, problems: lw.Problems) -> np.ndarray:
        return self.table


def test_of_methods_with_the_same_value_none_is_called_ahead() -> None:
    late, early = Fixed("late", [[0.0, 1.0]] * 12), Fixed("early", [[1.0, 1.0]] * 12)
    chosen, _, report = choose([late, early], curved(12))
    assert (chosen.name, report.best, report.lead) == ("early", "early", 0.0)
    assert "The best was" not in str(report)


@pytest.mark.parametrize(
    "settings", [{"features": Candidate()}, {"learner": "ridge"}, {"batch_size": 7}, {"repeats": True}]
)
def test_what_the_user_set_stays(settings: dict[str, Any]) -> None:
    problems = curved(40)
    chosen = lw.SCP(2, random_state=0, **settings).fit(problems)
    fast = lw.SCP(2, effort="fast", random_state=0, **settings).fit(problems)
    np.testing.assert_array_equal(chosen.predict(problems).rows, fast.predict(problems).rows)


@pytest.mark.parametrize("n", [12, 29])
def test_a_few_problems_tell_gains_that_are_far_from_linear(n: int) -> None:
    scores: dict[str, list[float]] = {"auto": [], "fast": []}
    for seed in range(4):
        train, test = curved(n, seed), curved(200, seed=100 + seed)
        for effort, values in scores.items():
            values.append(lw.SCP(2, effort=effort, random_state=0).fit(train).score(test))
    assert np.mean(scores["auto"]) > np.mean(scores["fast"]) + 0.3


@pytest.mark.parametrize("n", [6, 12, 29])
def test_few_problems_are_no_reason_to_leave_the_linear_policy(n: int) -> None:
    """Where trees are behind it, or level, they are hardly ever taken by chance."""
    taken = []
    for seed in range(8):
        model = lw.SCP(2, random_state=0).fit(scored(n, seed, noise=2))
        taken.append(model.report_.chosen != "linear")
        assert {trial.name for trial in model.trials_} == {"linear", "trees, sorted"}
    assert sum(taken) <= 1


def test_few_problems_and_problems_in_parts_get_the_linear_policy() -> None:
    for n in (1, 4):
        model = lw.SCP(2, random_state=0).fit(curved(n))
        assert (model.trials_, model.report_.chosen, model.report_.measured) == ([], "linear", None)
        assert told(model).startswith(
            "Chosen: linear. Nothing was compared: it takes 5 problems (30 where items recur)"
        )
        assert "Nothing was compared" in model.report_._repr_html_()
        assert np.isnan(model.report_.value)
    streamed = lw.SCP(2, random_state=0).partial_fit(curved(60))
    fast = lw.SCP(2, effort="fast", random_state=0).partial_fit(curved(60))
    np.testing.assert_array_equal(streamed.predict(curved(60)).rows, fast.predict(curved(60)).rows)


def test_what_would_take_too_long_is_left_out_by_the_size_of_the_problems() -> None:
    model = lw.SCP(2, time_limit=1e-9, random_state=0).fit(curved(40))
    assert [trial.name for trial in model.trials_] == ["one column"]
    assert "linear" in model.report_.untried
    assert "Left out because of the time limit" in told(model)
    assert "Left out because of the time limit" in model.report_._repr_html_()
    linear = auto_methods(curved(40), plain())[2]
    assert linear.seconds(curved(400)) > linear.seconds(curved(40)) > 0
    assert time_to_try(curved(40), plain()) == 20.0  # the least
    assert time_to_try(curved(40), plain(n_passes=1_000_000)) > 100.0


@pytest.mark.parametrize(("step", "tried", "late"), [(0.0, 9, False), (9.0, 1, True)])
def test_a_time_limit_holds_by_the_clock_too(
    monkeypatch: pytest.MonkeyPatch, step: float, tried: int, late: bool
) -> None:
    ticks = count()
    clock = SimpleNamespace(monotonic=lambda: step * next(ticks))
    monkeypatch.setattr(search, "time", clock)
    monkeypatch.setattr("listwright.estimators.scp.time", clock)
    model = lw.SCP(2, time_limit=30.0, random_state=0).fit(curved(40))
    assert len(model.trials_) == tried, model.trials_
    assert ("more than the time limit, which the quickest methods need" in told(model)) == late
    assert (model.report_.untried != ()) == late


def test_what_keeps_all_it_sees_is_left_out_where_that_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_KEPT", 1e3)
    names = [method.name for method in auto_methods(curved(40), plain())]
    assert names == ["one column", "linear, sorted", "linear"]


def test_the_same_seed_gives_the_same_choice() -> None:
    first, second = (lw.SCP(2, random_state=3).fit(curved(40)) for _ in range(2))
    assert first.trials_ == second.trials_
    assert first.predict(curved(40)) == second.predict(curved(40))


def test_values_are_out_of_fold() -> None:
    """Where there is nothing to learn, only what learned from a problem would be ahead on it."""
    rng = np.random.default_rng(0)
    problems = lw.Problems.from_arrays(
        rng.normal(size=(200, 10, 6)), reward=lw.rewards.AnySuccess(rng.random((200, 10)) < 0.2)
    )
    chance = 0.5 * (0.2 + (1 - 0.8**2))
    for method in auto_methods(problems, plain()):
        assert method.values(problems).mean() == pytest.approx(chance, abs=0.07), method.name


def test_sums_of_methods_start_from_even_weights() -> None:
    problems = curved(60)
    linear, boosted = (PolicyMethod(name, plain(), learner=name) for name in ("ridge", "softmax"))
    method = CombinedMethod([linear, boosted])
    _, trials, _ = choose([method, linear], problems)
    assert method.name == "ridge + softmax"
    assert len(trials) == 2
    plan = method.plan(problems)
    assert plan.learner.prior == (0.5, 0.5)
    assert plan.features.fit(problems).parts_[0].model_.training_ is not None


def test_tuning_finds_richer_features_where_they_pay() -> None:
    problems = by_item(300)
    fast = lw.SCP(2, n_passes=2, effort="fast", random_state=0).fit(problems[:200])
    tuned = lw.SCP(2, n_passes=2, effort="fast", tune=True, random_state=0).fit(problems[:200])
    assert tuned.score(problems[200:]) > fast.score(problems[200:]) + 0.1
    assert tuned.report_.chosen == "linear by item"
    assert any(isinstance(part, Identity) and part.cross for part in tuned.training_.features.parts)


def test_tuning_chooses_the_penalty_where_features_are_set() -> None:
    settings: dict[str, Any] = {"n_passes": 2, "features": Candidate(), "effort": "fast", "random_state": 0}
    model = lw.SCP(2, tune=True, **settings).fit(by_item())
    assert [trial.name for trial in model.trials_] == ["linear", "penalty 10", "penalty 100", "penalty 1000"]
    assert isinstance(model.training_.learner, RidgeFTRL)
    fixed = lw.SCP(2, tune=True, learner="hinge_rank", **settings).fit(by_item())
    assert fixed.trials_ == []


def test_a_failed_fit_leaves_the_model_as_it_was() -> None:
    model = lw.SCP(2, random_state=0).fit(by_item())
    before = model.predict(by_item()).rows
    with pytest.raises(InputError, match="reward"):
        model.fit(by_item().without_reward())
    np.testing.assert_array_equal(model.predict(by_item()).rows, before)


@pytest.mark.parametrize("keep", ["best", "mixture"])
def test_every_kept_policy(keep: str) -> None:
    model = lw.SCP(2, keep=keep, random_state=0).fit(curved(60))
    assert model.score(curved(60)) > 0.5
    assert model.report_ is not None


def test_cosines_to_the_problems_own_vector_and_not_coordinates() -> None:
    rng = np.random.default_rng(0)
    vectors, own = rng.normal(size=(80, 10, 12)), rng.normal(size=(80, 12))
    likeness = (
        np.einsum("npd,nd->np", vectors, own) / np.linalg.norm(vectors, axis=2) / np.linalg.norm(own, axis=1)[:, None]
    )
    success = likeness == likeness.max(axis=1, keepdims=True)
    problems = lw.Problems.from_arrays(
        rng.random((80, 10, 1)), vectors=vectors, context=own, reward=lw.rewards.AnySuccess(success)
    )
    for effort, least in (("auto", 0.9), ("fast", 0.6)):
        assert lw.SCP(1, effort=effort, random_state=0).fit(problems[:50]).score(problems[50:]) > least


@pytest.mark.parametrize("limit", [{"length": 3}, {"budget": 2.5}])
def test_lengths_and_budgets(limit: dict[str, float]) -> None:
    problems = curved(40)
    sizes = np.random.default_rng(0).choice([0.5, 1.0, 2.0], size=(40, 10))
    sized = lw.Problems.from_arrays(problems.features.reshape(40, 10, 3), sizes=sizes, reward=problems.reward)
    model = lw.SCP(random_state=0, **limit).fit(sized)
    assert len(model.trials_) > 5
    lists = model.predict(sized.without_reward())
    if "budget" in limit:
        assert all(sizes[i][items].sum() <= 2.5 for i, items in enumerate(lists))


@pytest.mark.parametrize("kind", ["minimum", "pins", "minimum and budget"])
def test_methods_keep_to_minimums_and_pins(kind: str) -> None:
    problems, n = scored(40), 40
    problems = lw.Problems.from_arrays(
        problems.features.reshape(n, 10, -1),
        reward=problems.reward,
        groups=np.tile(list("aaaaabbbbb"), n),
        sizes=np.tile([1.0, 2.0], 5 * n),
    )
    limit = {"budget": 6.0} if "budget" in kind else {"length": 3}
    if kind == "pins":
        problems = problems.with_constraints(pin=np.r_[np.arange(5, 10 * n, 10), np.arange(7, 10 * n, 10)])
    else:
        limit |= {"per_group": {"b": (2, 3)}}
    model = lw.SCP(**limit, random_state=0).fit(problems)
    assert model.report_.measured == model.measured_
    for rows in model.predict(problems):
        of_group = np.isin(rows % 10, [5, 7] if kind == "pins" else range(5, 10)).sum()
        assert of_group >= 2
        assert len(rows) <= 3 or problems.sizes[rows].sum() <= 6 + 1e-9


def test_the_report_says_if_the_best_was_passed_over_for_its_shorter_lists() -> None:
    rng = np.random.default_rng(0)
    last, noise = rng.random((200, 1)), np.tile([[0.05], [-0.049]], (100, 1))
    tables = {"first": np.hstack([last - 0.5, last + noise]), "second": np.hstack([last, last])}
    problems = lw.Problems.from_arrays(
        rng.random((200, 4, 2)), reward=lw.rewards.AnySuccess(rng.random((200, 4)) < 0.3)
    )
    _, _, report = choose([Fixed(name, table.tolist()) for name, table in tables.items()], problems)
    assert (report.chosen, report.best, report.shorter) == ("second", "first", True)
    assert "; but its shorter lists are clearly behind." in str(report)


def test_a_chosen_model_goes_through_a_file(tmp_path: Path) -> None:
    model = lw.SCP(2, random_state=0).fit(curved(60))
    model.save(tmp_path / "chosen.listwright")
    again = lw.load(tmp_path / "chosen.listwright")
    assert again.predict(curved(60)) == model.predict(curved(60))
    assert again.trials_ == model.trials_
    assert str(again.report_) == str(model.report_)


@pytest.mark.parametrize("limit", [0, -1.0, "soon"])
def test_a_wrong_time_limit(limit: Any) -> None:
    with pytest.raises(InputError, match="time_limit must be a number of seconds above 0"):
        lw.SCP(2, time_limit=limit).fit(curved(40))
