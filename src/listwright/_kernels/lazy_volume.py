"""Lazy greedy selection of the largest volume: log det(I + scale * K) for the kernel K of the rows picked."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._kernels.cosines import Space, dense_dot, sparse_dot
from listwright._kernels.heap import drop, heapify, sift


class Volume(NamedTuple):
    """The rows, their kernel, and what the picks explain of each.

    With gamma = 0 the kernel is the dot product of the rows scaled by `space.inverse`; a pick is an axis of d numbers,
    so that nothing grows with rows times picks. Otherwise it is rbf, and `explained` holds Cholesky rows.
    """

    space: Space
    squares: Floats  # squared length of each row, as the kernel sees it
    gamma: float
    scale: float
    order: Ints  # the picks
    remaining: Floats  # by row: 1 + scale * squared length of what the picks number 0 to `seen` do not explain
    seen: Ints
    shares: Floats  # by pick: scale / remaining
    axes: Floats  # (picks, d), or empty
    explained: Floats32  # (rows, picks), or empty


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
def _dense_along(axis: Floats, dense: Floats32, row: int) -> float:
    total = 0.0
    for j in range(len(axis)):
        total += dense[row, j] * axis[j]
    return total


@njit(cache=True, nogil=True)
def _along(axis: Floats, space: Space, row: int) -> float:
    """Dot product of a row, scaled by its `inverse`, with an axis."""
    dense, starts, columns, values, inverse = space
    if len(starts) == 0:
        return _dense_along(axis, dense, row) * inverse[row]
    total = 0.0
    for j in range(starts[row], starts[row + 1]):
        total += values[j] * axis[columns[j]]
    return total * inverse[row]


@njit(cache=True, nogil=True)
def _kernel(one: int, other: int, volume: Volume) -> float:
    dense, starts, columns, values, _ = volume.space
    if len(starts) == 0:
        product = dense_dot(dense[one], dense[other])
    else:
        product = sparse_dot(one, other, starts, columns, values)
    return np.exp(-volume.gamma * max(volume.squares[one] + volume.squares[other] - 2.0 * product, 0.0))


@njit(cache=True, nogil=True)
def _cholesky(row: int, t: int, volume: Volume) -> float:
    """What pick number t takes of a row under the rbf kernel, as in fast greedy MAP inference (Chen et al., 2018)."""
    pick, explained = volume.order[t], volume.explained
    part = volume.scale * _kernel(row, pick, volume)
    for s in range(t):
        part -= np.float64(explained[row, s]) * explained[pick, s]
    part /= np.sqrt(volume.remaining[pick])
    explained[row, t] = part
    return part * part


@njit(cache=True, nogil=True)
def gain_after(row: int, n_picked: int, volume: Volume) -> float:
    """log of what the first picks leave of a row. Cost: d numbers for each pick since it was last asked."""
    left = volume.remaining[row]
    for t in range(volume.seen[row], n_picked):
        if volume.gamma > 0:
            left -= _cholesky(row, t, volume)
        else:
            part = _along(volume.axes[t], volume.space, row)
            left -= volume.scale * volume.shares[t] * part * part
    volume.remaining[row], volume.seen[row] = max(left, 1.0), n_picked
    return np.log(volume.remaining[row])


@njit(cache=True, nogil=True)
def add_pick(row: int, n_picked: int, volume: Volume) -> None:
    """Row becomes pick number `n_picked`.

    Its axis is M x with M = (I + scale * sum of the earlier picks' x x')^-1; by Sherman and Morrison that is
    x - sum over earlier picks t of shares[t] (axis_t x) axis_t. Cost: one read of the axes.
    """
    space, axes, shares = volume.space, volume.axes, volume.shares
    volume.order[n_picked], shares[n_picked] = row, volume.scale / volume.remaining[row]
    if volume.gamma > 0:
        return
    axis = axes[n_picked]
    axis[:] = 0.0
    if len(space.starts) == 0:
        axis[:] = space.dense[row] * space.inverse[row]
    for j in range(space.starts[row] if len(space.starts) else 0, space.starts[row + 1] if len(space.starts) else 0):
        axis[space.columns[j]] = space.values[j] * space.inverse[row]
    for t in range(n_picked):
        part = shares[t] * _along(axes[t], space, row)
        for j in range(len(axis)):
            axis[j] -= part * axes[t, j]


@njit(cache=True, nogil=True)
def lazy_volume(
    volume: Volume,
    n_given: int,
    costs: Floats,
    left: float,
    groups: Ints,
    room: Ints,
    heap: Ints,
    gains: Floats,
    picked: Floats,
) -> int:
    """Fills in `volume.order` behind the `n_given` rows it holds, and what each brings; gives their number.

    The rules are those of `lazy_graph`: rows go by gain per cost, as long as they fit and their group has room. `gains`
    ends as an upper bound of the gain of each row. Cost: d numbers for each pick that a row on top of the heap is
    compared with.
    """
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
        if costs[row] > left or room[groups[row]] == 0:
            size = drop(heap, size, bounds)
        elif volume.seen[row] < n_picked:
            gains[row] = gain_after(row, n_picked, volume)
            bounds[row] = gains[row] / costs[row]
            sift(heap, size, 0, bounds)
        else:
            picked[n_picked] = gains[row]
            add_pick(row, n_picked, volume)
            n_picked += 1
            gains[row] = 0.0
            left -= costs[row]
            room[groups[row]] -= 1
            size = drop(heap, size, bounds)
    return n_picked
