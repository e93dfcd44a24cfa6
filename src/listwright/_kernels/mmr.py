"""Maximal marginal relevance, in which rows are compared with picks only where it can matter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._kernels import inner, kernel
from listwright._kernels.constraints import ListLimits, has_room, next_pinned, use_up
from listwright._kernels.cosines import Space, dense_dot, inverse_lengths, sparse_dot
from listwright._kernels.facility import heapify, sift


class MMRState(NamedTuple):
    """What is known of each row so far."""

    relevance: Floats  # the relevance
    bounds: Floats  # upper bounds on the scores
    nearest: Floats  # highest cosine with the picks compared with
    compared: Ints  # number of picks compared with
    diversity: float


@inner()
def _measure(rows: Ints, picks: Ints, n_picks: int, space: Space, seen: MMRState) -> None:
    """Compare rows with the picks that they were not yet compared with."""
    dense, starts, columns, values, inverse = space
    relevance, bounds, nearest, compared, diversity = seen
    is_dense = len(starts) == 0  # asked outside the loops: twice as fast
    for row in rows:
        for i in range(compared[row], n_picks):
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
def _fill(
    heap: Ints, picks: Ints, problem: int, limits: ListLimits, space: Space, seen: MMRState, scores: Floats
) -> None:
    sizes, budgets, groups, counts, amounts, further, _ = limits
    n_picks, top = _place_pinned(heap, picks, problem, limits, space, seen, scores), np.int64(0)
    left, size = budgets[problem], len(heap) - n_picks
    for row in picks[:n_picks]:
        left -= sizes[row] if len(sizes) else 0.0
    heapify(heap, size, seen.bounds)
    while n_picks < len(picks) and size:
        best = heap[0]
        fits = (len(sizes) == 0 or sizes[best] <= left) and has_room(best, groups, counts, amounts, further)
        if fits and seen.compared[best] < n_picks:
            _measure(heap[:1], picks, n_picks, space, seen)
        else:
            size -= 1
            heap[0] = heap[size]
            if fits:
                picks[n_picks] = best
                scores[n_picks] = seen.bounds[best] if n_picks else (1.0 - seen.diversity) * seen.relevance[best]
                n_picks += 1
                left -= sizes[best] if len(sizes) else 0.0
                use_up(best, groups, counts, amounts, further)
                if n_picks == 1 < len(picks):  # until now, bounds were the relevance alone
                    _measure(heap[:size], picks, n_picks, space, seen)
                    heapify(heap, size, seen.bounds)
        sift(heap, size, top, seen.bounds)


@kernel()
def mmr_lists(
    offsets: Ints, relevance: Floats, space: Space, limits: ListLimits, diversity: float, length: int
) -> tuple[Ints, Floats]:
    inverse_lengths(space)
    n = len(relevance)
    seen = MMRState(relevance, np.empty(n), np.empty(n), np.empty(n, dtype=np.int64), diversity)
    heap, rows = np.empty(n, dtype=np.int64), np.empty((len(offsets) - 1, length), dtype=np.int64)
    scores = np.empty((len(offsets) - 1, length))
    for row in range(n):
        seen.bounds[row], seen.nearest[row], seen.compared[row], heap[row] = relevance[row], -1.0, 0, row
    for problem in range(len(rows)):
        for position in range(length):
            rows[problem, position], scores[problem, position] = -1, 0.0
        mine = heap[offsets[problem] : offsets[problem + 1]]
        _fill(mine, rows[problem], problem, limits, space, seen, scores[problem])
    return rows, scores
