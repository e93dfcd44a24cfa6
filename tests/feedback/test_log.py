"""Logs: what they keep, what they refuse, and tables and files that give them back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.feedback import EvidenceWarning, Log, Recommendations


def shown(n: int = 6, *, version: int = 0, prefix: str = "l", **known: Any) -> Recommendations:
    found = lw.Problems.from_arrays(np.random.default_rng(0).random((n, 5, 3)), **known)
    learner = lw.OnlineSCP(3, random_state=0).begin(found)
    for _ in range(version):
        learner.update([lw.feedback.TrainingUpdate.of("x", found[0], [0], None, [1])])
    return learner.recommend(found, list_ids=[f"{prefix}{i}" for i in range(n)])


def full_log(**known: Any) -> Log:
    log = Log(cascade=True)
    log.append(shown(**known))
    log.append(shown(version=1, prefix="m", **known))
    log.feedback(["l0", "l3", "m1"], [[0, 0, 0], [0, 1, 0], [1, 0, 0]])
    return log


def test_a_log_only_grows() -> None:
    log = full_log()
    assert repr(log) == "Log: 12 lists, 3 with an outcome, mean value 0.667"
    with pytest.raises(InputError, match="List l0 is in the log already"):
        log.append(shown())
    assert log.feedback(["l0", "l1"], [[1, 0, 0], [0, 0, 1]]) == 1  # that of l0 is set
    assert next(log.updates()).outcomes.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("ids", "outcomes", "message"),
    [
        (["x"], [[0, 0, 0]], "x, which is not in the log"),
        (["l1"], [[0, float("nan"), 0]], "Got nan"),
        (["l1"], [[1, 1, 0]], "click at position 2, after the cascade stopped"),
        (["l1"], [{17: 1}], "which did not show it"),
    ],
)
def test_bad_feedback_leaves_the_log_as_it_was(ids: list[str], outcomes: Any, message: str) -> None:
    log = full_log()
    with pytest.raises(InputError, match=message):
        log.feedback(["l2", *ids], [[0, 0, 0], *outcomes])
    assert len(list(log.updates())) == 3


def test_bad_lists_are_not_appended() -> None:
    log, lists = Log(), shown(2)
    plain = lw.Lists(lists.problems, lists.rows)
    chances = np.full((2, 3), 0.5)
    with pytest.raises(InputError, match="above 0 and at most 1"):
        log.append(plain, propensities=np.where(np.eye(2, 3) > 0, 0.0, chances))
    with pytest.raises(InputError, match="the lists' shape"):
        log.append(plain, propensities=[0.5])
    with pytest.raises(InputError, match="shows an item twice"):
        log.append(lw.Lists(lists.problems, np.array([[0, 0, 1], [5, 6, 7]])), propensities=chances)
    with pytest.raises(InputError, match="not among its candidates"):
        log.append(lw.Lists(lists.problems, np.array([[0, 6, 1], [5, 6, 7]])), propensities=chances)
    assert len(log) == 0
    log.append(plain, propensities=chances, list_ids=["a", "b"])
    with pytest.raises(InputError, match="append: the lists before have"):
        log.append(lw.Lists(lw.Problems.from_arrays(np.zeros((1, 4, 2))), np.array([[0, 1]])))


def test_arguments_take_the_place_of_what_recommendations_carry() -> None:
    log, lists = Log(), shown(2, version=1)
    log.append(lists)
    log.append(lists, list_ids=["a", "b"], propensities=np.full((2, 3), 0.5), version=7)
    log.feedback(["l0", "a"], [[0, 0, 1], [0, 1, 0]])
    kept, changed = log.updates()
    np.testing.assert_array_equal(kept.propensities, lists.propensities[0])
    np.testing.assert_array_equal(changed.propensities, 0.5)
    versions = log.to_frame("pyarrow").to_pydict()["version"]
    assert sorted(set(versions)) == [lists.version, 7]
    with pytest.raises(InputError, match=r"Give one id per list \(2\)"):
        log.append(lists, list_ids=["c"])


KNOWN = {
    "context": np.random.default_rng(1).random((6, 2)),
    "catalogue": np.tile(np.arange(5), 6),
    "sizes": np.arange(30.0) + 1,
    "item_ids": [f"item {i}" for i in range(5)] * 6,
    "feature_names": ["a", "b", "c"],
    "vectors": np.random.default_rng(2).random((30, 2)),
    "problem_ids": [f"p{i}" for i in range(6)],
}


def assert_same(one: Log, other: Log) -> None:
    assert (len(one), one.cascade) == (len(other), other.cascade)
    mine, theirs = one.answered_lists(), other.answered_lists()
    for name in ("rows", "propensities", "outcomes"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))
    for name in ("features", "offsets", "context", "catalogue", "sizes", "item_ids", "vectors"):
        np.testing.assert_array_equal(getattr(mine.problems, name), getattr(theirs.problems, name))
    assert mine.problems.feature_names == theirs.problems.feature_names
    for kept, back in zip(one.updates(), other.updates(), strict=True):
        assert kept.list_id == back.list_id
        np.testing.assert_array_equal(kept.picks, back.picks)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("known", [{}, KNOWN])
def test_frames_give_the_log_back(backend: Any, known: dict[str, Any]) -> None:
    log = full_log(**known)
    frame = log.to_frame(backend)
    assert type(frame).__module__.partition(".")[0] == backend
    assert len(frame) == 60
    assert_same(log, Log.from_frame(frame, cascade=True))


def test_files_give_the_log_back(tmp_path: Path) -> None:
    log = full_log(**KNOWN)
    log.to_parquet(tmp_path / "log.parquet")
    assert_same(log, Log.from_parquet(tmp_path / "log.parquet"))
    versions = {record.list_id: record for record in Log.from_parquet(tmp_path / "log.parquet").updates()}
    assert versions.keys() == {"l0", "l3", "m1"}
    (tmp_path / "other").write_text("no log")
    with pytest.raises(InputError, match="other"):
        Log.from_parquet(tmp_path / "other")


def test_frames_of_others_need_some_columns_and_whole_lists() -> None:
    import polars as pl

    frame = pl.DataFrame(
        {
            "list": ["a", "a", "a", "b", "b"],
            "item": ["x", "y", "z", "x", "y"],
            "position": [2, None, 1, 1, 2],
            "propensity": [0.5, None, 0.25, None, None],
            "outcome": [1.0, None, 0.0, 0.0, None],
            "price": [1.0, 2.0, 3.0, 4.0, 5.0],
        }
    )
    log = Log.from_frame(frame, features=["price"], cascade=True)
    first, second = log.updates()
    assert first.picks.tolist() == [2, 0]
    assert first.propensities.tolist() == [0.25, 0.5]
    assert first.outcomes.tolist() == [0.0, 1.0]
    assert (second.outcomes.tolist(), np.isnan(second.propensities).all()) == ([0.0], True)
    with pytest.raises(InputError, match="Missing: position"):
        Log.from_frame(frame.drop("position"), features=["price"])
    with pytest.raises(InputError, match=r"positions are not 1, 2, .* of list a"):
        Log.from_frame(frame.with_columns(position=pl.Series([2, None, 2, 1, 2])), features=["price"])
    with pytest.raises(InputError, match=r"not shown has an outcome. See item y of list a"):
        Log.from_frame(frame.with_columns(outcome=pl.Series([1.0, 1.0, 0.0, 0.0, None])), features=["price"])


def clicked_log(n: int = 400) -> Log:
    """Even odds; users click on items with a large second feature."""
    found = lw.Problems.from_arrays(np.random.default_rng(4).random((n, 6, 3)))
    lists = lw.OnlineSCP(2, random_state=0).recommend(found, list_ids=[str(i) for i in range(n)])
    log = Log()
    log.append(lists)
    log.feedback(lists.list_ids, found.features[lists.rows, 1] > 0.6)
    return log


def test_learning_from_a_log_alone() -> None:
    test = lw.Problems.from_arrays(np.random.default_rng(5).random((100, 6, 3)))
    learner = lw.OnlineSCP(2, random_state=0).fit_log(clicked_log())
    best = test.features[:, 1].reshape(-1, 6).argmax(axis=1)
    assert np.mean([best[i] in one for i, one in enumerate(learner.predict(test))]) > 0.95
    assert learner.version == 400


def test_what_was_seldom_shown_counts_more() -> None:
    found = lw.Problems.from_arrays(np.zeros((1, 4, 1)))
    log = Log()
    log.append(lw.Lists(found, np.array([[0, 1]])), propensities=[[0.5, 1 / 60]], list_ids=["a"])
    log.feedback("a", [1, 1])
    learner = lw.OnlineSCP(2, features=lw.features.Position(), penalty=1.0, weighting="uniform", random_state=0)
    gram = learner.fit_log(log, cap=8.0).state()["learner.sums_.0.gram"]
    assert gram[0, 0] == pytest.approx(1 / (4 * 0.5) + 8.0)  # the second is 60 / 3, cut off


def test_logs_without_propensities_are_learned_from_with_a_warning() -> None:
    log = Log()
    log.append(lw.Lists(lw.Problems.from_arrays(np.zeros((2, 4, 1))), np.array([[0, 1], [4, 5]])), list_ids=["a", "b"])
    log.feedback("a", [1, 0])
    assert lw.OnlineSCP(2, random_state=0).fit_log(log).version == 1  # where they are not asked for
    with pytest.warns(EvidenceWarning, match="1 of 1 lists have no propensities"):
        assert lw.OnlineSCP(2, random_state=0).fit_log(log, cap=10.0).version == 1


def under_constraints(n: int = 12) -> lw.Problems:
    """Problems with nested groups, an excluded and a pinned row, and two further budgets."""
    rng = np.random.default_rng(1)
    coarse, fine = np.tile(list("aaaabbbb"), n), np.tile(list("ccddeeff"), n)
    problems = lw.Problems.from_arrays(rng.random((n, 8, 3)), sizes=rng.uniform(1, 2, 8 * n), groups=fine)
    return problems.with_constraints(
        groups=[coarse, fine],
        per_group=[{"a": (1, 2)}, {"c": 1, "f": (1, 1)}],
        exclude=np.arange(8 * n) % 8 == 1,
        pin=[8],
        budgets=[(rng.random(8 * n), 2.0), (rng.random(8 * n), np.linspace(0.8, 3.0, n))],
        alternatives=rng.integers(0, 6, 8 * n),
    )


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", "parquet"])
def test_a_table_keeps_all_that_lists_had_to_keep_to(backend: str, tmp_path: Path) -> None:
    problems = under_constraints()
    lists = lw.OnlineSCP(4, random_state=0).begin(problems).recommend(problems, length=4, budget=6.0)
    log = Log()
    log.append(lists)
    log.feedback(list(lists.list_ids), [[0.0] * len(lists[i]) for i in range(len(lists))])
    if backend == "parquet":
        log.to_parquet(tmp_path / "log.parquet")
        again = Log.from_parquet(tmp_path / "log.parquet").answered_lists()
    else:
        again = Log.from_frame(log.to_frame(backend=backend)).answered_lists()
    assert problems.quotas is not None
    assert again.problems.quotas is not None
    for name, array in problems.quotas.arrays().items():
        np.testing.assert_array_equal(getattr(again.problems.quotas, name), array, name)
    np.testing.assert_array_equal(again.problems.sizes, problems.sizes)
    assert lists.budgets is not None
    np.testing.assert_array_equal(again.budgets, lists.budgets)


def test_lists_with_and_without_constraints_stand_in_one_log() -> None:
    problems, log = under_constraints(), Log()
    learner = lw.OnlineSCP(4, random_state=0).begin(problems)
    parts = [
        problems,
        problems._with(quotas=None),
        problems.with_constraints(budgets=[(np.ones(problems.n_rows), 2.0)]),
    ]
    for number, part in enumerate(parts):
        lists = learner.recommend(part, length=4, budget=5.0 if number == 0 else None)
        log.append(lists)
        log.feedback(list(lists.list_ids), [[0.0] * len(lists[i]) for i in range(len(lists))])
    before, after = log.answered_lists(), Log.from_frame(log.to_frame()).answered_lists()
    np.testing.assert_array_equal(before.budgets, after.budgets)
    assert np.isinf(before.budgets[12:]).all()
    assert (learner.predict(after.problems, length=4, allow_short=True).rows[24:, 2:] == -1).all()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"uses": ["much"] * 40}, "column 'uses' must hold numbers, or lists of them"),
        ({"uses": [[1.0, 2.0]] * 40, "budgets": [[1.0]] * 40}, "uses, budgets differ in length"),
        ({"levels": [[0, 0]] * 40, "per_group": [2] * 40}, "levels, per_group, at_least differ in length"),
    ],
)
def test_constraints_that_do_not_fit_together_are_refused(columns: dict[str, Any], message: str) -> None:
    import polars as pl

    table = full_log().to_frame(backend="polars").head(40)
    with pytest.raises(InputError, match=message):
        Log.from_frame(table.with_columns(**{name: pl.Series(values) for name, values in columns.items()}))
