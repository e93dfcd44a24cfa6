"""Facility location: gains, updates, and complete lists by lazy greedy."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._kernels import inline, inner, kernel
from listwright._kernels.constraints import has_room, use_up


@inner()
def sift(heap: Ints, size: int, at: int, bounds: Floats) -> None:
    """Move the row at place `at`, whose bound may have decreased, down to where it belongs, in log(size) steps."""
    row = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        node, other = heap[child], heap[min(child + 1, size - 1)]
        if bounds[other] > bounds[node] or (bounds[other] == bounds[node] and other < node):
            child, node = child + 1, other
        if bounds[node] < bounds[row] or (bounds[node] == bounds[row] and node > row):
            break
        heap[at] = node
        at = child
    heap[at] = row


@inline
def heapify(heap: Ints, size: int, bounds: Floats) -> None:
    for at in range(size // 2 - 1, -1, -1):
        sift(heap, size, at, bounds)


@inline
def drop(heap: Ints, size: int, bounds: Floats) -> int:
    heap[0] = heap[size - 1]
    if size > 1:
        sift(heap, size - 1, np.int64(0), bounds)
    return size - 1


@kernel(fastmath={"reassoc", "nsz", "contract", "nnan"})
def rise(similar: Floats, best: Floats) -> float:
    """Return the sum of how far `similar` is above `best`; differences in their own type, summed in float64."""
    total, nothing = 0.0, similar.dtype.type(0.0)
    for i in range(len(similar)):
        total += max(similar[i] - best[i], nothing)
    return total


@kernel(fastmath={"reassoc", "nsz", "contract"})
def _positive(similar: Floats) -> float:
    """Return the sum of the positive numbers; nan if a number is not finite."""
    total, validation_error, nothing = 0.0, 0.0, similar.dtype.type(0.0)
    for i in range(len(similar)):
        total += max(similar[i], nothing)
        validation_error += similar[i] * nothing
    return total + validation_error


@kernel()
def dense_alone(
    low: int, high: int, owners: Ints, offsets: Ints, similarity: Floats, blocks: Ints, alone: Floats
) -> None:
    """Fill `alone` for rows low to high with the sum of their positive similarities; nan if one is not finite."""
    for row in range(low, high):
        start, n = offsets[owners[row]], offsets[owners[row] + 1] - offsets[owners[row]]
        first = blocks[owners[row]] + (row - start) * n
        alone[row] = _positive(similarity[first : first + n])


@kernel()
def dense_gains(rows: Ints, owners: Ints, offsets: Ints, similarity: Floats, blocks: Ints, best: Floats) -> Floats:
    """Return the rise of the best similarity, summed over the problem's items, for each of `rows`."""
    gains = np.empty(len(rows))
    for i in range(len(rows)):
        row = rows[i]
        start, end = offsets[owners[row]], offsets[owners[row] + 1]
        first = blocks[owners[row]] + (row - start) * (end - start)
        gains[i] = rise(similarity[first : first + end - start], best[start:end])
    return gains


@kernel()
def dense_add(picks: Ints, offsets: Ints, similarity: Floats, blocks: Ints, best: Floats) -> None:
    for problem in range(len(picks)):
        start, end = offsets[problem], offsets[problem + 1]
        if picks[problem] >= 0:
            first = blocks[problem] + (picks[problem] - start) * (end - start)
            for i in range(end - start):
                best[start + i] = max(best[start + i], similarity[first + i])


@kernel()
def sparse_gains(
    rows: Ints, owners: Ints, offsets: Ints, row_starts: Ints, columns: Ints, values: Floats, best: Floats
) -> Floats:
    """Return what `dense_gains` does from similarities in CSR form, with columns numbered within problems."""
    gains = np.zeros(len(rows))
    for i in range(len(rows)):
        row = rows[i]
        start = offsets[owners[row]]
        for j in range(row_starts[row], row_starts[row + 1]):
            gains[i] += max(values[j] - best[start + columns[j]], 0.0)
    return gains


@kernel()
def sparse_add(picks: Ints, offsets: Ints, row_starts: Ints, columns: Ints, values: Floats, best: Floats) -> None:
    for problem in range(len(picks)):
        row = picks[problem]
        if row >= 0:
            for j in range(row_starts[row], row_starts[row + 1]):
                i = offsets[problem] + columns[j]
                best[i] = max(best[i], values[j])


@kernel()
def _lift(best: Floats, similar: Floats) -> None:
    for i in range(len(best)):
        best[i] = max(best[i], similar[i])


@inner(fastmath={"reassoc", "nsz", "contract", "nnan"})
def _weighted_rise(similar: Floats, best: Floats, weights: Floats) -> float:
    total = 0.0
    for i in range(len(similar)):
        total += weights[i] * max(similar[i] - best[i], 0.0)
    return total


@inline
def _gain(row: int, similarity: Floats, best: Floats, weights: Floats) -> float:
    """Return what a row of a dense matrix adds; without weights, in half the time."""
    similar = similarity[row * len(best) : (row + 1) * len(best)]
    return _weighted_rise(similar, best, weights) if len(weights) else rise(similar, best)


