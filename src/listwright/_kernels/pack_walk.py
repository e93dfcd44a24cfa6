"""The complete walk of boosted trees over the passages of one question."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._kernels import inline, outer
from listwright._kernels.constraints import has_room, use_up
from listwright._kernels.needs import unmet_rows

UNMET = 4  # columns of `unmet_rows`


def pack_walk(own: Any, links: Any, needs: Any, trees: Any, bonus: Any, twins: Any, limits: Any) -> tuple[Any, Any]:
    (base, arrays), (sizes, windows, token_limit, length, quotas) = trees, limits
    roots, columns, leaves = arrays[0], arrays[1], arrays[-1]
    n, width = len(own), own.shape[1] + links.shape[2] + UNMET
    table, uses = np.zeros((n, width)), np.zeros((width, len(roots)), np.bool_)
    table[:, : own.shape[1]] = own
    grown = np.flatnonzero(roots >= 0)  # trees with splits, which follow each other
    uses[columns, np.repeat(grown, np.diff(np.append(roots[grown], len(columns))))] = True
    picks, scores = np.empty(min(length, n), dtype=np.int64), np.empty(min(length, n))
    space = np.zeros(1, dtype=np.uint64), np.empty((n, UNMET), np.float32), np.zeros(n, np.bool_), np.empty(n, np.int64)
    again = np.ones(n, np.bool_), uses, np.ones((n, len(roots)), np.bool_), np.empty((n, len(roots)), leaves.dtype)
    shared = table, *again, np.empty(n, leaves.dtype), links, own.shape[1], np.array([0, n]), bonus, twins
    room = sizes.copy(), *windows, np.zeros((n, 2)), token_limit
    count = _pick(*shared, *space, *needs, *room, *quotas, picks, scores, base, *arrays)
    return picks[:count], scores[:count]


@inline
def _cut_windows(best: int, overlaps: Any, of_text: Any, sizes: Any, cut: Any, taken: Any) -> None:
    """Count only what is new of windows of one text that overlap with the picked one."""
    for k in range(len(overlaps)):
        if overlaps[k, 0] == best:
            row, end = int(overlaps[k, 1]), int(overlaps[k, 2])
            more = max(overlaps[k, 3] - cut[row, end], 0.0)
            sizes[row], cut[row, end] = max(sizes[row] - more, 0.0), cut[row, end] + more
            taken[row] |= cut[row, 0] + cut[row, 1] >= of_text[row]


@outer()
def _pick(
    table: Any, changed: Any, uses: Any, stale: Any, parts_of: Any,
    values: Any, links: Any, width: int, offsets: Any, bonus: Any, twins: Any,
    met: Any, unmet: Any, taken: Any, rows: Any,
    starts: Any, parts: Any, wholes: Any, weights: Any,
    sizes: Any, of_text: Any, overlaps: Any, cut: Any, token_limit: float,
    groups: Any, counts: Any, amounts: Any, spare: Any, picks: Any, scores: Any,
    base: float, roots: Any, columns: Any, thresholds: Any, left: Any, right: Any, leaves: Any,
) -> int:  # fmt: skip
    """Fill in picks and scores, and return how many there are; trees look again only at columns that a pick changed."""
    kinds, best, before = links.shape[2], np.int64(0), np.uint64(0)
    for position in range(len(picks)):
        if position == 0 or wholes[best] & ~before:
            unmet_rows(offsets, starts, parts, wholes, weights, met, unmet)
        count = 0
        for row in range(len(table)):
            if not taken[row] and sizes[row] <= token_limit and has_room(row, groups, counts, amounts, spare):
                rows[count] = row
                count += 1
                for column in range(UNMET):
                    if table[row, width + kinds + column] != unmet[row, column]:
                        table[row, width + kinds + column], changed[row] = unmet[row, column], True
                        for tree in range(len(roots)):
                            stale[row, tree] |= uses[width + kinds + column, tree]
                if changed[row]:
                    values[row], changed[row] = base, False
                    for tree in range(len(roots)):
                        if stale[row, tree]:
                            node = roots[tree]
                            while node >= 0:
                                node = left[node] if table[row, columns[node]] <= thresholds[node] else right[node]
                            parts_of[row, tree], stale[row, tree] = leaves[-1 - node], False
                        values[row] += parts_of[row, tree]
        if count == 0:
            return position
        best = rows[0]
        scores[position] = bonus[best] + values[best]
        for k in range(1, count):
            score = bonus[rows[k]] + values[rows[k]]
            if score > scores[position]:
                best, scores[position] = rows[k], score
        picks[position], taken[best], token_limit = best, True, token_limit - sizes[best]
        use_up(best, groups, counts, amounts, spare)
        before = met[0]
        met[0] |= wholes[best]
        for row in range(len(table)):
            taken[row] |= twins[row, best]
        _cut_windows(best, overlaps, of_text, sizes, cut, taken)
        for row in range(len(table)):
            if not taken[row]:
                for kind in range(kinds):
                    if links[best, row, kind] > table[row, width + kind]:
                        table[row, width + kind], changed[row] = links[best, row, kind], True
                        for tree in range(len(roots)):
                            stale[row, tree] |= uses[width + kind, tree]
    return len(picks)
