"""Comparisons: the same splits for all, prefixes, pairs, and what follows from them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata, ttest_rel
from sklearn.base import BaseEstimator

import listwright as lw
from listwright.baselines import MMR, Oracle, Random, StaticList, TopK
from listwright.errors import InputError, MissingExtra
from listwright.evaluation import Comparison, Table, compare, evaluate

METHODS = {"top-k": TopK(), "static": StaticList(), "random": Random()}


def made(n: int = 30, seed: int = 0, reward: Any = None, **arrays: Any) -> lw.Problems:
    rng = np.random.default_rng(seed)
    features = rng.random((n, 6, 2))
    reward = lw.rewards.AnySuccess(rng.random((n, 6)) < features[..., 0] ** 2) if reward is None else reward
    return lw.Problems.from_arrays(features, reward=reward, sizes=rng.integers(1, 4, (n, 6)), **arrays)


class Spy(BaseEstimator):
    """Remembers what it was given, in a list that clones share."""

    seen: list[dict[str, Any]] = []  # noqa: RUF012

    def __init__(self, length: int = 1, budget: float | None = None, random_state: Any = None) -> None:
        self.length = length
        self.budget = budget
        self.random_state = random_state

    def fit(self, problems: lw.Problems) -> Spy:
        train = set(problems.problem_ids.tolist())
        Spy.seen.append({"train": train, "length": self.length, "budget": self.budget, "seed": self.random_state})
        self.model_ = Random(self.length, random_state=self.random_state).fit(problems)
        return self

    def predict(self, problems: lw.Problems, **limits: Any) -> lw.Lists:
        Spy.seen[-1] |= {"reward": problems.reward, "test": set(problems.problem_ids.tolist())} | limits
        return self.model_.predict(problems, **limits)


@pytest.fixture(autouse=True)
def forget() -> None:
    Spy.seen.clear()


def test_values_are_those_of_a_fit_by_hand() -> None:
    problems, folds = made(), np.arange(30) % 3
    found = compare({"top-k": TopK(length=1)}, problems, folds=folds, lengths=[1, 2, 4])
    for fold in range(3):
        model = TopK(length=4).fit(problems[folds != fold])
        held = problems[folds == fold]
        success = held.reward.tables["success"].values
        for length in (1, 2, 4):
            rows = model.predict(held).rows[:, :length]
            part = found.values.where(fold=fold, length=length)
            assert part["problem"].tolist() == held.problem_ids.tolist()
            np.testing.assert_allclose(part["value"], success[rows].max(axis=1))
    assert len(found.values) == 90


def test_records_are_tidy() -> None:
    found = compare(METHODS, made(), folds=2, lengths=[1, 3], seeds=2, train_sizes=[0.5, 1.0])
    assert list(found.values.columns) == [
        "method",
        "fold",
        "seed",
        "train_size",
        "length",
        "problem",
        "value",
        "failure",
    ]
    assert len(found.values) == 3 * 2 * 2 * 2 * 30
    row = found.values.records()[0]
    assert row["method"] == "top-k"
    assert (row["seed"], row["train_size"], row["length"]) == (0, 0.5, 1)


def test_every_problem_is_tested_once_a_seed_by_a_model_that_has_not_seen_it() -> None:
    compare({"spy": Spy()}, made(), folds=4, seeds=3)
    assert len(Spy.seen) == 12
    for seed in range(3):
        runs = [run for run in Spy.seen if run["seed"] == seed]
        assert sorted(problem for run in runs for problem in run["test"]) == list(range(30))
        assert all(not run["train"] & run["test"] for run in runs)
        assert all(len(run["train"] | run["test"]) == 30 for run in runs)
    assert Spy.seen[0]["test"] != Spy.seen[4]["test"]


def test_methods_share_splits_and_never_see_the_reward() -> None:
    compare({"a": Spy(), "b": Spy()}, made(), folds=3, train_sizes=[5])
    for one, other in zip(Spy.seen[::2], Spy.seen[1::2], strict=True):
        assert one == other
        assert one["reward"] is None


def test_the_longest_list_serves_all_lengths_unless_refitted() -> None:
    compare({"spy": Spy()}, made(), folds=2, lengths=[3, 1])
    assert [run["length"] for run in Spy.seen] == [3, 3]
    Spy.seen.clear()
    compare({"spy": Spy()}, made(), folds=2, lengths=[3, 1], refit_lengths=True)
    assert [run["length"] for run in Spy.seen] == [1, 3, 1, 3]


def test_training_sizes_are_nested_shares_or_counts() -> None:
    compare({"spy": Spy()}, made(), test=made(10, 1), train_sizes=[4, 12, 0.5, 1.0], seeds=[7])
    trains = [run["train"] for run in Spy.seen]
    assert [len(train) for train in trains] == [4, 12, 15, 30]
    assert trains[0] < trains[1] < trains[2] < trains[3]
    assert Spy.seen[0]["seed"] == 7


def test_a_test_part_takes_the_place_of_folds() -> None:
    train, held = made(), made(12, 1)
    found = compare({"top-k": TopK()}, train, test=held, lengths=[2])
    assert found.values["value"].mean() == pytest.approx(TopK(length=2).fit(train).score(held))
    assert len(found.values) == 12


def test_methods_are_cloned() -> None:
    method = TopK(length=2)
    compare({"top-k": method}, made(), folds=2, lengths=[1])
    assert method.length == 2
    assert not hasattr(method, "signature_")


def test_budgets() -> None:
    train, held = made(), made(12, 1)
    found = compare({"spy": Spy(), "top-k": TopK(), "oracle": Oracle()}, train, test=held, budgets=[4, 2])
    assert [(run["budget"], run["length"]) for run in Spy.seen] == [(2, 1), (4, 1)]
    assert list(found.values.columns)[4] == "budget"
    for budget in (2, 4):
        lists = TopK().fit(train).predict(held, budget=budget)
        success = held.reward.tables["success"].values
        wanted = [success[rows[rows >= 0]].max(initial=0.0) for rows in lists.rows]
        np.testing.assert_allclose(found.values.where(method="top-k", budget=budget)["value"], wanted)
        assert found.table(budget=budget).where(method="oracle")["value"][0] >= np.mean(wanted)
    assert "budget 2" in repr(found)


def test_short_problems_get_short_lists() -> None:
    problems = lw.Problems.from_arrays(
        np.arange(12.0)[:, None],
        offsets=[0, 2, 5, 6, 12],
        reward=lw.rewards.AnySuccess([0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]),
    )
    found = compare({"oracle": Oracle()}, problems, folds=2, lengths=[1, 5])
    assert found.table()["value"].tolist() == [0.75, 0.75]


def by_hand(values: dict[str, list[list[float]]], bounded: bool = True) -> Comparison:
    """A comparison with one length, from (seeds, problems) by method."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("method", "seed", "train_size", "length", "problem", "value", "failure")
    }
    for method, table in values.items():
        for seed, row in enumerate(table):
            for problem, value in enumerate(row):
                entries = (method, seed, 1.0, 3, f"p{problem}", value, 1 - value)
                for column, entry in zip(columns.values(), entries, strict=True):
                    column.append(entry)
    arrays = {name: np.array(column, dtype=object if name == "method" else None) for name, column in columns.items()}
    return Comparison(Table(arrays), tuple(values), "length", bounded)


