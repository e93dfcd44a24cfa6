"""Sums of decision trees, one tree after the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from listwright._kernels import kernel, outer


def tree_sums(
    table: Any, base: float, roots: Any, columns: Any, thresholds: Any, left: Any, right: Any, leaves: Any
) -> Any:
    total = np.full(len(table), base, leaves.dtype)
    add_trees(len(table), table, total, roots, columns, thresholds, left, right, leaves)
    return total


@outer()
def add_trees(
    count: int, table: Any, total: Any, roots: Any, columns: Any, thresholds: Any, left: Any, right: Any, leaves: Any
) -> None:
    for root in roots:
        for i in range(count):
            node = root
            while node >= 0:
                node = left[node] if table[i, columns[node]] <= thresholds[node] else right[node]
            total[i] += leaves[-1 - node]


@kernel()
def logistic(scores: Any, slope: float) -> Any:
    """Return 1 / (1 + exp(-slope * score)), with the exp of the C library."""
    chances = np.empty_like(scores)
    for i in range(len(scores)):
        chances[i] = 1.0 / (1.0 + math.exp(-slope * scores[i]))
    return chances


@kernel()
def box_shares(table: Any, starts: Any, columns: Any, above: Any, up_to: Any, shares: Any, values: Any) -> Any:
    """Return Shapley values of sums of leaves, shape (rows, columns), where each leaf is a box with some sides."""
    result = np.zeros(table.shape)
    widest = 0
    for leaf in range(len(values)):
        widest = max(widest, starts[leaf + 1] - starts[leaf])
    passed, sets = np.empty(widest), np.empty(widest + 1)
    for leaf in range(len(values)):
        start, m = starts[leaf], starts[leaf + 1] - starts[leaf]
        for i in range(table.shape[0]):
            for j in range(m):
                x = table[i, columns[start + j]]
                passed[j] = 1.0 if above[start + j] < x and x <= up_to[start + j] else 0.0
            for j in range(m):
                average = _average(m, j, passed, shares[start : start + m], sets)
                result[i, columns[start + j]] += values[leaf] * average * (passed[j] - shares[start + j])
    return result


@kernel()
def _average(m: int, left_out: int, passed: Any, shares: Any, sets: Any) -> float:
    """Return what passes all sides except one, averaged over the orders in which sides become known, up to that one."""
    sets[:] = 0.0
    sets[0] = 1.0
    for j in range(m):
        if j != left_out:
            for k in range(m - 1, 0, -1):
                sets[k] = sets[k] * shares[j] + sets[k - 1] * passed[j]
            sets[0] *= shares[j]
    total, chance = 0.0, 1.0 / m  # k! (m - 1 - k)! / m!, for k = 0
    for k in range(m):
        total += chance * sets[k]
        chance *= (k + 1.0) / (m - 1.0 - k) if k < m - 1 else 0.0
    return total
