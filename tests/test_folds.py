"""Rows in the order of their folds, against plain definitions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from listwright._kernels.folds import by_fold, gathered
from listwright.examples import folds_of


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
    np.testing.assert_array_equal(gathered(table, rows), table[rows].astype(np.float64))


def test_ids_that_are_equal_but_not_the_same_have_their_own_folds() -> None:
    ids = np.array([1, 1.0, "1", True] * 3, dtype=object)
    assert folds_of(ids).tolist() == [folds_of(np.array([one], dtype=object))[0] for one in ids]
    alone = folds_of(np.array([1.0]))
    assert folds_of(np.array([1]))[0] == folds_of(np.array(["1"]))[0]
    assert alone[0] == folds_of(np.array(["1.0"]))[0]