def test_errors_are_over_problems_however_often_tested() -> None:
    once = by_hand({"a": [[1, 0, 1, 1, 0]]}).table()
    thrice = by_hand({"a": [[1, 0, 1, 1, 0]] * 3}).table()
    assert once["value"][0] == pytest.approx(0.6)
    assert once["failure"][0] == pytest.approx(0.4)
    assert once["standard_error"][0] == pytest.approx(np.std([1, 0, 1, 1, 0], ddof=1) / np.sqrt(5))
    assert thrice["standard_error"][0] == pytest.approx(once["standard_error"][0])


def test_differences_are_paired_by_problem() -> None:
    a, b, c = [[1, 1, 1, 0, 1, 0], [1, 1, 1, 0, 0, 1]], [[1, 0, 1, 0, 0, 1]] * 2, [[1, 1, 1, 0, 0.5, 0.5]] * 2
    found = by_hand({"b": b, "a": a, "c": c}).differences("a")
    means = {name: np.mean(table, axis=0) for name, table in {"a": a, "b": b, "c": c}.items()}
    assert found["method"].tolist() == ["b", "c"]
    test = ttest_rel(means["a"], means["b"])
    low, high = test.confidence_interval()
    assert found["ahead"][0] == pytest.approx((means["a"] - means["b"]).mean())
    assert found["standard_error"][0] == pytest.approx((means["a"] - means["b"]).mean() / test.statistic)
    assert (found["low"][0], found["high"][0]) == pytest.approx((low, high))
    assert [found[name][0] for name in ("wins", "losses", "ties")] == [2, 1, 3]
    assert [found[name][1] for name in ("wins", "losses", "ties")] == [0, 0, 6]
    place = rankdata(-np.stack([means["b"], means["a"], means["c"]]), axis=0).mean(axis=1)
    np.testing.assert_allclose(found["rank"], place[[0, 2]])
    np.testing.assert_allclose(found["reference_rank"], place[[1, 1]])
    assert found["failure_ratio"][0] == pytest.approx((1 - means["b"]).mean() / (1 - means["a"]).mean())


