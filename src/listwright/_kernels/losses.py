"""Losses of scores against costs, by row and over pairs that are never listed."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._kernels import inline, inner, kernel
from listwright._kernels.constraints import ListLimits, has_room, next_pinned, use_up

DIGITS = 256
FEW = 64  # rows per problem up to which insertion sort is faster


@inner()
def _as_ints(values: Floats) -> Ints:
    """Return integers that sort as the values do."""
    zero_based = np.empty(len(values))
    for i in range(len(values)):
        zero_based[i] = values[i] + 0.0  # -0.0 turns into 0.0
    keys = zero_based.view(np.int64)
    for i in range(len(keys)):
        if keys[i] < 0:
            keys[i] ^= np.int64(2**63 - 1)  # of negative floats, the lower one has the higher bits
    return keys


@inner()
def _spread(keys: Ints, rows: Ints, shift: int, to_keys: Ints, to_rows: Ints) -> bool:
    """Make one stable pass over eight bits of the keys."""
    ends, flip = np.empty(DIGITS + 1, dtype=np.int64), 128 if shift == 56 else 0  # the highest bit is the sign
    for digit in range(len(ends)):
        ends[digit] = 0
    for key in keys:
        ends[1 + (((key >> shift) & 255) ^ flip)] += 1
    if len(keys) == 0 or ends[1 + (((keys[0] >> shift) & 255) ^ flip)] == len(keys):
        return False
    for digit in range(DIGITS):
        ends[digit + 1] += ends[digit]
    for i in range(len(keys)):
        digit = ((keys[i] >> shift) & 255) ^ flip
        to_keys[ends[digit]] = keys[i]
        to_rows[ends[digit]] = rows[i]
        ends[digit] += 1
    return True


@inline
def _by_problem(rows: Ints, offsets: Ints, to_rows: Ints) -> None:
    owners, ends = np.empty(len(rows), dtype=np.int64), np.empty(len(offsets) - 1, dtype=np.int64)
    for problem in range(len(ends)):
        ends[problem] = offsets[problem]
        for row in range(offsets[problem], offsets[problem + 1]):
            owners[row] = problem
    for row in rows:
        owner = owners[row]
        to_rows[ends[owner]] = row
        ends[owner] += 1


@inner()
def _insert(values: Floats, start: int, end: int, rows: Ints) -> None:
    for row in range(start, end):
        at, value = row, values[row]
        while at > start and values[rows[at - 1]] > value:
            rows[at] = rows[at - 1]
            at -= 1
        rows[at] = row


@kernel()
def sort_within(values: Floats, offsets: Ints) -> Ints:
    """Return row numbers, each problem's in increasing order of `values`; the lowest row first among equals."""
    rows, most = np.empty(len(values), dtype=np.int64), 0
    for row in range(len(rows)):
        rows[row] = row
    for problem in range(len(offsets) - 1):
        most = max(most, offsets[problem + 1] - offsets[problem])
    if most <= FEW:
        for problem in range(len(offsets) - 1):
            _insert(values, offsets[problem], offsets[problem + 1], rows)
        return rows
    keys = _as_ints(values)
    to_keys, to_rows = np.empty(len(keys), dtype=np.int64), np.empty(len(rows), dtype=np.int64)
    for shift in range(0, 64, 8):
        if _spread(keys, rows, shift, to_keys, to_rows):
            keys, to_keys = to_keys, keys
            rows, to_rows = to_rows, rows
    if len(offsets) == 2:
        return rows
    _by_problem(rows, offsets, to_rows)
    return to_rows


@kernel()
def fill(order: Ints, offsets: Ints, limits: ListLimits, length: int) -> Ints:
    """Fill lists in a given order after the pinned rows, skipping rows that there is no room for."""
    rows = np.empty((len(offsets) - 1, length), dtype=np.int64)
    sizes, budgets, groups, counts, amounts, further, _ = limits
    for problem in range(len(rows)):
        for position in range(length):
            rows[problem, position] = -1
        left, position = budgets[problem], 0
        row = next_pinned(problem, counts)
        while row >= 0 and position < length:
            rows[problem, position] = row
            position += 1
            left -= sizes[row] if len(sizes) else 0.0
            use_up(row, groups, counts, amounts, further)
            row = next_pinned(problem, counts)
        n_pinned = position
        for row in order[offsets[problem] : offsets[problem + 1]]:
            if position == length:
                break
            size, fits = sizes[row] if len(sizes) else 0.0, True
            for at in range(n_pinned):
                fits = fits and rows[problem, at] != row
            if fits and size <= left and has_room(row, groups, counts, amounts, further):
                rows[problem, position] = row
                position += 1
                left -= size
                use_up(row, groups, counts, amounts, further)
    return rows


@kernel()
def squared_residuals(scores: Floats, costs: Floats, offsets: Ints) -> tuple[Floats, Floats]:
    """Return the sum over rows of (score + cost)^2 by problem, and its gradient by row, with one read of the rows."""
    losses, gradient = np.zeros(len(offsets) - 1), np.empty(len(scores))
    for problem in range(len(losses)):
        for row in range(offsets[problem], offsets[problem + 1]):
            residual = scores[row] + costs[row]
            losses[problem] += residual * residual
            gradient[row] = 2.0 * residual
    return losses, gradient


@kernel()
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


@kernel()
def _add(tree: Floats, rank: int, cost: float) -> None:
    """Add a row of this rank and cost to the Fenwick tree."""
    while rank < len(tree):
        tree[rank, 0] += 1.0
        tree[rank, 1] += cost
        rank += rank & -rank


@kernel()
def _weight(tree: Floats, rank: int, cost: float) -> float:
    """Return the sum over the rows of lower rank of how much less they cost."""
    count, total, rank = 0.0, 0.0, rank - 1
    while rank > 0:
        count += tree[rank, 0]
        total += tree[rank, 1]
        rank &= rank - 1
    return count * cost - total


@kernel()
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


@kernel()
def _hinge(scores: Floats, costs: Floats, ranks: Ints, rows: Ints, gradient: Floats) -> float:
    keys, pushes = scores[rows], np.zeros(len(rows))
    loss = push_pairs(keys, costs[rows], ranks[rows], 1.0, pushes)
    centre = 0.5 * keys[0] + 0.5 * keys[-1]
    for i in range(len(rows)):
        gradient[rows[i]] = pushes[i]
        loss += pushes[i] * (keys[i] - centre)
    return max(loss, 0.0)


@kernel()
def hinge_pairs(scores: Floats, costs: Floats, offsets: Ints) -> tuple[Floats, Floats]:
    return hinge_of_ranks(scores, costs, cost_ranks(costs, sort_within(costs, offsets), offsets), offsets)


@kernel()
def hinge_of_ranks(scores: Floats, costs: Floats, ranks: Ints, offsets: Ints) -> tuple[Floats, Floats]:
    """Return what `hinge_pairs` does, where the ranks of the costs are known, as in a solve that tries many scores."""
    losses, gradient = np.zeros(len(offsets) - 1), np.zeros(len(scores))
    by_score = sort_within(scores, offsets)
    for problem in range(len(losses)):
        start, end = offsets[problem], offsets[problem + 1]
        if end > start:
            losses[problem] = _hinge(scores, costs, ranks, by_score[start:end], gradient)
    return losses, gradient
