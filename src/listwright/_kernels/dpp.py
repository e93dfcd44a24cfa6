"""Greedy lists of a determinantal point process: rows lose what the list spans, measured only where it can matter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._kernels import inline, inner, kernel
from listwright._kernels.constraints import ListLimits, has_room, next_pinned, use_up
from listwright._kernels.cosines import Space, square_and_dot
from listwright._kernels.rows import best_of

FLAT = 1e-10  # squared length below which the list spans a row already


class DPPState(NamedTuple):
    """What is known of each row so far."""

    quality: Floats  # log of the squared quality
    bounds: Floats  # upper bounds on the scores; -inf for rows that are taken or do not fit
    left_over: Floats  # squared length of the part of the unit row outside the axes compared with
    compared: Ints  # number of axes compared with; -1 while the row's length is not known either
    axes: Floats  # an orthonormal basis of what the list spans


@inner(fastmath={"reassoc", "nsz", "contract"})
def _along(axes: Floats, axis: int, dense: Floats32, row: int) -> float:
    total = 0.0
    for j in range(dense.shape[1]):
        total += dense[row, j] * axes[axis, j]
    return total


@inner()
def _sparse_square_and_along(
    axes: Floats, axis: int, columns: Ints, values: Floats32, low: int, high: int
) -> tuple[float, float]:
    square, total = 0.0, 0.0
    for j in range(low, high):
        square += np.float64(values[j]) * np.float64(values[j])
        total += values[j] * axes[axis, columns[j]]
    return square, total


@inline
def _compare_all(first: int, end: int, space: Space, seen: DPPState) -> None:
    """Compare all rows with the first axis, and compute their lengths, in one read."""
    dense, starts, columns, values, inverse = space
    quality, bounds, left_over, compared, axes = seen
    for row in range(first, end):
        if len(starts) == 0:
            square, part = square_and_dot(dense[row], axes[0])
        else:
            square, part = _sparse_square_and_along(axes, np.int64(0), columns, values, starts[row], starts[row + 1])
        inverse[row] = 1.0 / np.sqrt(square) if square > 0 else 0.0
        part *= inverse[row]
        left_over[row], compared[row] = max(1.0 - part * part, 0.0) if square > 0 else 0.0, 1
    for row in range(first, end):
        if bounds[row] > -np.inf:
            bounds[row] = quality[row] + np.log(max(left_over[row], FLAT))


@inline
def _dense_left(left: float, axes: Floats, at: int, to: int, dense: Floats32, row: int, inverse: float) -> float:
    for axis in range(at, to):
        part = _along(axes, axis, dense, row) * inverse
        left = max(left - part * part, 0.0)
    return left


@inline
def _length_of(row: int, space: Space) -> float:
    """Return 0 if all numbers of a row are 0, else 1."""
    dense, starts, _, values, _ = space
    if len(starts) == 0:
        for j in range(dense.shape[1]):
            if dense[row, j] != 0:
                return 1.0
    else:
        for j in range(starts[row], starts[row + 1]):
            if values[j] != 0:
                return 1.0
    return 0.0


@inline
def _best(first: int, end: int, n_axes: int, space: Space, seen: DPPState) -> int:
    """Return the row with the highest score, the lowest among equals; -1 if there is none."""
    dense, starts, columns, values, inverse = space
    quality, bounds, left_over, compared, axes = seen
    best, top = first + best_of(bounds[first:end]), -np.inf
    if best < first:
        return -1
    for i in range(first - 1, end):
        row = best if i < first else i
        if bounds[row] >= top and compared[row] < n_axes:
            left, known = left_over[row], compared[row]
            if known < 0:
                left, known = _length_of(row, space), np.int64(0)
            if len(starts) == 0:
                left = _dense_left(left, axes, known, n_axes, dense, row, inverse[row])
            else:
                for axis in range(known, n_axes):
                    _, part = _sparse_square_and_along(axes, axis, columns, values, starts[row], starts[row + 1])
                    left = max(left - (part * inverse[row]) ** 2, 0.0)
            left_over[row], compared[row], bounds[row] = left, n_axes, quality[row] + np.log(max(left, FLAT))
        if bounds[row] > top or (bounds[row] == top and row < best):
            best, top = row, bounds[row]
    return best


@inner(fastmath={"reassoc", "nsz", "contract"})
def _take_off(axis: Floats, other: Floats) -> None:
    """Remove from `axis` its part along `other`, which has length 1."""
    part = 0.0
    for j in range(len(axis)):
        part += axis[j] * other[j]
    for j in range(len(axis)):
        axis[j] -= part * other[j]


@inline
def _new_axis(pick: int, n_axes: int, space: Space, axes: Floats) -> None:
    """Write the direction of the pick's part outside the axes; removed twice, as rounding leaves some of it."""
    dense, starts, columns, values, _ = space
    axis = axes[n_axes]
    for j in range(len(axis)):  # not axis[:] = dense[pick], whose check of shapes takes seconds to compile
        axis[j] = dense[pick, j] if len(starts) == 0 else 0.0
    if len(starts):
        for j in range(starts[pick], starts[pick + 1]):
            axis[columns[j]] = values[j]
    for _ in range(2):
        for i in range(n_axes):
            _take_off(axis, axes[i])
        square = 0.0
        for j in range(len(axis)):
            square += axis[j] * axis[j]
        square = np.sqrt(square)
        for j in range(len(axis)):
            axis[j] /= square


@inner(error_model="numpy")
def _fill(
    first: int, end: int, problem: int, limits: ListLimits, space: Space, seen: DPPState, picks: Ints, scores: Floats
) -> None:
    sizes, budgets, groups, counts, amounts, further, _ = limits
    n_axes, left = np.int64(0), budgets[problem]
    for i in range(len(picks)):
        pinned = next_pinned(problem, counts)
        for row in range(first, end if pinned < 0 and len(sizes) + len(groups) else first):
            if (len(sizes) and sizes[row] > left) or not has_room(row, groups, counts, amounts, further):
                seen.bounds[row] = -np.inf
        best = _best(first if pinned < 0 else pinned, end if pinned < 0 else pinned + 1, n_axes, space, seen)
        if best < 0:
            break
        picks[i], scores[i], seen.bounds[best] = best, seen.bounds[best], -np.inf
        left -= sizes[best] if len(sizes) else 0.0
        use_up(best, groups, counts, amounts, further)
        if seen.left_over[best] > FLAT and n_axes < len(seen.axes):
            _new_axis(best, n_axes, space, seen.axes)
            n_axes += 1
            if n_axes == 1 and i + 1 < len(picks):
                _compare_all(first, end, space, seen)


@kernel()
def dpp_lists(
    offsets: Ints, quality: Floats, space: Space, width: int, limits: ListLimits, length: int
) -> tuple[Ints, Floats]:
    n, shape = len(quality), (len(offsets) - 1, length)
    axes, compared = np.empty((min(length, width), width)), np.empty(n, dtype=np.int64)
    seen = DPPState(quality, quality.copy(), np.empty(n), compared, axes)
    for row in range(n):
        compared[row] = -1
    rows, scores = np.empty(shape, dtype=np.int64), np.empty(shape)
    for i in range(len(rows)):
        for position in range(length):
            rows[i, position], scores[i, position] = -1, 0.0
        _fill(offsets[i], offsets[i + 1], i, limits, space, seen, rows[i], scores[i])
    return rows, scores