def test_a_reference_that_never_fails() -> None:
    found = by_hand({"a": [[1, 1]], "b": [[0, 1]], "c": [[1, 1]]}).differences("a")
    assert found["failure_ratio"][0] == np.inf
    assert np.isnan(found["failure_ratio"][1])


def test_pooled_differences_average_lengths_first() -> None:
    found = compare(METHODS, made(), folds=3, lengths=[1, 2], train_sizes=[0.5, 1.0])
    pooled, apart = found.differences("top-k", pooled=True), found.differences("top-k")
    assert pooled["method"].tolist() == ["static", "random"]
    assert "length" not in pooled.columns
    for name in ("static", "random"):
        assert pooled.where(method=name)["ahead"][0] == pytest.approx(apart.where(method=name)["ahead"].mean())
    assert pooled["wins"][0] + pooled["losses"][0] + pooled["ties"][0] == 30


def test_one_length_or_size_only() -> None:
    found = compare(METHODS, made(), folds=2, lengths=[1, 3], train_sizes=[0.5, 1.0])
    assert len(found.table()) == 12
    assert len(found.table(3)) == 6
    assert len(found.table(3, train_size=0.5)) == 3
    assert set(found.differences("random", 1)["length"].tolist()) == {1}
    with pytest.raises(InputError, match=r"length was compared at 1, 3\. Got 2"):
        found.table(2)
    with pytest.raises(InputError, match="budget was compared at no value"):
        found.table(budget=2)


@pytest.mark.parametrize("normalize", [True, False])
def test_failure_means_the_same_as_in_evaluate(normalize: bool) -> None:
    covers = np.random.default_rng(0).integers(0, 2, (180, 4)) * np.random.default_rng(1).integers(0, 2, (180, 1))
    covers[:18] = 0  # three problems that no list can serve
    problems = made(reward=lw.rewards.Coverage(covers, normalize=normalize))
    found = compare({"one": MMR(0.2, 0), "oracle": Oracle()}, problems, test=problems, lengths=[2])
    lists = MMR(0.2, 0, length=2).fit(problems).predict(problems)
    evaluated = evaluate(lists, problems).metrics["failure"].mean
    assert 0 < evaluated < 1
    assert found.table().where(method="one")["failure"][0] == pytest.approx(evaluated)
    ratio = evaluated / found.table().where(method="oracle")["failure"][0]
    assert found.differences("oracle")["failure_ratio"][0] == pytest.approx(ratio)
    assert found.differences("oracle", pooled=True)["failure_ratio"][0] == pytest.approx(ratio)
    drawn = specified(found.plot("failure"))["data"]["values"]
    assert drawn[0]["mean"] == pytest.approx(evaluated)


