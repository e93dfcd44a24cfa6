"""The complete walk of boosted trees over the passages of one question."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from listwright._kernels.needs import unmet_rows
from listwright._kernels.trees import tree_sums

UNMET = 4  # columns of `unmet_rows`


@njit(cache=True, nogil=True)
def pack_walk(own: Any, links: Any, needs: Any, trees: Any, bonus: Any, twins: Any, limits: Any) -> tuple[Any, Any]:
    """Return the rows picked by boosted trees, in order, and the score of each."""
    (base, arrays), (starts, parts, wholes, weights) = trees, needs
    sizes, room, length, groups, per_group = limits
    n, width, kinds = len(own), own.shape[1], len(links)
    table, unmet = np.zeros((n, width + kinds + UNMET)), np.empty((n, UNMET), dtype=np.float32)
    for row in range(n):
        for column in range(width):
            table[row, column] = own[row, column]
    offsets, met = np.array([0, n]), np.zeros(1, dtype=np.uint64)
    taken, held = np.zeros(n, dtype=np.bool_), np.zeros(groups.max() + 1, dtype=np.int64)
    picks, scores = np.empty(min(length, n), dtype=np.int64), np.empty(min(length, n))
    for position in range(len(picks)):
        unmet_rows(offsets, starts, parts, wholes, weights, met, unmet)
        for row in range(n):
            for column in range(UNMET):
                table[row, width + kinds + column] = unmet[row, column]
        rows = np.flatnonzero(~taken & (sizes <= room) & (held[groups] < per_group))
        if not len(rows):
            return picks[:position], scores[:position]
        values = bonus[rows] + tree_sums(table[rows], base, *arrays)
        best = rows[values.argmax()]
        picks[position], scores[position] = best, values.max()
        taken[best] = True
        taken |= twins[:, best]
        held[groups[best]] += 1
        room -= sizes[best]
        met[0] |= wholes[best]
        for kind in range(kinds):
            for row in range(n):
                table[row, width + kind] = max(table[row, width + kind], links[kind, row, best])
    return picks, scores
