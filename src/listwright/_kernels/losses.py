"""Losses of scores against costs, by row and over pairs that are never listed."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Ints
from listwright._kernels.order import sort_within


@njit(cache=True, nogil=True)
def squared_residuals(scores: Floats, costs: Floats, offsets: Ints) -> tuple[Floats, Floats]:
    """Return the sum over rows of (score + cost)^2 by problem, and its gradient by row, with one read of the rows."""
    losses, gradient = np.zeros(len(offsets) - 1), np.empty(len(scores))
    for problem in range(len(losses)):
        for row in range(offsets[problem], offsets[problem + 1]):
            residual = scores[row] + costs[row]
            losses[problem] += residual * residual
            gradient[row] = 2.0 * residual
    return losses, gradient


@njit(cache=True, nogil=True)
def cost_ranks(costs: Floats, by_cost: Ints, offsets: Ints) -> Ints:
    """Return 1 for the rows of lowest cost in each problem, 2 for those of the next cost, and so on."""
    ranks = np.empty(len(costs), dtype=np.int64)
    for problem in range(len(offsets) - 1):
        rank = 1
        for i in range(offsets[problem], offsets[problem + 1]):
            if i > offsets[problem] and costs[by_cost[i]] > costs[by_cost[i - 1]]:
                rank += 1
            ranks[by_cost[i]] = rank
    return ranks


@njit(cache=True, nogil=True)
def _add(tree: Floats, rank: int, cost: float) -> None:
    """Add a row of this rank and cost to the Fenwick tree."""
    while rank < len(tree):
        tree[rank, 0] += 1.0
        tree[rank, 1] += cost
        rank += rank & -rank


@njit(cache=True, nogil=True)
def _weight(tree: Floats, rank: int, cost: float) -> float:
    """Return the sum over the rows of lower rank of how much less they cost."""
    count, total, rank = 0.0, 0.0, rank - 1
    while rank > 0:
        count += tree[rank, 0]
        total += tree[rank, 1]
        rank &= rank - 1
    return count * cost - total


@njit(cache=True, nogil=True)
def push_pairs(keys: Floats, costs: Floats, ranks: Ints, margin: float, pushes: Floats) -> float:
    """Sum the weights of the pairs of one problem that are within a margin."""
    n, last, low, high = len(keys), ranks.max(), costs.min(), costs.max()
    tree, total, reach = np.zeros((last + 1, 2)), 0.0, 0
    for b in range(n):
        while reach < n and keys[reach] - keys[b] < margin:
            _add(tree, ranks[reach], costs[reach] - low)
            reach += 1
        weight = _weight(tree, ranks[b], costs[b] - low)
        pushes[b] += weight
        total += weight
    tree[:], reach = 0.0, n - 1
    for a in range(n - 1, -1, -1):
        while reach >= 0 and keys[a] - keys[reach] < margin:
            _add(tree, last + 1 - ranks[reach], high - costs[reach])
            reach -= 1
        pushes[a] -= _weight(tree, last + 1 - ranks[a], high - costs[a])
    return total


@njit(cache=True, nogil=True)
def _hinge(scores: Floats, costs: Floats, ranks: Ints, rows: Ints, gradient: Floats) -> float:
    """Return the hinge loss of one problem, and write its gradient."""
    keys, pushes = scores[rows], np.zeros(len(rows))
    loss = push_pairs(keys, costs[rows], ranks[rows], 1.0, pushes)
    centre = 0.5 * keys[0] + 0.5 * keys[-1]
    for i in range(len(rows)):
        gradient[rows[i]] = pushes[i]
        loss += pushes[i] * (keys[i] - centre)
    return max(loss, 0.0)


@njit(cache=True, nogil=True)
def hinge_pairs(scores: Floats, costs: Floats, offsets: Ints) -> tuple[Floats, Floats]:
    """Return the pairwise hinge loss and its gradient."""
    return hinge_of_ranks(scores, costs, cost_ranks(costs, sort_within(costs, offsets), offsets), offsets)


@njit(cache=True, nogil=True)
def hinge_of_ranks(scores: Floats, costs: Floats, ranks: Ints, offsets: Ints) -> tuple[Floats, Floats]:
    """Return what `hinge_pairs` does, where the ranks of the costs are known, as in a solve that tries many scores."""
    losses, gradient = np.zeros(len(offsets) - 1), np.zeros(len(scores))
    by_score = sort_within(scores, offsets)
    for problem in range(len(losses)):
        start, end = offsets[problem], offsets[problem + 1]
        if end > start:
            losses[problem] = _hinge(scores, costs, ranks, by_score[start:end], gradient)
    return losses, gradient
