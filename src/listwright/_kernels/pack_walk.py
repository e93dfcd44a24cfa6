"""The complete walk of boosted trees over the passages of one question."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._kernels import outer
from listwright._kernels.constraints import has_room, use_up
from listwright._kernels.needs import unmet_rows
from listwright._kernels.trees import add_trees

UNMET = 4  # columns of `unmet_rows`


def pack_walk(own: Any, links: Any, needs: Any, trees: Any, bonus: Any, twins: Any, limits: Any) -> tuple[Any, Any]:
    (base, arrays), (sizes, token_limit, length, quotas) = trees, limits
    n, width = len(own), own.shape[1] + len(links) + UNMET
    table, values = np.zeros((n, width)), np.empty(n, arrays[-1].dtype)
    table[:, : own.shape[1]] = own
    picks, scores = np.empty(min(length, n), dtype=np.int64), np.empty(min(length, n))
    space = np.zeros(1, dtype=np.uint64), np.empty((n, UNMET), np.float32), np.zeros(n, np.bool_), np.empty(n, np.int64)
    again = np.ones(n, np.bool_), np.empty((n, width)), np.empty_like(values), np.empty(n, np.int64)
    shared = table, *again, values, links, own.shape[1], np.array([0, n]), bonus, twins
    count = _pick(*shared, *space, *needs, sizes, token_limit, *quotas, picks, scores, base, *arrays)
    return picks[:count], scores[:count]


@outer()
def _pick(
    table: Any, changed: Any, chosen: Any, sums: Any, scored: Any,
    values: Any, links: Any, width: int, offsets: Any, bonus: Any, twins: Any,
    met: Any, unmet: Any, taken: Any, rows: Any,
    starts: Any, parts: Any, wholes: Any, weights: Any,
    sizes: Any, token_limit: float, groups: Any, counts: Any, amounts: Any, spare: Any, picks: Any, scores: Any,
    base: float, roots: Any, columns: Any, thresholds: Any, left: Any, right: Any, leaves: Any,
) -> int:  # fmt: skip
    """Fill in picks and scores, and return how many there are; a row is scored again only where a pick changed it."""
    kinds = len(links)
    for position in range(len(picks)):
        unmet_rows(offsets, starts, parts, wholes, weights, met, unmet)
        count, news = 0, np.int64(0)  # not a literal, for which `add_trees` would be compiled once more
        for row in range(len(table)):
            if not taken[row] and sizes[row] <= token_limit and has_room(row, groups, counts, amounts, spare):
                rows[count] = row
                count += 1
                for column in range(UNMET):
                    changed[row] |= table[row, width + kinds + column] != unmet[row, column]
                    table[row, width + kinds + column] = unmet[row, column]
                if changed[row]:
                    for column in range(table.shape[1]):
                        chosen[news, column] = table[row, column]
                    scored[news], sums[news] = row, base
                    news += 1
        if count == 0:
            return position
        add_trees(news, chosen, sums, roots, columns, thresholds, left, right, leaves)
        for k in range(news):
            values[scored[k]], changed[scored[k]] = sums[k], False
        best = rows[0]
        scores[position] = bonus[best] + values[best]
        for k in range(1, count):
            score = bonus[rows[k]] + values[rows[k]]
            if score > scores[position]:
                best, scores[position] = rows[k], score
        picks[position], taken[best], token_limit = best, True, token_limit - sizes[best]
        use_up(best, groups, counts, amounts, spare)
        met[0] |= wholes[best]
        for row in range(len(table)):
            taken[row] |= twins[row, best]
            for kind in range(kinds):
                changed[row] |= links[kind, row, best] > table[row, width + kind]
                table[row, width + kind] = max(table[row, width + kind], links[kind, row, best])
    return len(picks)
