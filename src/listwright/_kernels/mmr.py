"""Maximal marginal relevance, in which rows are compared with picks only where it can matter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._kernels import inner, kernel
from listwright._kernels.constraints import ListLimits, has_room, next_pinned, use_up
from listwright._kernels.cosines import Space, dense_dot, inverse_length, sparse_dot, square_and_dot
from listwright._kernels.facility import heapify, sift


class MMRState(NamedTuple):
    """What is known of each row so far."""

    relevance: Floats  # the relevance
    bounds: Floats  # upper bounds on the scores, once a row was compared
    nearest: Floats  # highest cosine with the picks compared with
    compared: Ints  # number of picks compared with
    first: Floats  # the first pick of a dense table, in the precision that all rows are compared with it in
    diversity: float


@inner()
def _measure(rows: Ints, picks: Ints, n_picks: int, space: Space, seen: MMRState) -> None:
    """Compare rows with the picks that they were not yet compared with."""
    dense, starts, columns, values, inverse = space
    relevance, bounds, nearest, compared, first, diversity = seen
    is_dense = len(starts) == 0  # asked outside the loops: twice as fast
    if n_picks == 1:  # the first pick was compared with nothing yet
        pick = picks[0]
        inverse[pick] = inverse_length(dense[pick] if is_dense else values[starts[pick] : starts[pick + 1]])
        for j in range(len(first)):
            first[j] = dense[pick, j]
    for row in rows:
        known = compared[row]
        if known == 0 and n_picks:  # its length and its first cosine, in one read
            if is_dense:
                square, cosine = square_and_dot(dense[row], first)
                inverse[row] = 1.0 / np.sqrt(square) if square > 0 else 0.0
            else:
                inverse[row] = inverse_length(values[starts[row] : starts[row + 1]])
                cosine = sparse_dot(row, picks[0], starts, columns, values)
            nearest[row], known = max(nearest[row], cosine * inverse[row] * inverse[picks[0]]), 1
        for i in range(known, n_picks):
            pick = picks[i]
            cosine = dense_dot(dense[row], dense[pick]) if is_dense else sparse_dot(row, pick, starts, columns, values)
            nearest[row] = max(nearest[row], cosine * inverse[row] * inverse[pick])
        compared[row] = n_picks
        bounds[row] = (1.0 - diversity) * relevance[row] - diversity * nearest[row]


@inner()
def _place_pinned(
    heap: Ints, picks: Ints, problem: int, limits: ListLimits, space: Space, seen: MMRState, scores: Floats
) -> int:
    """Put the pinned rows into the list, and compare all others with them; return how many there are."""
    n_picks, row = np.int64(0), next_pinned(problem, limits.counts)
    while row >= 0 and n_picks < len(picks):
        size = len(heap) - n_picks
        for at in range(size):
            if heap[at] == row:
                heap[at], heap[size - 1] = heap[size - 1], row
        _measure(heap[size - 1 : size], picks, n_picks, space, seen)
        picks[n_picks] = row
        scores[n_picks] = seen.bounds[row] if n_picks else (1.0 - seen.diversity) * seen.relevance[row]
        n_picks += 1
        use_up(row, limits.groups, limits.counts, limits.amounts, limits.left)
        row = next_pinned(problem, limits.counts)
    if n_picks:
        _measure(heap[: len(heap) - n_picks], picks, n_picks, space, seen)
    return n_picks  # type: ignore[return-value]


@inner()
def _place_best(heap: Ints, picks: Ints, left: float, limits: ListLimits, space: Space, seen: MMRState) -> int:
    """Put the most relevant row that fits into the list, and compare all others with it; return how many there are."""
    sizes, _, groups, counts, amounts, further, _ = limits
    place = -1
    for at in range(len(heap)):
        row = heap[at]
        is_better = place < 0 or seen.relevance[row] > seen.relevance[heap[place]]
        fits = len(sizes) == 0 or sizes[row] <= left
        if is_better and fits and has_room(row, groups, counts, amounts, further):
            place = at
    if place < 0:
        return 0
    picks[0] = heap[place]
    heap[place], heap[-1] = heap[-1], heap[place]
    use_up(picks[0], groups, counts, amounts, further)
    if len(picks) > 1:
        _measure(heap[:-1], picks, np.int64(1), space, seen)  # a literal 1 would compile it again
    return 1


@inner()
def _fill(
    heap: Ints, picks: Ints, problem: int, limits: ListLimits, space: Space, seen: MMRState, scores: Floats
) -> None:
    sizes, budgets, groups, counts, amounts, further, _ = limits
    n_picks, top, left = _place_pinned(heap, picks, problem, limits, space, seen, scores), np.int64(0), budgets[problem]
    if n_picks == 0 < len(heap):
        n_picks = _place_best(heap, picks, left, limits, space, seen)
        scores[0] = (1.0 - seen.diversity) * seen.relevance[picks[0]] if n_picks else 0.0
    size = len(heap) - n_picks if 0 < n_picks < len(picks) else 0
    for row in picks[:n_picks]:
        left -= sizes[row] if len(sizes) else 0.0
    heapify(heap, size, seen.bounds)
    while n_picks < len(picks) and size > 0:
        best = heap[0]
        fits = (len(sizes) == 0 or sizes[best] <= left) and has_room(best, groups, counts, amounts, further)
        if fits and seen.compared[best] < n_picks:
            _measure(heap[:1], picks, n_picks, space, seen)
        else:
            size -= 1
            heap[0] = heap[size]
            if fits:
                picks[n_picks], scores[n_picks] = best, seen.bounds[best]
                n_picks += 1
                left -= sizes[best] if len(sizes) else 0.0
                use_up(best, groups, counts, amounts, further)
        sift(heap, size, top, seen.bounds)


@kernel()
def mmr_lists(
    offsets: Ints, relevance: Floats, space: Space, limits: ListLimits, diversity: float, length: int
) -> tuple[Ints, Floats]:
    n, first = len(relevance), np.empty(space.dense.shape[1])
    seen = MMRState(relevance, np.empty(n), np.empty(n), np.empty(n, dtype=np.int64), first, diversity)
    heap, rows = np.empty(n, dtype=np.int64), np.empty((len(offsets) - 1, length), dtype=np.int64)
    scores = np.empty((len(offsets) - 1, length))
    for row in range(n):
        seen.nearest[row], seen.compared[row], heap[row] = -1.0, 0, row
    for problem in range(len(rows)):
        for position in range(length):
            rows[problem, position], scores[problem, position] = -1, 0.0
        mine = heap[offsets[problem] : offsets[problem + 1]]
        _fill(mine, rows[problem], problem, limits, space, seen, scores[problem])
    return rows, scores
