"""Columns on a grid: how far values move, and values at the ends of float32."""

from __future__ import annotations

import numpy as np
import pytest

from listwright._kernels.grid import to_grid

HUGE, TINY = np.float32(3.4028235e38), np.float32(1e-45)


def on_grid(table, levels):
    """Grids and steps of a table, and the values that these stand for."""
    ends, steps = np.empty((2, table.shape[1]), np.uint16), np.empty(table.shape, np.uint16)
    to_grid(table, levels, ends, steps)
    low, high = ((half.astype(np.uint32) << 16).view(np.float32).astype(float) for half in ends)
    return low, high, steps, low + steps * (high - low) / (levels - 1)


@pytest.mark.parametrize("levels", [128, 256, 65_536])
def test_values_move_by_half_a_step_at_most(levels):
    rng = np.random.default_rng(0)
    table = (rng.normal(size=(50, 20)) * 10.0 ** rng.integers(-20, 20, size=20)).astype(np.float32)
    low, high, steps, found = on_grid(table, levels)
    assert ((low <= table.min(axis=0)) & (high >= table.max(axis=0))).all()
    assert steps.max() < levels
    half = 0.5 * (high - low) / (levels - 1)
    assert (np.abs(found - table) <= half * (1 + 1e-4) + 1e-6 * np.abs(table).max(axis=0)).all()


@pytest.mark.parametrize(
    "column", [[HUGE, -HUGE], [HUGE, HUGE], [TINY, -TINY], [0.0, 0.0], [-0.0, 1.0], [1.5, 1.5], [-2.0, -1.0]]
)
def test_ends_of_the_range_stay_finite_and_within(column):
    table = np.array(column, dtype=np.float32)[:, None]
    low, high, _, found = on_grid(table, 128)
    assert np.isfinite([low, high]).all()
    assert np.isfinite(found).all()
    assert np.abs(found - table).max() <= (high - low).max() / 64 + 0.01 * np.abs(table).max()


def test_few_distinct_values_keep_their_order():
    table = np.array([[3.0], [1.0], [2.0], [1.0]], dtype=np.float32)
    _, _, steps, _ = on_grid(table, 128)
    assert steps[:, 0].argsort(kind="stable").tolist() == [1, 3, 2, 0]
