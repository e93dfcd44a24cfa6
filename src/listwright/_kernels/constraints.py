"""What may still be put into a list: budgets, quotas of nested groups, excluded and pinned rows.

Groups form a tree whose root is the list itself, with its length as the root's quota. The sets that can be completed to
a list within all quotas are the independent sets of a matroid, and `has_room` decides whether a row keeps a list one of
them: every group on the row's path must have more places left than its subgroups still need, unless the row serves such
a need itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels import inline, inner, kernel

MOST, NEED, BELOW, PINNED, FIRST = range(5)  # columns of `ListLimits.counts`
NO_SIZES = np.zeros(0)  # made once, because a short list takes little longer than to make them
NO_GROUPS, NO_COUNTS = np.zeros((0, 2), dtype=np.int64), np.zeros((0, 5), dtype=np.int64)
NO_AMOUNTS = np.zeros((0, 0))
NO_QUOTAS = (NO_GROUPS, NO_COUNTS, NO_AMOUNTS, NO_AMOUNTS)


class ListLimits(NamedTuple):
    """What lists may contain, used up while they grow. Arrays of what is not limited are empty."""

    sizes: Floats  # (rows,): what each row uses of the budget
    budgets: Floats  # (problems,): what is left of the budget
    groups: Ints  # (rows, levels + 2): problem (-1 if excluded), groups from coarse to fine, pinned row that follows
    counts: Ints  # (groups, 5): places left, rows still needed, needed by subgroups; pinned row, whether needs go first
    amounts: Floats  # (rows, further budgets): what each row uses
    left: Floats  # (problems, further budgets): what is left
    repeats: bool  # whether an item may be picked twice


@inner()
def has_room(row: int, groups: Ints, counts: Ints, amounts: Floats, left: Floats) -> bool:
    """Return whether a row may be picked, the first budget and pinned rows apart."""
    if len(groups) == 0:
        return True
    problem, serves = groups[row, 0], False
    if problem < 0:
        return False
    for level in range(groups.shape[1] - 2, -1, -1):
        group = groups[row, level]
        full = counts[group, BELOW] >= counts[group, MOST] or (counts[group, FIRST] and counts[group, BELOW] > 0)
        if counts[group, MOST] <= 0 or (full and not serves):
            return False
        serves = serves or counts[group, NEED] > counts[group, BELOW]
    fits = True
    for j in range(amounts.shape[1]):
        fits = fits and amounts[row, j] <= left[problem, j]
    return fits


@inner()
def use_up(row: int, groups: Ints, counts: Ints, amounts: Floats, left: Floats) -> None:
    """Subtract a picked row from the quotas of its groups and from the further budgets."""
    if len(groups) == 0 or groups[row, 0] < 0:
        return
    problem, served, last = groups[row, 0], 0, groups.shape[1] - 1
    if counts[problem, PINNED] == row:
        counts[problem, PINNED] = groups[row, last]
    for level in range(last - 1, -1, -1):
        group = groups[row, level]
        before = max(counts[group, NEED], counts[group, BELOW], 0)
        counts[group, MOST] -= 1
        counts[group, NEED] -= 1
        counts[group, BELOW] -= served
        served = before - max(counts[group, NEED], counts[group, BELOW], 0)
    for j in range(amounts.shape[1]):
        left[problem, j] -= amounts[row, j]


@kernel()
def open_rows(limits: ListLimits) -> Bools:
    """Return by row whether it may be picked, the first budget apart; while rows are pinned, only the next of them."""
    _, _, groups, counts, amounts, left, _ = limits
    fits = np.empty(len(groups), dtype=np.bool_)
    for row in range(len(groups)):
        pinned = counts[groups[row, 0], PINNED] if groups[row, 0] >= 0 else -1
        fits[row] = row == pinned if pinned >= 0 else has_room(row, groups, counts, amounts, left)
    return fits


@inline
def next_pinned(problem: int, counts: Ints) -> int:
    return counts[problem, PINNED] if len(counts) else -1


@kernel()
def use_up_rows(rows: Ints, limits: ListLimits) -> None:
    for row in rows:
        if row >= 0:
            use_up(row, limits.groups, limits.counts, limits.amounts, limits.left)
