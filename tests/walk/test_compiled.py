"""The compiled walk builds the same lists as the plain one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.features import Candidate, Distance, Features, FirstPosition, Identity, Position
from listwright.policies import Linear
from listwright.problems import Problems
from listwright.walk.lists import build_lists, compiled_walk, plain_lists
from tests.problem_tools import ragged_problems

SUMS: dict[str, Any] = {
    "candidate": lambda: Candidate(),
    "plain columns": lambda: Candidate(standardize=False) + Position(),
    "paper": lambda: Candidate() + Distance() + Position(),
    "another order": lambda: Position() + Distance(mean=False) + Candidate(),
    "mean only": lambda: Distance(minimum=False) + Candidate(),
    "distances as they are": lambda: Distance(standardize=False) + Position(),
    "identity": lambda: Candidate() + Identity(),
    "identity x context": lambda: Identity(("context",)) + Distance() + Position(),
    "identity x list": lambda: Identity(("list",)),
    "everything": lambda: Candidate() + Distance() + Position() + Identity(("context", "list")),
}


def made_problems(seed: int, *, n: int = 20) -> Problems:
    """Problems of 1 to 14 candidates on far-off scales, some of them twins."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 15, size=n)
    rows = int(counts.sum())
    table = rng.normal(size=(rows, 5)) * [1.0, 100.0, 0.01, 1.0, 3.0] + [0.0, 1e4, 0.0, -1.0, 0.0]
    twins = rng.random(rows) < 0.3
    table[1:][twins[1:]] = table[:-1][twins[1:]]
    return ragged_problems(counts.tolist(), table, rng, items=15, sizes=rng.uniform(0.5, 2.0, size=rows))


def fitted(features: Features, problems: Problems, seed: int) -> tuple[Features, Linear]:
    """The features, and random weights for them."""
    rows, rng = features.fit(problems).rows(features.start(problems)), np.random.default_rng(seed)
    items = None if rows.crossed is None else rng.normal(size=(rows.crossed.n_items, rows.crossed.states.shape[1]))
    return features, Linear(rng.normal(size=rows.table.shape[1]), items)


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize(
    ("length", "budgets", "repeats"),
    [(3, None, False), (20, None, False), (4, None, True), (None, 5.0, False), (3, 2.5, False), (4, 3.0, True)],
)
def test_same_lists_as_the_plain_walk(name: str, length: int | None, budgets: float | None, repeats: bool) -> None:
    for seed in range(4):
        problems = made_problems(seed)
        features, policy = fitted(SUMS[name](), problems, seed)
        assert compiled_walk(problems, features, policy) is not None
        options: dict[str, Any] = {"length": length, "repeats": repeats, "rng": np.random.default_rng(0)}
        options["budgets"] = None if budgets is None else np.full(len(problems), budgets)
        for options["last_by_gain"] in (False, True):
            compiled = build_lists(problems, features, policy, **options)
            plain = plain_lists(problems, features, policy, **options)
            np.testing.assert_array_equal(compiled.rows, plain.rows)
            np.testing.assert_allclose(compiled.picked_scores, plain.picked_scores, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("build", [build_lists, plain_lists])
def test_the_last_pick_that_fits_has_the_highest_score_times_size(build: Any) -> None:
    scores, sizes = [[5.0, 1.0, 4.5, 4.5], [5.0, 1.0, 4.5, 4.5]], [3.0, 2.0, 4.0, 4.0]
    problems = Problems.from_arrays(np.array(scores)[..., None], sizes=np.array(sizes))
    features, budgets = Candidate(standardize=False).fit(problems), np.array([4.5, 9.5])
    options: dict[str, Any] = {"length": None, "rng": np.random.default_rng(0), "budgets": budgets}
    by_score = build(problems, features, Linear(np.ones(1)), **options)
    np.testing.assert_array_equal(by_score.rows, [[0, -1, -1], [4, 6, 5]])
    by_gain = build(problems, features, Linear(np.ones(1)), last_by_gain=True, **options)
    np.testing.assert_array_equal(by_gain.rows, [[2, -1, -1], [4, 6, 5]])  # of equals, the lowest row


def test_ties_go_to_the_lowest_row() -> None:
    problems = Problems.from_arrays(np.ones((2, 4, 3)) * 0.1)
    features, policy = fitted(SUMS["paper"](), problems, 0)
    lists = build_lists(problems, features, policy, length=4, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(lists.rows, [[0, 1, 2, 3], [4, 5, 6, 7]])


@pytest.mark.parametrize("d", [1, 7, 16, 33, 64, 100])
def test_twins_score_the_same_wherever_they_stand(d: int) -> None:
    table = np.random.default_rng(d).normal(size=(1, 23, d)).astype(np.float32)
    problems = Problems.from_arrays(np.concatenate([table, table], axis=1))
    features, policy = fitted(SUMS["paper"](), problems, d)
    rows = build_lists(problems, features, policy, length=30, rng=np.random.default_rng(0)).rows[0].tolist()
    for at, row in enumerate(rows):
        assert row < 23 or row - 23 in rows[:at]


def test_nothing_fits() -> None:
    problems = Problems.from_arrays(np.ones((2, 3, 1)), sizes=np.ones(3))
    features, policy = fitted(SUMS["paper"](), problems, 0)
    budgets = np.array([0.5, 0.5])
    lists = build_lists(problems, features, policy, length=None, rng=np.random.default_rng(0), budgets=budgets)
    np.testing.assert_array_equal(lists.rows, [[-1], [-1]])
    assert lists.picked_scores is not None
    assert not lists.picked_scores.any()


def test_other_features_and_policies_take_the_plain_walk() -> None:
    problems = made_problems(0)
    features, policy = fitted(Candidate() + FirstPosition(), problems, 0)
    assert compiled_walk(problems, features, policy) is None
    features, policy = fitted(Candidate() + Candidate(), problems, 0)
    assert compiled_walk(problems, features, policy) is None
    features, policy = fitted(Candidate() + Position(), problems, 0)
    assert compiled_walk(problems, features, lw.policies.Uniform()) is None
    assert compiled_walk(problems, features, Linear(policy.weights[:-1])) is None
    with pytest.raises(lw.errors.InputError, match="weights"):
        build_lists(problems, features, Linear(policy.weights[:-1]), length=2, rng=np.random.default_rng(0))


def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    problems = made_problems(3, n=50)
    features, policy = fitted(SUMS["everything"](), problems, 3)
    found = []
    for threads in (1, 2, 7):
        monkeypatch.setattr("listwright.walk.lists.MANY", 0)
        monkeypatch.setattr("numba.get_num_threads", lambda threads=threads: threads)
        found.append(build_lists(problems, features, policy, length=5, rng=np.random.default_rng(0)))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].rows, other.rows)
        np.testing.assert_array_equal(found[0].picked_scores, other.picked_scores)
