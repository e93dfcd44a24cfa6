"""Exchanges after greedy: never worse, as good as the best exchange by brute force, within groups."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import listwright as lw
from listwright.errors import InputError
from listwright.selection.objectives import KINDS

X = np.random.default_rng(1).normal(size=(120, 6)).astype(np.float32)
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
COSINES = np.maximum(UNIT @ UNIT.T, 0.0).astype(np.float64)


def worth(rows: Any) -> float:
    return float(COSINES[list(rows)].max(axis=0).sum())


@pytest.mark.parametrize("options", [{}, {"given": [3, 5]}, {"exclude": [0, 1, 2]}, {"metric": "precomputed"}])
def test_no_exchange_pays_afterwards(options: dict[str, Any]) -> None:
    table = COSINES if "metric" in options else X
    plain, better = lw.select(table, 8, **options), lw.select(table, 8, refine=True, **options)
    assert better.value == pytest.approx(plain.value + better.refined, rel=1e-5)
    assert better.refined > 0
    given = options.get("given", [])
    rows = better.rows.tolist()
    assert better.value == pytest.approx(worth([*rows, *given]), rel=1e-5)
    assert not set(rows) & {*given, *options.get("exclude", [])}
    assert (np.diff(better.gains) <= 1e-5).all()
    for place in range(8):
        for row in sorted(set(range(120)) - {*rows, *given, *options.get("exclude", [])}):
            assert worth([*rows[:place], row, *rows[place + 1 :], *given]) <= better.value * (1 + 1e-6)


def test_where_no_exchange_pays_the_picks_stay_as_they_are() -> None:
    for seed in range(30):
        x = np.random.default_rng(seed).normal(size=(6, 4)).astype(np.float32)
        plain, same = (lw.select(x, 2, metric="dot", refine=refine) for refine in (False, True))
        assert same.value >= plain.value
        assert same.refined > 0 or same.gains.tolist() == plain.gains.tolist()


def test_exchanges_stay_within_groups_and_time() -> None:
    labels = np.arange(120) % 4
    options = {"groups": labels, "per_group": {0: (3, 3), 1: 2}}
    plain, better = lw.select(X, 8, **options), lw.select(X, 8, refine=5.0, **options)
    assert (
        np.bincount(labels[plain.rows], minlength=4).tolist() == np.bincount(labels[better.rows], minlength=4).tolist()
    )
    assert better.value >= plain.value
    with pytest.raises(InputError, match="refine= works on all rows in one process"):
        lw.select(X, 8, sample=20, refine=True)
    with pytest.raises(InputError, match="refine must be"):
        lw.select(X, 8, refine=-1.0)


N = 10
T = np.random.default_rng(3).random((N, 3)).astype(np.float32)
LABELS = np.arange(N) % 3
COSTS = np.stack([1.0 + np.arange(N) % 4, 2.0 - np.arange(N) % 2], axis=1)
WORTHS: list[Any] = [
    "facility_location",
    "log_det",
    "graph_cut",
    "saturated_coverage",
    "feature_based",
    "max_min",
    "dispersion",
    "disparity_min",
    "disparity_sum",
    {"facility_location": 1.0, "graph_cut": 0.5, "log_det": 1.0},
    lambda rows: float(T[sorted(rows)].max(axis=0).sum() - 0.1 * T[sorted(rows), 0].sum()) if len(rows) else 0.0,
    lw.rewards.ConcaveCoverage(T, shape="log", normalize=False),
]
KINDS_OF = [reward if isinstance(reward, str) else type(reward).__name__ for reward in WORTHS]
RULES: list[dict[str, Any]] = [
    {"k": 4},
    {"k": 3, "given": [2, 7], "exclude": [0, 1]},
    {"k": 5, "groups": LABELS, "per_group": {0: (2, 3), 1: 2}},
    {"k": 4, "groups": [LABELS // 2, LABELS], "per_group": [(1, 3), {0: (1, None)}], "exclude": [4]},
    {"costs": COSTS[:, 0], "budget": 7.0},
    {"costs": COSTS, "budget": [9.0, 6.0], "groups": LABELS, "per_group": {1: (1, 2)}},
]


def keeps(rows: list[int], rule: dict[str, Any]) -> bool:
    """Whether rows may be selected under the rules above."""
    if set(rows) & {*rule.get("given", []), *rule.get("exclude", [])}:
        return False
    for labels, asked in zip(*_levels(rule), strict=True):
        for label in np.unique(labels):
            least, most = asked.get(label, (0, None)) if isinstance(asked, dict) else asked
            if not (least or 0) <= (labels[rows] == label).sum() <= (len(rows) if most is None else most):
                return False
    costs = np.asarray(rule.get("costs", np.zeros(N)))[rows].sum(axis=0)
    return bool((costs <= np.asarray(rule.get("budget", 1.0))).all())


def _levels(rule: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    groups, asked = rule.get("groups", []), rule.get("per_group", [])
    if not isinstance(asked, dict):
        return groups, asked
    return [groups], [{label: (0, most) if isinstance(most, int) else most for label, most in asked.items()}]


@pytest.mark.parametrize("rule", RULES, ids=["k", "given", "quotas", "nested", "budget", "budgets"])
@pytest.mark.parametrize("reward", WORTHS, ids=KINDS_OF)
@pytest.mark.filterwarnings("ignore:.*picks add nothing")
def test_every_objective_is_refined_within_its_constraints(reward: Any, rule: dict[str, Any]) -> None:
    far = {"metric": "euclidean"} if reward in list(KINDS) else {}
    options = rule | far | {"reward": reward}
    plain, better = lw.select(T, **options), lw.select(T, refine=True, **options)
    assert keeps(plain.rows.tolist(), rule)
    assert keeps(better.rows.tolist(), rule)
    assert better.value == pytest.approx(plain.value + better.refined, rel=1e-5, abs=1e-6)
    assert better.refined >= 0
    assert len(better) == len(plain)

    def worth(rows: Any) -> float:
        given = [*rule.get("given", []), *rows]
        last = np.setdiff1d(np.arange(N), given[-1:])
        return lw.select(T, 1, **far, reward=reward, given=given[:-1], exclude=np.setdiff1d(last, given[:-1])).value

    assert better.value == pytest.approx(worth(better.rows.tolist()), rel=1e-5, abs=1e-6)
    worths = {rows: worth(list(rows)) for rows in combinations(range(N), len(better)) if keeps(list(rows), rule)}
    one_apart = [value for rows, value in worths.items() if len({*rows} - {*better.rows.tolist()}) == 1]
    if reward != "facility_location" or "groups" not in rule:  # which exchanges within groups only
        assert max(one_apart) <= better.value + 1e-6 * abs(better.value) + 1e-6
    if better.ratio is not None:
        assert better.value >= better.ratio * max(worths.values()) - 1e-5


def test_graphs_are_refined_and_time_is_kept() -> None:
    for options in ({"neighbors": 20}, {"metric": "precomputed"}):
        table = sparse.csr_array(COSINES * (COSINES > 0.5)) if "metric" in options else X
        plain, better = lw.select(table, 8, **options), lw.select(table, 8, refine=True, **options)
        assert better.value == pytest.approx(plain.value + better.refined)
        assert better.refined > 0
    calls = []
    for reward in ("max_min", "graph_cut", lambda rows: calls.append(rows) or float(X[rows].sum())):
        plain = lw.select(X, 8, reward=reward)
        n_calls = len(calls)
        assert lw.select(X, 8, reward=reward, refine=1e-9).value >= plain.value
        assert len(calls) <= 3 * n_calls  # time is up before the first exchange is done
