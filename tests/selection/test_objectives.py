"""Objectives of `select` against their definitions, and what is proved for them against all selections."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

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


@pytest.mark.filterwarnings("ignore:.*add nothing")
def test_any_set_function_and_its_cost() -> None:
    selection = lw.select(X, 3, reward=lambda rows: float(X[rows].max(axis=0).sum()) if len(rows) else 0.0)
    assert selection.ratio is None
    assert selection.value == pytest.approx(float(X[selection.rows].max(axis=0).sum()), rel=1e-6)
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
    with pytest.raises(InputError, match="which look like vectors"):
        lw.select(RNG.normal(size=(200, 32)), 8, metric="precomputed")
