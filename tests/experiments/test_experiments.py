"""The experiments on tiny settings: what they measure, what they read, what they hand on."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import listwright as lw
from listwright._internal.progress import progress_to
from listwright.errors import InputError
from listwright.experiments import EXPERIMENTS, news, trajectory
from listwright.experiments.records import (
    CandidateByContext,
    Tuned,
    chart_records,
    describe_failures,
    excess_table,
    failure_table,
    point,
    records_of,
    repeat,
)
from listwright.experiments.trajectory import CHANGE
from listwright.report import Figure, ReportTable

FAST = ["SCP", "Static list", "Random", "Oracle"]


@pytest.fixture(scope="module")
def records():
    return trajectory.run(seeds=2, sizes=[10, 40], lengths=[1, 2, 3], methods=FAST, steps=[])


def write_data(folder, **changes):
    rng = np.random.default_rng(0)
    arrays = {f"X_{part}": rng.random((n, 4, 17)) for part, n in (("train", 6), ("valid", 2), ("test", 3))}
    arrays |= {
        f"y_{part}": (rng.random((n, 4)) < 0.5).astype(np.uint8)
        for part, n in (("train", 6), ("valid", 2), ("test", 3))
    }
    arrays |= {"env_train": np.arange(6), "env_valid": np.arange(6, 8), "env_test": np.arange(3)}
    np.savez(
        folder / "scp_trajectory.npz",
        **{name: value for name, value in (arrays | changes).items() if value is not None},
    )


def test_records_pair_cases_with_scp():
    failures = np.array([[[0.2, 0.6]], [[0.3, 0.8]]])  # two methods, one length, two cases
    records = records_of("x", ["SCP", "ConSeqOpt"], 5, [3], failures)
    excess = point(records, "ConSeqOpt", n_train=5, length=3, metric="excess_over_scp")
    assert excess["mean"] == 0.15
    assert excess["low"] == pytest.approx(0.15 - 12.706 * 0.05, rel=1e-3)  # Student's t, one degree of freedom
    failure = point(records, "ConSeqOpt", n_train=5, length=3)
    assert (failure["mean"], failure["low"], failure["high"]) == (0.55, 0.0, 1.0)  # within a probability's bounds
    assert json.loads(json.dumps(records)) == records


def test_a_record_that_is_not_there_is_named(records):
    with pytest.raises(InputError, match=r"There is no record of 'SCP' with n_train=5, length=99, metric='failure'"):
        point(records, "SCP", n_train=5, length=99)


def test_trajectory_has_a_record_for_every_point(records):
    points = {(one["method"], one["n_train"], one["length"]) for one in records if one["metric"] == "failure"}
    assert points == {(method, size, length) for method in FAST for size in (10, 40) for length in (1, 2, 3)}
    assert all(one["low"] <= one["mean"] <= one["high"] for one in records)


def test_trajectory_orders_knowledge(records):
    oracle, scp, chance = (point(records, name, n_train=40, length=3)["mean"] for name in ("Oracle", "SCP", "Random"))
    assert oracle == 0.0
    assert scp < 0.5 * chance


def test_trajectory_is_the_same_again(records):
    assert trajectory.run(seeds=2, sizes=[10, 40], lengths=[1, 2, 3], methods=FAST, steps=[]) == records


def test_trajectory_refuses_impossible_settings():
    with pytest.raises(InputError, match="sizes must be between 1 and 310"):
        trajectory.run(sizes=[400])
    with pytest.raises(InputError, match=r"seeds must be at least 1\. Got 0\."):
        trajectory.run(seeds=0)


def test_trajectory_section_has_charts_and_tables(records):
    section = trajectory.section(records)
    assert [type(part) for part in section.parts] == [Figure, ReportTable, ReportTable, Figure]
    assert "After 40 training environments: SCP" in trajectory.findings(records)
    shown, looks = chart_records(records)
    assert list(looks) == ["SCP", "Static list"]  # a perfect oracle and random lists are for the table only
    assert {record["metric"] for record in shown} == {"failure"}


def test_tables_say_what_the_records_say(records):
    table = failure_table(records, FAST, n_train=40, caption="")
    scp = table.rows[table.emphasis[0]]
    assert scp[1:] == [f"{100 * point(records, 'SCP', n_train=40, length=k)['mean']:.1f}" for k in (1, 2, 3)]
    (static,) = excess_table(records, FAST, n_train=40, lengths=[1], caption="").rows
    assert static[0] == "Static list"
    assert static[1].startswith("+")
    assert describe_failures(records, FAST, n_train=40, length=1).startswith("SCP ")


def test_trajectory_reads_a_folder(tmp_path):
    write_data(tmp_path)
    train, test = trajectory.problems(tmp_path)
    assert (len(train), len(test), train.n_features) == (8, 3, 17)
    found = trajectory.run(data=tmp_path, seeds=1, sizes=[8], lengths=[2], methods=["SCP", "Oracle"], steps=[])
    assert "The paper's trajectory data" in trajectory.findings(found, data=tmp_path)


def test_steps_lead_from_the_printed_algorithm_to_the_default():
    for name, step in trajectory.STEPS.items():
        assert step.base is None or list(trajectory.STEPS).index(step.base) < list(trajectory.STEPS).index(name)
    printed = trajectory.STEPS["SCP as printed"].method
    assert (printed.n_passes, printed.batch_size, printed.skip_saturated) == (1, 1, False)
    assert (printed.learner.center, printed.learner.target) == (False, "cost")
    assert trajectory.STEPS["+ identity (SCP above)"].method is trajectory.METHODS["SCP"]
    assert trajectory.METHODS["SCP"].get_params()["features"] == "auto"


def test_steps_are_told_with_what_they_change():
    names = ["SCP as printed", "+ centring", "ConSeqOpt, paper's features"]
    found = trajectory.run(seeds=1, sizes=[30], lengths=[1, 2, 3], methods=["SCP", "Oracle"], steps=names)
    table = next(
        part for part in trajectory.section(found, data=None).parts if "As printed" in getattr(part, "caption", "")
    )
    assert [row[0] for row in table.rows] == names
    means = {name: np.mean([point(found, name, n_train=30, length=k)["mean"] for k in (2, 3)]) for name in names}
    change = point(found, "+ centring", n_train=30, length=0, metric=CHANGE)["mean"]
    assert change == pytest.approx(means["+ centring"] - means["SCP as printed"], abs=1e-5)
    assert table.rows[0][-1] == ""
    assert table.rows[1][-1].startswith(f"{100 * change:+.1f} ±")
    assert "as printed" not in trajectory.findings(found)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y_test": None}, "lacks y_test"),
        ({"y_test": np.zeros((3, 5))}, r"X_test in .* must be"),
        ({"X_test": np.zeros((3, 4, 5))}, "the same seeds and features"),
    ],
)
def test_wrong_data_is_told(tmp_path, changes, message):
    write_data(tmp_path, **changes)
    with pytest.raises(InputError, match=message):
        trajectory.problems(tmp_path)


def test_repetitions_are_the_same_in_processes():
    seen = []
    tasks = [(2, 3), (3, 2), (5, 2)]
    with progress_to(lambda what, done, total: seen.append((done, total))):
        assert repeat(math.pow, tasks, jobs=2) == [8.0, 9.0, 25.0]
    assert seen == [(1, 3), (2, 3), (3, 3)]
    with pytest.raises(InputError, match=r"jobs must be at least 1\. Got 0\."):
        repeat(math.pow, tasks, jobs=0)


def test_news_folds_test_every_user_once():
    folds = [news.split(3, fold) for fold in range(5)]
    assert sorted(np.concatenate([test for _, _, test in folds])) == list(range(75))
    for parts in folds:
        assert [len(part) for part in parts] == [40, 20, 15]
        assert len(set(np.concatenate(parts))) == 75


def test_short_lists_of_what_is_fitted_once_are_those_of_a_fit_of_their_own():
    train, _, test = news._visits(news.news(n_users=75, random_state=0), 0, 0)
    methods = {name: news._learning_methods(10.0)[name] for name in ("ConSeqOpt", "Regression")}
    once, each = (news._worth(methods, train, test, 0, refit_lengths=refit) for refit in (False, True))
    assert (once == each).all()


def test_news_runs_and_reports(monkeypatch):
    monkeypatch.setattr(news, "PENALTIES", (10.0, 1e9))
    found = news.run(seeds=1, folds=1)
    oracle, scp, chance = (point(found, name, n_train=40, length=5)["mean"] for name in ("Oracle", "SCP", "Random"))
    assert oracle < scp < 0.7 * chance
    section = news.section(found)
    assert [type(part) for part in section.parts] == [Figure, ReportTable, ReportTable]
    assert "SCP" in news.findings(found)


class Fixed(BaseEstimator):
    """Always picks the same row, however it is fitted."""

    def __init__(self, pick=0, length=1):
        self.pick = pick
        self.length = length

    def fit(self, problems):
        return self

    def predict(self, problems, **limits):
        return lw.Lists(problems, (problems.offsets[:-1] + self.pick)[:, None])


def won_by(row, n=6):
    """Problems of three candidates, of which one succeeds."""
    success = np.tile(np.eye(3)[row], (n, 1))
    return lw.Problems.from_arrays(np.zeros((n, 3, 1)), reward=lw.rewards.AnySuccess(success))


def test_options_are_chosen_on_held_out_problems():
    options = {f"row {row}": Fixed(row) for row in range(3)}
    assert Tuned(options, length=1).fit(won_by(2)).name_ == "row 2"
    assert Tuned(options, length=1).fit(won_by(2, n=2)).name_ == "row 0"  # too few to choose on


def test_tuned_methods_can_be_compared():
    methods = {"tuned": Tuned({"wrong": Fixed(0), "right": Fixed(1)}), "fixed": Fixed(0)}
    found = lw.compare(methods, won_by(1, n=12), folds=3, lengths=[1])
    assert found.table(1)["value"].tolist() == [1.0, 0.0]


def test_every_experiment_offers_what_the_registry_asks():
    for one in EXPERIMENTS.values():
        module = one.load()
        assert all(callable(getattr(module, name)) for name in ("run", "section", "findings"))


def test_crossed_features_need_a_context():
    problems = lw.Problems.from_arrays(np.zeros((1, 2, 1)))
    with pytest.raises(InputError, match="these problems have none"):
        CandidateByContext().fit(problems)
