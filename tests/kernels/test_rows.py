"""Kernels that pick out rows, against plain definitions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numba import njit

from listwright._internal.ragged import folds_of
from listwright._kernels.rows import by_fold, costs_of, gather, top_of


@njit
def _top_of(scores, rows, picked):
    """Calls the kernel, which Python cannot."""
    top_of(scores, rows, picked)


@pytest.mark.parametrize("seed", range(20))
def test_by_fold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 5, size=rng.integers(1, 12))
    offsets = np.concatenate([[0], np.cumsum(counts)])
    used, folds = rng.random(offsets[-1]) < 0.6, rng.integers(0, 3, size=len(counts))
    states = [[row for row in range(a, b) if used[row]] for a, b in pairwise(offsets)]
    rows, starts, ends = by_fold(used, offsets, folds, 3)
    assert [[rows[a:b].tolist() for a, b in pairwise(starts) if ends[f] <= a < ends[f + 1]] for f in range(3)] == [
        [state for state, fold in zip(states, folds, strict=True) if state and fold == f] for f in range(3)
    ]
    assert starts[-1] == ends[-1] == len(rows) == used.sum()
    table = rng.normal(size=(len(used), 2)).astype(np.float32)
    np.testing.assert_array_equal(gather(table, rows), table[rows].astype(np.float64))


@pytest.mark.parametrize("seed", range(10))
def test_costs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 5, size=6))])
    gains, options = rng.integers(0, 3, size=offsets[-1]).astype(float), rng.random(offsets[-1]) < 0.6
    best = [max((gains[i] for i in range(a, b) if options[i]), default=0.0) for a, b in pairwise(offsets)]
    expected = np.where(options, np.repeat(best, np.diff(offsets)) - gains, 0.0)
    np.testing.assert_array_equal(costs_of(gains, options, offsets), expected)


@pytest.mark.parametrize("length", [1, 3, 9])
def test_top_rows(length: int) -> None:
    rng = np.random.default_rng(length)
    for _ in range(50):
        scores = rng.integers(0, 4, size=6).astype(float)  # ties
        rows, picked = np.full(length, -1), np.zeros(length)
        _top_of(scores, rows, picked)
        order = np.argsort(-scores, kind="stable")[:length]
        assert rows[: len(order)].tolist() == order.tolist()
        assert picked[: len(order)].tolist() == scores[order].tolist()
        assert (rows[len(order) :] == -1).all()


def test_a_problem_has_the_fold_of_its_name() -> None:
    ids = np.array([1, 1.0, "1", True, None], dtype=object)
    assert folds_of(ids).tolist() == [int(folds_of(np.array([str(one)]))[0]) for one in ids]
