"""Kernels that pick out rows, against plain definitions."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from listwright._internal.arrays import folds_of
from listwright._kernels.rows import top_of


@njit
def _top_of(scores, rows, picked):
    """Calls the kernel, which Python cannot."""
    top_of(scores, rows, picked)


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
