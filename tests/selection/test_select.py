"""Selections out of vectors against plain definitions on whole matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import listwright as lw
from listwright.selection import facility, similarity
from tests.selection import plain

N, D, K = 90, 7, 12
METRICS = ["cosine", "dot", "rbf", "euclidean"]


def agrees(selection: lw.Selection, expected: tuple[list[int], list[float]], rtol: float = 1e-4) -> None:
    rows, gains = expected
    assert selection.rows.tolist() == rows
    np.testing.assert_allclose(selection.gains, gains, rtol=rtol, atol=1e-4 * max(gains))


@pytest.fixture(params=["wide tiles", "many small tiles and epochs"])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same code with tiles and active sets so small that a small table has many of them."""
    if request.param != "wide tiles":
        for name, size in (("TARGETS", 16), ("CANDIDATES", 8), ("GATHERED", 24), ("LEAST", 4)):
            monkeypatch.setattr(similarity, name, size)
        monkeypatch.setattr(facility, "EXACT_TARGETS", 40)
        monkeypatch.setattr(facility, "LEAST_ACTIVE", 5)


def by_matrix(table: Any, k: int) -> list[int]:
    """Greedy on a whole matrix in float64; ties up to rounding go to the lowest row."""
    best, rows = np.zeros(table.shape[1]), []
    for _ in range(k):
        gains = np.maximum(table - best, 0.0).sum(axis=1)
        rows.append(int(np.argmax(gains >= gains.max() * (1 - 1e-9))))
        best = np.maximum(best, table[rows[-1]])
    return rows


@pytest.mark.parametrize("metric", METRICS)
def test_rows_that_float32_cannot_tell_apart_are_decided_in_float64(metric: str) -> None:
    rng = np.random.default_rng(0)
    x = np.repeat(rng.normal(size=(200, 24)), 2, axis=0)  # pairs: each of the two brings the same
    x = (x + 0.1 * np.tile([[1.0], [-1.0]], (200, 1)) * np.repeat(rng.normal(size=(200, 24)), 2, axis=0)).astype(
        np.float32
    )
    assert lw.select(x, 150, metric=metric).rows.tolist() == by_matrix(plain.similarity(x, x, metric), 150)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(3))
def test_facility_location_is_the_plain_greedy(metric: str, seed: int) -> None:
    x = plain.clustered(N, D, seed)
    expected = plain.greedy(plain.facility(plain.similarity(x, x, metric)), N, K)
    selection = lw.select(x, K, metric=metric)
    agrees(selection, expected)
    assert selection.value == pytest.approx(sum(expected[1]), rel=1e-5)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("metric", METRICS)
def test_targets_weights_and_given(metric: str) -> None:
    x, y = plain.clustered(N, D, 1), plain.clustered(40, D, 2)
    weights, given = np.random.default_rng(0).random(40), [5, 17]
    table = plain.similarity(x, y, metric)
    if metric == "rbf":
        table = plain.similarity(x, y, metric, gamma=0.1)
    worth = plain.facility(table, weights)
    selection = lw.select(x, 6, metric=metric, targets=y, weights=weights, given=given, gamma=0.1)
    agrees(selection, plain.greedy(worth, N, 6, given=given))
    assert selection.value == pytest.approx(worth([*given, *selection.rows]), rel=1e-5)
    assert selection.values[-1] == pytest.approx(selection.value)


def test_the_rbf_kernel_is_that_of_the_rows_whatever_the_targets() -> None:
    x, y = plain.clustered(40, 3, 1), plain.clustered(20, 3, 2) + np.float32(1.0)
    gamma = 1.0 / x.var(axis=0, dtype=np.float64).sum()
    for reward in ("facility_location", "graph_cut"):
        options = {"metric": "rbf", "reward": reward, "targets": y}
        assert lw.select(x, 2, **options).value == pytest.approx(lw.select(x, 2, gamma=gamma, **options).value)


@pytest.mark.filterwarnings("ignore:.*add nothing")
@pytest.mark.parametrize("reward", ["facility_location", "log_det", "saturated_coverage", "feature_based"])
def test_every_reward_under_every_rule(reward: str) -> None:
    x = np.abs(plain.clustered(50, D, 3))
    cosines = plain.similarity(x, x, "cosine")
    worth = {
        "facility_location": plain.facility(cosines),
        "log_det": plain.log_det(cosines),
        "saturated_coverage": plain.saturated(cosines),
        "feature_based": lambda rows: float(np.sqrt(x[rows].sum(axis=0, dtype=np.float64)).sum()) if rows else 0.0,
    }[reward]
    groups, costs = np.arange(50) % 4, 0.5 + np.random.default_rng(1).random(50)
    rules: list[dict[str, Any]] = [
        {},
        {"given": [3, 30]},
        {"groups": groups, "per_group": 2},
        {"groups": groups, "per_group": {0: 0, 1: 1, 2: 5, 3: 2}, "given": [2]},
        {"costs": costs, "budget": 4.0},
        {"costs": costs, "budget": 4.0, "groups": groups, "per_group": 2, "given": [1]},
    ]
    for rule in rules:
        agrees(lw.select(x, 7, reward=reward, **rule), plain.greedy(worth, 50, 7, **rule))


