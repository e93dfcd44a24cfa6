"""Compiled functions on tiles of similarities, and the lazy greedy ones, against plain definitions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from listwright._kernels.facility import lazy_graph
from listwright._kernels.tiles import add_capped_sums, falls, nearest


def rise(similar: Any, best: Any, noise: float) -> Any:
    """How much a similarity is above the best one; what is rounding counts as nothing."""
    above = similar - best
    return np.where(above > noise, above, np.float32(0.0))


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_falls_are_the_difference_of_gains(noise: float) -> None:
    rng = np.random.default_rng(0)
    tile = rng.normal(size=(33, 50)).astype(np.float32)
    old = rng.random(50).astype(np.float32)
    new = old + rng.random(50).astype(np.float32)
    weights, out = rng.random(50), np.full(33, 2.0)
    falls(tile, old, new, weights, noise, out)
    expected = (rise(tile, old, noise) - rise(tile, new, noise)).astype(np.float64) @ weights
    np.testing.assert_allclose(out, 2.0 + expected, rtol=1e-6)
    gains = np.zeros(33)
    falls(tile, old, np.full(50, np.inf, np.float32), weights, noise, gains)
    np.testing.assert_allclose(gains, rise(tile, old, noise).astype(np.float64) @ weights, rtol=1e-6)


def test_gains_fall_step_by_step_as_at_once() -> None:
    """What falls from mark to mark adds up, so that it does not matter how often a row is measured."""
    rng = np.random.default_rng(1)
    tile, weights = rng.random((20, 40)).astype(np.float32), np.ones(40)
    levels = np.sort(rng.random((4, 40)).astype(np.float32), axis=0)
    steps, whole = np.zeros(20), np.zeros(20)
    for low, high in pairwise(levels):
        falls(tile, low, high, weights, 1e-6, steps)
    falls(tile, levels[0], levels[-1], weights, 1e-6, whole)
    np.testing.assert_allclose(steps, whole, rtol=1e-12)


def test_capped_counts_what_there_is_room_for() -> None:
    rng = np.random.default_rng(2)
    tile, capacity, weights, out = (
        rng.normal(size=(9, 30)).astype(np.float32),
        rng.random(30),
        rng.random(30),
        np.zeros(9),
    )
    add_capped_sums(tile, capacity, weights, out)
    np.testing.assert_allclose(out, np.minimum(np.maximum(tile, 0), capacity) @ weights, rtol=1e-6)


def test_nearest_are_the_first_of_a_stable_sort() -> None:
    rng = np.random.default_rng(3)
    table = rng.integers(0, 12, size=(15, 90)).astype(np.float32)  # with many ties
    rows, values = np.zeros((15, 7), dtype=np.int64), np.full((15, 7), -np.inf, dtype=np.float32)
    for first in range(0, 90, 25):
        nearest(table[:, first : first + 25].copy(), first, rows, values)
    order = np.argsort(-table, axis=1, kind="stable")[:, :7]
    np.testing.assert_array_equal(rows, order)
    np.testing.assert_array_equal(values, np.take_along_axis(table, order, axis=1))


def test_lazy_graph_is_plain_greedy_with_costs_and_groups() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        graph = sparse.random(30, 25, density=0.3, random_state=rng, format="csr")
        costs, groups, capacity, left = 1.0 + rng.random(30), rng.integers(0, 3, 30), np.array([2, 3, 1]), 6.0
        rows, gains = np.full(9, -1), np.zeros(9)
        count = lazy_graph(
            graph.indptr.astype(np.int64),
            graph.indices.astype(np.int64),
            graph.data,
            np.ones(25),
            1.0,
            np.zeros(25),
            costs,
            left,
            np.stack([np.zeros(30, dtype=np.int64), 1 + groups, np.full(30, -1)], axis=1),
            np.array([[30, 0, 0, -1, 0], *([most, 0, 0, 0, 0] for most in capacity)]),
            np.zeros((30, 0)),
            np.zeros((1, 0)),
            np.arange(30),
            np.zeros(30),
            rows,
            gains,
        )
        table, best, expected, taken = graph.toarray(), np.zeros(25), [], np.zeros(3, dtype=int)
        while len(expected) < 9:
            scores = np.maximum(table - best, 0).sum(axis=1) / costs
            shut = (costs > left) | (taken[groups] >= capacity[groups])
            shut[expected] = True
            if shut.all():
                break
            row = int(np.argmax(np.where(shut, -1.0, scores)))
            left, taken[groups[row]] = left - costs[row], taken[groups[row]] + 1
            best = np.maximum(best, table[row])
            expected.append(row)
        assert rows[:count].tolist() == expected
