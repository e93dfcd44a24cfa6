"""Lazy greedy selection of the largest volume: log det(I + scale * K), where K is the kernel of the picked rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._kernels import kernel
from listwright._kernels.constraints import has_room, use_up
from listwright._kernels.cosines import Space, dense_dot, sparse_dot
from listwright._kernels.facility import drop, heapify, sift


class VolumeState(NamedTuple):
    """The rows, their kernel, and what the picks explain of each."""

    # With gamma = 0 the kernel is the dot product of the rows scaled by `space.inverse`. A pick is then an axis of d
    # numbers, so nothing grows with rows times picks. Otherwise the kernel is rbf, and `explained` holds Cholesky rows.

    space: Space  # the rows
    squares: Floats  # squared length of each row, as the kernel sees it
    gamma: float  # parameters of the kernel
    scale: float
    order: Ints  # the picks; -1 for those to come
    remaining: Floats  # by row: 1 + scale * squared length of what the first `seen` picks do not explain
    seen: Ints  # by row: number of picks that `remaining` accounts for
    shares: Floats  # by pick: scale / remaining
    axes: Floats  # (picks, d): the axis of each pick; empty for rbf
    explained: Floats32  # (rows, picks): Cholesky rows for rbf; otherwise empty


@kernel(fastmath={"reassoc", "nsz", "contract"})
def _dense_along(axis: Floats, dense: Floats32, row: int) -> float:
    total = 0.0
    for j in range(len(axis)):
        total += dense[row, j] * axis[j]
    return total


@kernel()
def _along(axis: Floats, space: Space, row: int) -> float:
    """Return the dot product of a row, scaled by its `inverse`, with an axis."""
    dense, starts, columns, values, inverse = space
    if len(starts) == 0:
        return _dense_along(axis, dense, row) * inverse[row]
    total = 0.0
    for j in range(starts[row], starts[row + 1]):
        total += values[j] * axis[columns[j]]
    return total * inverse[row]


@kernel()
def _kernel(row: int, other: int, volume: VolumeState) -> float:
    dense, starts, columns, values, _ = volume.space
    if len(starts) == 0:
        product = dense_dot(dense[row], dense[other])
    else:
        product = sparse_dot(row, other, starts, columns, values)
    return np.exp(-volume.gamma * max(volume.squares[row] + volume.squares[other] - 2.0 * product, 0.0))


@kernel()
def _cholesky(row: int, t: int, volume: VolumeState) -> float:
    """Return what pick number t explains of a row under the rbf kernel (Chen et al. 2018)."""
    pick, explained = volume.order[t], volume.explained
    part = volume.scale * _kernel(row, pick, volume)
    for s in range(t):
        part -= np.float64(explained[row, s]) * explained[pick, s]
    part /= np.sqrt(volume.remaining[pick])
    explained[row, t] = part
    return part * part


@kernel()
def gain_after(row: int, n_picked: int, volume: VolumeState) -> float:
    """Return the log of what the first `n_picked` picks leave of a row, at d numbers per pick not yet seen."""
    left = volume.remaining[row]
    for t in range(volume.seen[row], n_picked):
        if volume.gamma > 0:
            left -= _cholesky(row, t, volume)
        else:
            part = _along(volume.axes[t], volume.space, row)
            left -= volume.scale * volume.shares[t] * part * part
    volume.remaining[row], volume.seen[row] = max(left, 1.0), n_picked
    return np.log(volume.remaining[row])


@kernel()
def add_pick(row: int, n_picked: int, volume: VolumeState) -> None:
    space, axes, shares = volume.space, volume.axes, volume.shares
    volume.order[n_picked], shares[n_picked] = row, volume.scale / volume.remaining[row]
    if volume.gamma > 0:
        return
    axis = axes[n_picked]
    for j in range(len(axis)):
        axis[j] = space.dense[row, j] * space.inverse[row] if len(space.starts) == 0 else 0.0
    for j in range(space.starts[row] if len(space.starts) else 0, space.starts[row + 1] if len(space.starts) else 0):
        axis[space.columns[j]] = space.values[j] * space.inverse[row]
    for t in range(n_picked):
        part = shares[t] * _along(axes[t], space, row)
        for j in range(len(axis)):
            axis[j] -= part * axes[t, j]


@kernel()
def lazy_volume(
    volume: VolumeState, n_given: int, costs: Floats, left: float, groups: Ints, counts: Ints, amounts: Floats,
    further: Floats, heap: Ints, gains: Floats, picked: Floats,
) -> int:  # fmt: skip
    bounds, size, n_picked = np.full(len(costs), -np.inf), len(heap), 0
    for row in volume.order[:n_given].copy():
        picked[n_picked] = gain_after(row, n_picked, volume)
        add_pick(row, n_picked, volume)
        n_picked += 1
    for row in heap:
        gains[row] = np.log(volume.remaining[row])
        bounds[row] = gains[row] / costs[row]
    heapify(heap, size, bounds)
    while size > 0 and n_picked < len(volume.order):
        row = heap[0]
        if costs[row] > left or not has_room(row, groups, counts, amounts, further):
            size = drop(heap, size, bounds)
        elif volume.seen[row] < n_picked:
            gains[row] = gain_after(row, n_picked, volume)
            bounds[row] = gains[row] / costs[row]
            sift(heap, size, np.int64(0), bounds)
        else:
            picked[n_picked] = gains[row]
            add_pick(row, n_picked, volume)
            n_picked += 1
            gains[row] = 0.0
            left -= costs[row]
            use_up(row, groups, counts, amounts, further)
            size = drop(heap, size, bounds)
    return n_picked
