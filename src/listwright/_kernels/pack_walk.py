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
    """Returns the rows picked by boosted trees, in order, and the score of each.

    A row is described by its own columns, its strongest link of each kind to a picked row, and what the list leaves
    unmet. Ties go to the lowest row.

    Parameters
    ----------
    own : ndarray of float, shape (rows, columns)
        The columns that do not depend on the list.
    links : ndarray of float, shape (kinds, rows, rows)
        `links[kind, row, picked]`: how strongly a row is linked to a picked one.
    needs : tuple
        Starts, parts, wholes and weights, as in `needs.unmet_rows`.
    trees : tuple
        The base and the arrays of `trees.tree_sums`.
    bonus : ndarray of float, shape (rows,)
        Added to the scores.
    twins : ndarray of bool, shape (rows, rows)
        `twins[row, picked]`: whether a row brings nothing beside a picked one.
    limits : tuple
        Sizes, room, length, groups, and how many rows of a group may be picked.

    Returns
    -------
    tuple of ndarray
        Rows and scores.
    """
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
