"""Objectives of `select` against their definitions, and what is proved for them against all selections."""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import listwright as lw
from listwright.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.random((14, 3)).astype(np.float32)
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
COSINES = np.maximum(UNIT @ UNIT.T, 0.0).astype(np.float64)
APART = np.linalg.norm(X[:, None] - X[None], axis=2).astype(np.float64)


def graph_cut(rows: Any, redundancy: float = 0.5) -> float:
    return float(COSINES[list(rows)].sum() - redundancy * COSINES[np.ix_(rows, rows)].sum())


def radius(rows: Any) -> float:
    return -float(APART[list(rows)].min(axis=0).max())


def smallest(rows: Any) -> float:
    return min(float(APART[i, j]) for i, j in combinations(rows, 2))


def total(rows: Any) -> float:
    return sum(float(APART[i, j]) for i, j in combinations(rows, 2))


def gaps(rows: Any) -> float:
    return sum(min(float(APART[i, j]) for j in rows if j != i) for i in rows)


@pytest.mark.parametrize("redundancy", [0.2, 0.5, 2.0])
def test_graph_cut_is_plain_greedy_by_its_definition(redundancy: float) -> None:
    selection = lw.select(X, 5, reward="graph_cut", redundancy=redundancy)
    rows: list[int] = []
    for _ in range(5):
        others = [row for row in range(14) if row not in rows]
        rows.append(max(others, key=lambda row: round(graph_cut([*rows, row], redundancy), 5)))
    assert selection.value == pytest.approx(graph_cut(selection.rows, redundancy), rel=1e-5)
    assert selection.value >= graph_cut(rows, redundancy) * (1 - 1e-5)
    assert (selection.ratio is None) == (redundancy > 0.5)


@pytest.mark.parametrize(
    ("reward", "value"),
    [("max_min", radius), ("disparity_min", smallest), ("disparity_sum", total), ("dispersion", gaps)],
)
def test_distances_against_their_definitions_and_all_selections(reward: str, value: Any) -> None:
    for k in (2, 3, 4):
        selection = lw.select(X, k, reward=reward, metric="euclidean")
        assert selection.value == pytest.approx(value(selection.rows), rel=1e-4, abs=1e-4)
        best = max(value(rows) for rows in combinations(range(14), k))
        if reward == "max_min":
            assert -selection.value <= -2 * best + 1e-4
            assert "2 times" in selection.bound
        elif reward == "dispersion":
            assert selection.ratio is None
        else:
            assert selection.value >= selection.ratio * best - 1e-4
    assert lw.select(X, 3, reward=reward, given=[0], exclude=[1]).ratio is None


def test_a_mixture_is_the_sum_of_its_parts() -> None:
    parts = {"facility_location": 1.0, "graph_cut": 0.5, "log_det": 2.0, "saturated_coverage": 1.5, "feature_based": 1}
    selection = lw.select(X, 4, reward=parts)
    others = np.setdiff1d(np.arange(14), selection.rows)
    values = [lw.select(X, 1, reward=name, given=selection.rows[:3], exclude=others).value for name in parts]
    assert selection.value == pytest.approx(float(np.dot(values, list(parts.values()))), rel=1e-5)
    assert lw.select(X, 4, reward={"facility_location": 1.0}).rows.tolist() == lw.select(X, 4).rows.tolist()
    assert selection.ratio is not None
    reward = lw.rewards.ConcaveCoverage(X, shape="log")
    assert len(lw.select(X, 4, reward={"graph_cut": 1.0, reward: 2.0})) == 4
    with pytest.raises(InputError, match="A mixture has rewards among"):
        lw.select(X, 4, reward={"max_min": 1.0})


def slow_at_first(seen: list[Any]) -> Any:
    def reward(rows: Any) -> float:
        seen.append(rows)
        time.sleep(1e-3 if len(seen) < 10 else 0.0)
        return 1.0

    return reward


