"""What is done with a tile of similarities (candidates x targets) while it is in the cache, and with all bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Bools, Floats, Floats32, Ints
from listwright._kernels import kernel

Marks = NDArray[np.int32]

FAST = {"reassoc", "nsz", "contract", "nnan"}


@kernel(fastmath=FAST)
def falls(tile: Floats32, old: Floats32, new: Floats32, weights: Floats, noise: float, out: Floats) -> None:
    """Add to `out` by candidate how much its gain decreases when the targets' best similarity goes from old to new."""
    zero, least = tile.dtype.type(0.0), tile.dtype.type(noise)
    for j in range(tile.shape[0]):
        total = 0.0
        for i in range(tile.shape[1]):
            before, after = tile[j, i] - old[i], tile[j, i] - new[i]
            before = before if before > least else zero
            after = after if after > least else zero
            total += weights[i] * (before - after)
        out[j] += total


@kernel(fastmath=FAST)
def add_capped_sums(tile: Floats32, capacity: Floats, weights: Floats, out: Floats) -> None:
    """Add to `out` by candidate the weighted sum over targets of min(similarity, capacity); negative ones are 0."""
    zero = tile.dtype.type(0.0)
    for j in range(tile.shape[0]):
        total = 0.0
        for i in range(tile.shape[1]):
            total += weights[i] * min(max(tile[j, i], zero), capacity[i])
        out[j] += total


@kernel()
def nearest(tile: Floats32, first: int, rows: Ints, values: Floats32) -> None:
    """Merge a tile into the lists of nearest candidates of each target."""
    last = rows.shape[1] - 1
    for i in range(tile.shape[0]):
        least = values[i, last]
        for j in range(tile.shape[1]):
            if tile[i, j] > least:
                at, value = last, tile[i, j]
                while at > 0 and values[i, at - 1] < value:
                    values[i, at], rows[i, at] = values[i, at - 1], rows[i, at - 1]
                    at -= 1
                values[i, at], rows[i, at] = value, first + j
                least = values[i, last]


@kernel()
def swap_gains(
    tile: Floats32, best: Floats32, second: Floats32, owner: Ints, weights: Floats, added: Floats, kept: Floats
) -> None:
    """Add what each candidate brings where it is best, and by pick what it keeps of the pick's targets."""
    for j in range(tile.shape[0]):
        for i in range(tile.shape[1]):
            if tile[j, i] > second[i]:
                added[j] += weights[i] * max(tile[j, i] - best[i], 0.0)
                kept[j, owner[i]] += weights[i] * (min(tile[j, i], best[i]) - second[i])


@kernel()
def first_above(similar: Floats32, best: Floats32, first: int, least: float) -> tuple[int, float]:
    """Return the first row from `first` on that raises the best similarities by `least`, and by how much it does."""
    for row in range(first, len(similar)):
        total = 0.0
        for i in range(len(best)):
            total += max(similar[row, i] - best[i], 0.0)
        if total >= least:
            return row, total
    return len(similar), 0.0


@kernel()
def stale_rows(
    bounds: Floats, costs: Floats, open_rows: Bools, since: Marks, mark: int, least: float
) -> tuple[Ints, Floats]:
    """Return the open rows that were not measured at a mark and whose bound per cost is high enough, and these."""
    rows, scores, count = np.empty(len(bounds), dtype=np.int64), np.empty(len(bounds)), 0
    for row in range(len(bounds)):
        if since[row] < mark and open_rows[row] and bounds[row] / costs[row] >= least:
            rows[count], scores[count] = row, bounds[row] / costs[row]
            count += 1
    return rows[:count], scores[:count]


@kernel()
def take_above(rows: Ints, scores: Floats, least: float, high: float) -> tuple[Ints, int]:
    """Return the rows with a score from `high` on; those from `least` on stay, in front, and how many these are."""
    chosen, n_chosen, left = np.empty(len(rows), dtype=np.int64), 0, 0
    for i in range(len(rows)):
        if scores[i] >= high:
            chosen[n_chosen] = rows[i]
            n_chosen += 1
        elif scores[i] >= least:
            rows[left], scores[left] = rows[i], scores[i]
            left += 1
    return chosen[:n_chosen], left


@kernel()
def highest_outside(bounds: Floats, costs: Floats, open_rows: Bools, active: Ints) -> float:
    """Return the highest bound per cost of the open rows that are not active; `active` in ascending order."""
    highest, at = -np.inf, 0
    for row in range(len(bounds)):
        if at < len(active) and active[at] == row:
            at += 1
        elif open_rows[row]:
            highest = max(highest, bounds[row] / costs[row])
    return highest


@kernel()
def sort_by_mark(since: Marks, n_marks: int) -> tuple[Ints, Ints]:
    """Return the order of rows by their mark, those without (-1) first, and where the rows of each mark end."""
    ends = np.zeros(n_marks + 1, dtype=np.int64)
    for mark in since:
        ends[mark + 1] += 1
    ends = np.cumsum(ends)
    order, at = np.empty(len(since), dtype=np.int64), np.concatenate((np.zeros(1, dtype=np.int64), ends[:-1]))
    for row in range(len(since)):
        order[at[since[row] + 1]] = row
        at[since[row] + 1] += 1
    return order, ends
