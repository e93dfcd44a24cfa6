"""Trees as boxes: for each leaf, the interval of each column that a row must lie in to reach it.

This form makes Shapley values of single predictions cheap: a leaf's value is a product of indicators, one per column,
and `Boosted.contributions` works on these products.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints, starts_of
from listwright.storage.boosters.trees import Trees

Sides = dict[int, tuple[float, float, float]]  # by column: above, up to, share of the training rows


class Boxes(NamedTuple):
    """The boxes of all leaves of all trees, as flat arrays; the sides of leaf i are `starts[i]` to `starts[i + 1]`."""

    starts: Ints  # by leaf
    columns: Ints  # by side, the column that it bounds
    above: Floats  # by side, the interval: above < x <= up_to
    up_to: Floats
    shares: Floats  # of the training rows that a side keeps, among those that got that far
    values: Floats  # by leaf
    base: float  # mean over the training rows of the sum of all trees


def boxes_of(trees: Trees) -> Boxes:
    """Return the boxes of all leaves."""
    roots, columns, thresholds, left, right, leaves = trees.arrays
    counts = _counts(trees)
    found: list[tuple[int, Sides]] = []
    base = 0.0
    for root in roots.tolist():
        stack: list[tuple[int, Sides]] = [(root, {})]
        while stack:
            node, sides = stack.pop()
            if node < 0:
                found.append((-1 - node, sides))
                base += leaves[-1 - node] * counts(node) / counts(root)
                continue
            column, at = int(columns[node]), float(thresholds[node])
            over, under, share = sides.get(column, (-np.inf, np.inf, 1.0))
            low, high = int(left[node]), int(right[node])
            stack.append((high, sides | {column: (max(over, at), under, share * counts(high) / counts(node))}))
            stack.append((low, sides | {column: (over, min(under, at), share * counts(low) / counts(node))}))
    table = np.array([side for _, sides in found for side in sides.values()]).reshape(-1, 3)
    numbers = np.array([column for _, sides in found for column in sides], dtype=np.int64)
    starts = starts_of([len(sides) for _, sides in found])
    above, up_to, shares = table.T.copy()
    return Boxes(starts, numbers, above, up_to, shares, leaves[[leaf for leaf, _ in found]], base)


def _counts(trees: Trees) -> Any:
    """Return a function from a node number, or a leaf as -1 - i, to its training rows."""
    left, right = trees.arrays[3:5]
    inner = np.zeros(len(left))

    def count(node: int) -> float:
        return float(inner[node] if node >= 0 else trees.cover[-1 - node])

    for node in range(len(left) - 1, -1, -1):  # children stand behind their parents
        inner[node] = count(left[node]) + count(right[node])
    return count