@pytest.mark.filterwarnings("ignore:.*add nothing")
def test_any_set_function_and_its_cost() -> None:
    selection = lw.select(X, 3, reward=lambda rows: float(X[rows].max(axis=0).sum()) if len(rows) else 0.0)
    assert selection.ratio is None
    assert selection.value == pytest.approx(float(X[selection.rows].max(axis=0).sum()), rel=1e-6)
    with pytest.warns(UserWarning, match="about 5,000 calls of it follow, which take about [0-9]+ s"):
        lw.select(np.ones((1000, 1)), 5, reward=slow_at_first([]))
    with pytest.warns(UserWarning, match="about 150,000 calls"):
        lw.select(np.ones((50_000, 1), dtype=np.float32), 3, reward=lambda rows: 0.0, given=[0])


def test_precomputed_is_the_compiled_greedy_of_a_matrix() -> None:
    matrix = RNG.random((60, 60))
    problem = lw.Problems.from_arrays(np.zeros((1, 60, 1)), reward=lw.rewards.FacilityLocation(matrix))
    ours = lw.select(matrix, 8, metric="precomputed")
    assert ours.rows.tolist() == lw.greedy(problem, 8)[0].tolist()
    assert ours.value == pytest.approx(matrix[ours.rows].max(axis=0).sum())
    given = lw.select(matrix, 3, metric="precomputed", given=ours.rows[:5])
    assert given.rows.tolist() == ours.rows[5:].tolist()
    for reward in ("facility_location", "graph_cut", "max_min"):
        with pytest.raises(InputError, match="If these are vectors, leave metric= out"):
            lw.select(RNG.random((200, 32)), 8, metric="precomputed", reward=reward)
    columns = lw.select(matrix[:, :7], 4, metric="precomputed", targets="columns")
    assert columns.value == pytest.approx(matrix[columns.rows, :7].max(axis=0).sum())


@pytest.mark.filterwarnings("ignore:.*add nothing")
def test_a_sparse_matrix_of_similarities_serves_every_reward_that_takes_a_matrix() -> None:
    matrix = RNG.random((40, 40)) * (RNG.random((40, 40)) < 0.3)
    matrix += matrix.T
    for reward in ("facility_location", "saturated_coverage", "graph_cut", "max_min", "disparity_sum"):
        dense = lw.select(matrix, 5, metric="precomputed", reward=reward)
        thin = lw.select(sparse.csr_array(matrix), 5, metric="precomputed", reward=reward)
        assert thin.rows.tolist() == dense.rows.tolist(), reward
        assert thin.value == pytest.approx(dense.value, rel=1e-5)
        assert thin.assign("pyarrow")["pick"].to_pylist() == dense.assign("pyarrow")["pick"].to_pylist()


def test_graph_cut_claims_no_ratio_where_more_rows_may_be_worth_less() -> None:
    x = RNG.random((30, 4))
    assert lw.select(x, 3, reward="graph_cut").ratio is not None
    assert lw.select(x, 3, reward="graph_cut", weights=np.full(30, 0.9)).ratio is None
    assert lw.select(x, 3, reward="graph_cut", weights=np.full(30, 0.9), redundancy=0.45).ratio is not None
    to_targets = lw.select(x, 3, reward="graph_cut", targets=x[:5])
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    rows = to_targets.rows
    worth = (unit[rows] @ unit[:5].T).sum() - 0.5 * (unit[rows] @ unit[rows].T).sum()
    assert to_targets.value == pytest.approx(worth, rel=1e-5)
    assert to_targets.ratio is None


def test_graph_cut_of_a_matrix_that_is_not_symmetric_is_a_function_of_the_set() -> None:
    matrix = RNG.random((20, 20))
    ours = lw.select(matrix, 4, metric="precomputed", reward="graph_cut")
    rows = ours.rows
    assert ours.value == pytest.approx(matrix[rows].sum() - 0.5 * matrix[np.ix_(rows, rows)].sum(), rel=1e-5)
    assert ours.ratio is None