@pytest.mark.parametrize("metric", ["cosine", "dot", "rbf"])
def test_log_det_of_each_kernel(metric: str) -> None:
    x = plain.clustered(N, D, 4)
    kernel = x.astype(np.float64) @ x.T.astype(np.float64)
    if metric == "cosine":
        kernel /= np.sqrt(np.outer(np.diag(kernel), np.diag(kernel)))
    if metric == "rbf":
        kernel = plain.similarity(x, x, "rbf", gamma=0.3)
    selection = lw.select(x, 20, reward="log_det", metric=metric, gamma=0.3, scale=2.5)
    agrees(selection, plain.greedy(plain.log_det(kernel, 2.5), N, 20))


def test_log_det_is_that_of_the_reward() -> None:
    x = plain.clustered(N, D, 5)
    problem = lw.Problems.from_arrays(x, offsets=[0, N], reward=lw.rewards.LogDet(x, 0.7, normalize=False))
    lists = lw.greedy(problem, length=15)
    selection = lw.select(x, 15, reward="log_det", metric="dot", scale=0.7)
    assert selection.rows.tolist() == lists[0].tolist()


@pytest.mark.parametrize("metric", METRICS)
def test_neighbors_are_those_of_a_full_sort(metric: str) -> None:
    x, y = plain.clustered(N, D, 6), plain.clustered(33, D, 7)
    full = plain.similarity(x, y, metric, gamma=0.2)
    kept = np.zeros_like(full)
    for target in range(33):
        nearest = np.argsort(-full[:, target], kind="stable")[:5]
        kept[nearest, target] = full[nearest, target]
    selection = lw.select(x, 9, metric=metric, targets=y, neighbors=5, gamma=0.2)
    agrees(selection, plain.greedy(plain.facility(kept), N, 9))


@pytest.mark.filterwarnings("ignore:.*add nothing")
def test_all_neighbors_are_the_exact_selection() -> None:
    x = plain.clustered(N, D, 8)
    np.testing.assert_array_equal(lw.select(x, K, neighbors=N).rows, lw.select(x, K).rows)
    saturated = {"reward": "saturated_coverage"}
    np.testing.assert_array_equal(lw.select(x, K, neighbors=N, **saturated).rows, lw.select(x, K, **saturated).rows)


@pytest.mark.filterwarnings("ignore:.*add nothing")
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_similarities_that_are_given(kind: Any) -> None:
    table = np.random.default_rng(0).random((40, 40)) * (np.random.default_rng(1).random((40, 40)) < 0.4)
    for reward, worth in (("facility_location", plain.facility(table)), ("saturated_coverage", plain.saturated(table))):
        agrees(lw.select(kind(table), 8, metric="precomputed", reward=reward), plain.greedy(worth, 40, 8))


def test_a_reward_of_ones_own_and_one_made_from_the_vectors() -> None:
    x = np.abs(plain.clustered(60, D, 9))
    ours = lw.select(x, 8, reward=lambda table: lw.rewards.ConcaveCoverage(table, "log", normalize=False))
    worth = lambda rows: float(np.log1p(x[rows].sum(axis=0, dtype=np.float64)).sum())  # noqa: E731
    agrees(ours, plain.greedy(worth, 60, 8))
    odd = lw.rewards.Function(lambda problem, items: len(set(items)) ** 2, submodular=False)
    selection = lw.select(x, 3, reward=odd, groups=np.arange(60) % 2, per_group=2)
    assert selection.gains.tolist() == [1.0, 3.0, 5.0]
    assert (selection.bound, selection.ratio) == ("no bound: this reward is not submodular", None)


def test_sampling_measures_all_rows_and_keeps_its_bound() -> None:
    x = plain.clustered(600, D, 10, clusters=40)
    table = plain.similarity(x, x, "cosine")
    exact = lw.select(x, 10)
    for seed in range(20):
        selection = lw.select(x, 10, sample=150, random_state=seed)
        assert selection.value == pytest.approx(plain.facility(table)(selection.rows.tolist()), rel=1e-5)
        assert selection.bound.startswith("with 95% confidence at least ")
        assert selection.ratio is not None
        assert selection.value >= selection.ratio * exact.value  # the best is worth no less than the exact greedy
        assert selection.ratio > 0.5
    assert lw.select(x, 10, sample=600).rows.tolist() == exact.rows.tolist()