def test_failure_of_probabilities_is_what_is_expected() -> None:
    problems = made(reward=lw.rewards.AnySuccess(np.random.default_rng(0).random((30, 6))))
    found = compare({"mmr": MMR(0.2, 0)}, problems, test=problems, lengths=[2])
    expected = evaluate(MMR(0.2, 0, length=2).fit(problems), problems).metrics["failure"].mean
    assert found.table()["failure"][0] == pytest.approx(expected)
    assert found.table()["failure"][0] == pytest.approx(1 - found.table()["value"][0])


def test_one_limit_is_drawn_as_a_row_per_method() -> None:
    found = compare({"static": StaticList(), "random": Random()}, made(), folds=2, budgets=[3.0])
    chart = specified(found.plot())
    assert chart["layer"][0]["encoding"]["y"]["field"] == "method"
    assert chart["layer"][0]["encoding"]["x"]["title"] == "mean value, budget 3"
    assert "budget 3 " in repr(found).replace("\n", " ")
    assert len(chart["data"]["values"]) == 2


class Once(Spy):
    """What it learns does not depend on the budget."""

    learns_budget = False


def test_methods_whose_learning_no_budget_changes_are_fitted_once() -> None:
    compare({"once": Once()}, made(), folds=2, budgets=[2.0, 3.0, 4.0])
    assert len(Spy.seen) == 2


def test_scp_and_rivals_side_by_side() -> None:
    found = compare(
        {"SCP": lw.SCP(effort="fast"), "mmr": MMR(0.2, 0), "oracle": Oracle()}, made(60), folds=3, lengths=[1, 3]
    )
    values = found.table(3)["value"]
    assert values[2] == max(values)
    assert values[0] > 0.5


def test_text() -> None:
    text = repr(by_hand({"a": [[1, 0, 1, 1]], "long name": [[1, 1, 1, 1]]}))
    assert text.splitlines() == [
        "Comparison: mean value and its standard error on 4 problems",
        "method          length 3",
        "a          0.750 ± 0.250",
        "long name  1.000 ± 0.000",
    ]
    sizes = repr(compare(METHODS, made(), folds=2, lengths=[1], train_sizes=[0.5, 1.0]))
    assert sizes.splitlines()[1].split() == ["method", "train", "size", "length", "1"]
    assert len(sizes.splitlines()) == 8


def test_long_tables_are_cut_when_printed() -> None:
    table = Table({"n": np.arange(100)})
    assert repr(table).splitlines()[-1] == "... 80 more rows"
    assert len(repr(table).splitlines()) == 22


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", None])
def test_frames(backend: Any) -> None:
    found = compare(METHODS, made(problem_ids=[f"p{i}" for i in range(30)]), folds=2, lengths=[1])
    frame = found.to_frame(backend)
    assert frame.shape == (90, 8)
    assert type(frame).__module__.split(".")[0] == (backend or "pandas")
    assert found.table().to_frame(backend).shape == (3, 6)


def specified(chart: Any) -> dict[str, Any]:
    return chart.to_dict()  # type: ignore[no-any-return]


def test_a_frame_without_a_reward_is_told_how_to_name_it() -> None:
    table = pd.DataFrame(lw.simulate.readers.table(20, random_state=0))
    with pytest.raises(InputError, match=r'Pass reward=, such as "any:clicked"'):
        lw.compare({"scp": lw.SCP(3, effort="fast")}, table, lengths=[3])