def test_a_set_function_need_not_take_the_empty_set_and_may_be_part_of_a_mixture() -> None:
    x = RNG.random((30, 4))
    highest = lambda rows: float(x[rows].max(axis=0).sum())  # noqa: E731
    assert lw.select(x, 3, reward=highest).value == pytest.approx(x.max(axis=0).sum(), rel=0.2)
    mixed = lw.select(x, 3, reward={highest: 2.0, "facility_location": 1.0})
    assert mixed.value == pytest.approx(2 * highest(mixed.rows) + _facility(x, mixed.rows), rel=1e-5)


def _facility(x: np.ndarray, rows: np.ndarray) -> float:
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    return float((unit[rows] @ unit.T).max(axis=0).sum())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reward": {"log_det": 1.0, "facility_location": 1.0}, "metric": "rbf"}, "log_det needs metric cosine or dot"),
        ({"reward": {"log_det": 1.0}, "scale": -1.0}, "scale must be above 0"),
        ({"reward": {"saturated_coverage": 1.0}, "alpha": 7}, "alpha must be above 0 and at most 1"),
        ({"reward": {"log_det": np.nan}}, "weights of a mixture must be 0 or more"),
        ({"reward": {"log_det": "a"}}, "weights of a mixture must be 0 or more"),
        ({"reward": {"dispersion": 1.0}}, "or functions of row numbers"),
        ({"refine": "a"}, "refine must be True, False or a number of seconds"),
    ],
)
def test_what_rewards_cannot_be_made_of_is_refused(options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        lw.select(RNG.random((30, 4)), 3, **options)


def test_copies_are_warned_of_whatever_the_reward() -> None:
    x = np.repeat(np.eye(5), 4, axis=0)
    for options in ({}, {"sample": 10, "random_state": 0}, {"reward": "saturated_coverage"}, {"reward": "max_min"}):
        with pytest.warns(UserWarning, match="of 10 picks add nothing"):
            lw.select(x, 10, **options)


def test_the_least_rows_of_groups_are_found_within_a_budget_or_the_selection_is_refused() -> None:
    x, groups = RNG.random((12, 3)), np.arange(12) % 2
    costs = np.where(np.arange(12) < 2, 1.0, 0.6)  # the rows with the highest gains are the dearest
    x[:2] = x.mean(axis=0)
    chosen = lw.select(x, costs=costs / 0.6, budget=2.0, groups=groups, per_group=(1, None)).rows
    assert set(groups[chosen].tolist()) == {0, 1}
    assert (costs[chosen] / 0.6).sum() <= 2.0
    with pytest.raises(InputError, match="more than the budget pays for"):
        lw.select(x, costs=costs, budget=1.1, groups=groups, per_group=(1, None))


def test_given_rows_count_in_their_groups_even_if_they_are_excluded_too() -> None:
    x, groups = RNG.random((6, 3)), np.array([0, 0, 0, 0, 1, 1])
    chosen = lw.select(x, 2, given=[1], exclude=[1], groups=groups, per_group={0: 2}).rows
    assert (groups[chosen] == 0).sum() == 1
    with pytest.raises(InputError, match="Besides the rows given, the groups need 2 more, and only 1 may be picked"):
        lw.select(x, 1, given=[0], groups=np.array([2, 0, 0, 0, 1, 1]), per_group={0: (1, 3), 1: (1, 3)})


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("reward", ["log_det", "facility_location"])
def test_the_ratio_holds_where_a_budget_and_quotas_from_below_meet(reward: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, costs, groups = rng.normal(size=(7, 3)), rng.random(7) + 0.1, np.arange(7) % 2
    ours = lw.select(x, reward=reward, costs=costs, budget=1.6, groups=groups, per_group={0: (1, 1), 1: (1, 3)})
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    similarity = unit @ unit.T

    def worth(rows: Any) -> float:
        if reward == "log_det":
            return float(np.linalg.slogdet(np.eye(len(rows)) + similarity[np.ix_(rows, rows)])[1])
        return float(np.maximum(similarity[list(rows)], 0.0).max(axis=0).sum())

    best = max(
        worth(rows)
        for k in range(2, 5)
        for rows in combinations(range(7), k)
        if costs[list(rows)].sum() <= 1.6 and np.bincount(groups[list(rows)], minlength=2)[0] == 1
    )
    assert ours.value >= ours.ratio * best - 1e-5


TOPICS = [{row % 7, row % 5} for row in range(30)]


def _topics(rows: set[int]) -> float:
    if not rows:
        return 0
    assert isinstance(rows, set)
    return float(len(set.union(*(TOPICS[row] for row in rows | {0}))))


def test_a_function_of_a_set_is_called_with_one() -> None:
    selection = lw.select(RNG.random((30, 4)), 4, reward=_topics)
    assert selection.value == _topics(set(selection.rows.tolist())) == 7.0
    mixed = lw.select(RNG.random((30, 4)), 2, reward={_topics: 100.0, "facility_location": 1.0})
    assert _topics(set(mixed.rows.tolist())) >= 4.0
    assert lw.select(np.ones((1, 2)), 1, reward=_topics).rows.tolist() == [0]


def test_a_function_that_fails_is_named_with_what_it_raised() -> None:
    with pytest.raises(InputError, match="with the vectors it raised ZeroDivisionError: division by zero"):
        lw.select(RNG.random((30, 4)), 4, reward=lambda rows: 1 / 0)
    with pytest.raises(InputError, match="covers must be 0 or more"):
        lw.select(-RNG.random((30, 4)), 4, reward=lambda x: lw.rewards.ConcaveCoverage(x, "log"))


@pytest.mark.filterwarnings("ignore:.*add nothing")
def test_the_factor_of_k_center_is_claimed_where_every_row_is_open_and_only_there() -> None:
    x, costs = RNG.normal(size=(9, 3)), {"costs": np.ones(9), "budget": 9.0}
    for k in (1, 3):
        for rules in ({}, {"exclude": []}, {"given": []}):
            assert "2 times what the best" in lw.select(x, k, reward="max_min", **rules).bound
        for rules in ({"exclude": [3]}, {"given": [3]}, {"groups": np.arange(9) % 2, "per_group": 2}, costs):
            assert "no ratio is known" in lw.select(x, k, reward="max_min", **rules).bound


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "rbf"])
def test_distances_of_rows_that_are_close_are_not_those_of_rounded_similarities(metric: str) -> None:
    x = RNG.normal(size=(8, 6))
    x = np.concatenate([x, x + 1e-4 * RNG.normal(size=(8, 6))]).astype(np.float32)
    exact = x.astype(np.float64)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True) if metric == "cosine" else 1.0
    squared = ((exact[:, None] - exact[None]) ** 2).sum(axis=2)
    if metric == "rbf":
        squared = 2 - 2 * np.exp(-squared / exact.var(axis=0).sum())
    nearest = np.sqrt(squared)[np.triu_indices(16, 1)].min()
    assert 0 < nearest < 1e-3
    assert lw.select(x, 16, reward="disparity_min", metric=metric).value == pytest.approx(nearest, rel=0.01)


@pytest.mark.filterwarnings("ignore:.*add nothing")
def test_rows_whose_gains_are_rounding_are_picked_too() -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x, targets = rng.normal(size=(8, 3)), rng.normal(size=(2, 3))  # a few picks represent both targets
        selection = lw.select(x, 7, targets=targets, metric="rbf", weights=rng.random(2))
        assert len(set(selection.rows.tolist())) == 7


@pytest.mark.filterwarnings("ignore:.*add nothing")
@pytest.mark.parametrize("reward", ["facility_location", "saturated_coverage", "graph_cut"])
def test_negative_similarities_count_as_0_in_every_form_of_a_matrix(reward: str) -> None:
    for seed in range(5):
        matrix = np.random.default_rng(seed).random((12, 12)) - 0.3
        positive = np.maximum(matrix, 0.0)
        for table in (matrix, sparse.csr_array(matrix)):
            selection = lw.select(table, 4, metric="precomputed", reward=reward)
            same = lw.select(positive, 4, metric="precomputed", reward=reward)
            assert selection.rows.tolist() == same.rows.tolist()
            assert selection.value == pytest.approx(same.value, rel=1e-5)
