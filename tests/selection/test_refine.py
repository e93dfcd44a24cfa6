"""Exchanges after greedy: never worse, as good as the best exchange by brute force, within groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError

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
    with pytest.raises(InputError, match="refine= is for facility_location"):
        lw.select(X, 8, reward="log_det", refine=True)
    with pytest.raises(InputError, match="refine must be"):
        lw.select(X, 8, refine=-1.0)