def test_a_picture_against_length() -> None:
    tables = {"a": [[1, 0, 1, 1] * 4], "b": [[1, 1, 1, 1] * 4]}
    chart = specified(by_hand(tables).plot("failure"))
    assert chart["layer"][0]["encoding"]["x"]["title"] == "mean failure, length 3"
    points = chart["data"]["values"]
    assert [point["mean"] for point in points] == [0.25, 0.0]
    assert (points[0]["low"], points[0]["high"]) == pytest.approx((0.1018, 0.4950), abs=1e-4)  # Wilson's, 4 of 16
    shares = specified(by_hand({"a": [[0.9, 0.0, 1, 1]]}).plot())["data"]["values"][0]
    assert (shares["low"], shares["high"]) == (0.0, 1.0)
    sums = specified(by_hand({"a": [[1, 0, 1, 1]]}, bounded=False).plot())["data"]["values"][0]
    assert sums["high"] > 1


def test_a_picture_against_train_size() -> None:
    sizes = {"train_sizes": [0.5, 1.0], "folds": 2}
    one = specified(compare(METHODS, made(), lengths=[2], **sizes).plot())
    assert one["layer"][0]["encoding"]["x"]["field"] == "train_size"
    many = specified(compare(METHODS, made(), lengths=[1, 2], **sizes).plot())
    assert many["facet"]["column"]["field"] == "train_size"


def test_a_picture_of_one_problem_has_no_interval() -> None:
    points = specified(by_hand({"a": [[1]]}).plot())["data"]["values"]
    assert points[0]["low"] is None


def test_a_picture_needs_altair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtra, match=r"listwright\[plots\]"):
        by_hand({"a": [[1, 0]]}).plot()


def test_progress_goes_to_the_error_stream(capsys: pytest.CaptureFixture[str]) -> None:
    compare({"static": StaticList()}, made(), folds=3, lengths=[1], progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    told = [f"static: seed 0, fold {fold}, 20 problems ({fold + 1} of 3)" for fold in (0, 2)]
    assert err.splitlines() == told  # the first, one every two seconds, and the last


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, r"folds must be between 2 and the number of problems \(30\). Got 1"),
        ({"folds": 31}, "folds must be between 2"),
        ({"folds": [0, 1]}, "folds must give each of 30 problems"),
        ({"folds": [0] * 30}, "with 1 different values"),
        ({"lengths": []}, "lengths must be above 0, at least one"),
        ({"lengths": [0, 1]}, "lengths must be above 0"),
        ({"budgets": [-1.0]}, "budgets must be above 0"),
        ({"seeds": 0}, "seeds must be at least 1"),
        ({"train_sizes": [25]}, "a whole number up to 24.*Got 25"),
        ({"train_sizes": [0.0]}, "A training size is a share"),
        ({"train_sizes": [1.5]}, "A training size is a share"),
        ({"test": made().without_reward()}, "compare needs a reward"),
    ],
    ids=str,
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare({"static": StaticList()}, made(), **options)


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({}, "methods must be a dictionary of at least one estimator"),
        ([TopK()], "methods must be a dictionary"),
        ({"x": TopK}, "Method 'x' must be an estimator"),
        ({"x": "ridge"}, "Method 'x' must be an estimator"),
    ],
)
def test_bad_methods(methods: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(methods, made())


def test_bad_references() -> None:
    with pytest.raises(InputError, match=r"reference must be one of a, b\. Got 'c'"):
        by_hand({"a": [[1, 0]], "b": [[1, 1]]}).differences("c")


def test_only_the_same_problems_can_be_compared() -> None:
    whole = by_hand({"a": [[1, 0]], "b": [[1, 1]]}).values
    partial = Table({name: column[:3] for name, column in whole.columns.items()})
    with pytest.raises(InputError, match="tested on the same problems"):
        Comparison(partial, ("a", "b"), "length", True).table()