def test_the_bound_for_these_data_holds_against_the_best_of_all() -> None:
    from itertools import combinations

    for seed in range(5):
        x = plain.clustered(14, 4, seed)
        worth = plain.facility(plain.similarity(x, x, "cosine"))
        best = max(worth(list(rows)) for rows in combinations(range(14), 3))
        selection = lw.select(x, 3)
        assert selection.ratio is not None
        assert selection.ratio * best <= selection.value + 1e-5
        assert selection.ratio >= 1 - 1 / np.e
        groups = np.arange(14) % 3
        one_each = [rows for rows in combinations(range(14), 3) if len({groups[row] for row in rows}) == 3]
        selection = lw.select(x, 3, groups=groups, per_group=1)
        assert selection.ratio is not None
        assert selection.ratio * max(worth(list(rows)) for rows in one_each) <= selection.value + 1e-5
        costs = 1.0 + np.arange(14) % 4
        within = [rows for n in range(1, 7) for rows in combinations(range(14), n) if costs[list(rows)].sum() <= 6]
        selection = lw.select(x, costs=costs, budget=6.0)
        assert selection.ratio is not None
        assert selection.ratio >= 0.427
        assert selection.ratio * max(worth(list(rows)) for rows in within) <= selection.value + 1e-5


def test_the_best_single_row_wins_where_it_is_worth_more() -> None:
    x = np.eye(6)
    x[5] = 1.0
    selection = lw.select(x, costs=[1, 9, 9, 9, 9, 10], budget=10.0)
    assert selection.rows.tolist() == [5]


@pytest.mark.filterwarnings("ignore:.*add nothing")
@pytest.mark.parametrize("reward", ["feature_based", "facility_location", "log_det", "saturated_coverage", "graph_cut"])
def test_so_it_does_whatever_costs_are_measured_in(reward: str) -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x, costs = rng.random((6, 3)) ** 4, rng.integers(1, 9, 6) / 16
        options = {"reward": reward, "metric": "dot"}
        selection = lw.select(x, costs=costs, budget=0.5, **options)
        assert selection.value >= lw.select(x, 1, exclude=costs > 0.5, **options).value - 1e-6
        assert selection.value == lw.select(x, costs=64 * costs, budget=32.0, **options).value


@pytest.mark.parametrize("reward", ["feature_based", "facility_location", "log_det", "saturated_coverage"])
def test_rows_that_cost_more_than_the_budget_are_not_picked_alone_either(reward: str) -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        costs = rng.integers(1, 6, 8).astype(float)
        selection = lw.select(rng.random((8, 4)), reward=reward, costs=costs, budget=3.0)
        assert costs[selection.rows].sum() <= 3.0


def test_what_is_proved_is_told() -> None:
    x = plain.clustered(30, 4, 0)
    assert "1 - 1/e = 0.632" in lw.select(x, 3).bound
    assert "the best 3 rows within the groups" in lw.select(x, 3, groups=np.arange(30) % 3, per_group=1).bound
    assert "for any data 1/2" in lw.select(x, 3, groups=np.arange(30) % 3, per_group=1).bound
    assert "for any data 0.427" in lw.select(x, costs=np.ones(30), budget=2.0).bound
    both = lw.select(x, 3, costs=np.ones(30), budget=2.0)
    assert "for these data" in both.bound
    assert "for any data" not in both.bound


@pytest.mark.filterwarnings("ignore:.*add nothing")
def test_equal_rows_go_by_number_and_never_twice() -> None:
    x = np.repeat(plain.clustered(20, 5, 1), 5, axis=0)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(100)
        selection = lw.select(x[order], 100)
        assert sorted(selection.rows.tolist()) == list(range(100))
        first = selection.rows[:20]
        same = order // 5
        assert all(row == np.flatnonzero(same == same[row]).min() for row in first)
        assert selection.rows[20:].tolist() == sorted(selection.rows[20:].tolist())


def test_the_same_on_any_number_of_threads() -> None:
    import numba

    x = plain.clustered(700, 16, 2)
    most = numba.config.NUMBA_NUM_THREADS
    found = []
    for count in {1, min(2, most), most}:
        numba.set_num_threads(count)
        found.append(lw.select(x, 40))
    numba.set_num_threads(most)
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].rows, other.rows)
        np.testing.assert_array_equal(found[0].gains, other.gains)