@kernel()
def lazy_dense(
    similarity: Floats, weights: Floats, total: float, best: Floats, costs: Floats, left: float, groups: Ints,
    counts: Ints, amounts: Floats, further: Floats, bounds: Floats, gains: Floats, picks: Ints, picked: Floats,
) -> int:  # fmt: skip
    """Fill one list: rows into `picks`, what each adds into `picked`. Bounds are inf if unknown, -inf for no row."""
    # Gains only decrease, so an old one bounds the new one, and a row is measured again only if it looks better than
    # the best so far; the last runner-up is tried first, so that this is high from the start. Rows are read in order,
    # which is faster than in the order of a heap.
    n, runner_up, seen = len(bounds), 0, np.full(len(bounds), -1)
    for row in range(n):
        if bounds[row] == np.inf:
            gains[row], seen[row] = _gain(row, similarity, best, weights) / total, 0
            bounds[row] = gains[row] / costs[row]
    for position in range(len(picks)):
        first, top = -1, -np.inf
        for i in range(-1, n):
            row = runner_up if i < 0 else i
            if bounds[row] < top or costs[row] > left or bounds[row] == -np.inf:
                continue
            if len(groups) and not has_room(row, groups, counts, amounts, further):
                continue
            if seen[row] < position:
                gains[row], seen[row] = _gain(row, similarity, best, weights) / total, position
                bounds[row] = gains[row] / costs[row]
            if bounds[row] > top or (bounds[row] == top and row < first):
                first, top, runner_up = row, bounds[row], max(first, 0)
        if first < 0:
            return position
        picks[position], picked[position], bounds[first], gains[first] = first, gains[first], -np.inf, 0.0
        left -= costs[first]
        use_up(first, groups, counts, amounts, further)
        _lift(best, similarity[first * len(best) : (first + 1) * len(best)])
    return len(picks)


@kernel()
def lazy_facility(
    low: int, high: int, offsets: Ints, bounds: Floats, sizes: Floats, similarity: Floats, blocks: Ints,
    totals: Floats, budgets: Floats, weights: Floats, groups: Ints, counts: Ints, amounts: Floats, further: Floats,
    picks: Ints, picked: Floats,
) -> None:  # fmt: skip
    """Fill the lists of problems low to high; there are no weights and quotas."""
    for i in range(low, high):
        start, end, block = offsets[i], offsets[i + 1], similarity[blocks[i] : blocks[i + 1]]
        best, gains = np.zeros(end - start, dtype=similarity.dtype), np.zeros(end - start)
        n_picked = lazy_dense(
            block, weights, totals[i], best, sizes[start:end], budgets[i], groups, counts, amounts, further,
            bounds[start:end], gains, picks[i], picked[i],
        )  # fmt: skip
        picks[i, :n_picked] += start


@kernel()
def graph_gain(low: int, high: int, columns: Ints, values: Floats, weights: Floats, best: Floats) -> float:
    """Return the weighted rise of the targets' best similarities through the stored numbers low to high."""
    total = 0.0
    for i in range(low, high):
        above = values[i] - best[columns[i]]
        if above > 0:
            total += weights[columns[i]] * above
    return total


@kernel()
def _lift_neighbors(low: int, high: int, columns: Ints, values: Floats, best: Floats) -> None:
    for i in range(low, high):
        best[columns[i]] = max(best[columns[i]], values[i])


@kernel()
def lazy_graph(
    starts: Ints, columns: Ints, values: Floats, weights: Floats, total: float, best: Floats, costs: Floats,
    left: float, groups: Ints, counts: Ints, amounts: Floats, further: Floats, heap: Ints, gains: Floats, picks: Ints,
    picked: Floats,
) -> int:  # fmt: skip
    bounds, seen, size, n_picked = np.full(len(costs), -np.inf), np.zeros(len(costs), dtype=np.int64), len(heap), 0
    for row in heap:
        gains[row] = graph_gain(starts[row], starts[row + 1], columns, values, weights, best) / total
        bounds[row] = gains[row] / costs[row]
    heapify(heap, size, bounds)
    while size > 0 and n_picked < len(picks):
        row = heap[0]
        low, high = starts[row], starts[row + 1]
        if costs[row] > left or not has_room(row, groups, counts, amounts, further):
            size = drop(heap, size, bounds)
        elif seen[row] < n_picked:
            gains[row] = graph_gain(low, high, columns, values, weights, best) / total
            bounds[row], seen[row] = gains[row] / costs[row], n_picked
            sift(heap, size, np.int64(0), bounds)
        else:
            picks[n_picked], picked[n_picked] = row, gains[row]
            n_picked += 1
            gains[row] = 0.0
            left -= costs[row]
            use_up(row, groups, counts, amounts, further)
            _lift_neighbors(low, high, columns, values, best)
            size = drop(heap, size, bounds)
    return n_picked
