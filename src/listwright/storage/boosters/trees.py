"""The trees of a boosting model: checked, and laid out in flat arrays for the compiled evaluator.

Both readers produce `Tree`s; `joined` checks each and concatenates them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints, starts_of
from listwright.errors import InputError


class Tree(NamedTuple):
    """One tree: split nodes in order, with leaves as negative children (leaf i is -1 - i)."""

    columns: Ints  # by split, the column that it looks at
    thresholds: Floats  # by split, the highest value that goes left
    left: Ints  # by split, its children
    right: Ints
    leaves: Any  # in the precision that the library sums them in
    cover: Floats  # training rows by leaf, or the weight of these


class Trees(NamedTuple):
    """All trees of a model, with what is needed to turn their sum into a prediction."""

    n_columns: int  # width of the input
    objective: str  # the library's name of the loss
    arrays: tuple[Any, ...]  # roots, columns, thresholds, left, right, leaves: as the compiled function takes them
    cover: Floats  # by leaf
    slope: float = 1.0  # of the logistic function of a classifier
    base: float = 0.0  # what the leaves are added to


def joined(trees: list[Tree], n_columns: int) -> tuple[tuple[Any, ...], Floats]:
    """Check each tree and concatenates all of them, with children renumbered."""
    for tree in trees:
        _check(tree, n_columns)
    splits = starts_of([len(tree.columns) for tree in trees])
    leaves = starts_of([len(tree.leaves) for tree in trees])
    children = [
        [np.where(side >= 0, side + splits[i], side - leaves[i]) for i, side in enumerate(sides)]
        for sides in ([tree.left for tree in trees], [tree.right for tree in trees])
    ]
    roots = [splits[i] if len(tree.columns) else -1 - leaves[i] for i, tree in enumerate(trees)]
    columns, thresholds = [tree.columns for tree in trees], [tree.thresholds for tree in trees]
    parts: list[list[Any]] = [columns, thresholds, *children, [tree.leaves for tree in trees]]
    arrays = (np.array(roots), *(np.concatenate(part) for part in parts))
    return arrays, np.concatenate([tree.cover for tree in trees])


def _check(tree: Tree, n_columns: int) -> None:
    """Raise unless every split looks at an existing column and leads to later splits or to leaves, so that all walks
    end.
    """
    splits = len(tree.leaves) - 1
    if splits < 0 or any(len(part) != splits for part in (tree.columns, tree.thresholds, tree.left, tree.right)):
        raise InputError("a tree has splits or leaves that lack something")
    if not np.isfinite(tree.leaves).all() or np.isnan(tree.thresholds).any():
        raise InputError("a tree has leaves without values")
    if len(tree.cover) != len(tree.leaves) or not ((tree.cover > 0) & (tree.cover < 1 << 40)).all():
        raise InputError("a tree has leaves without training rows")
    if ((tree.columns < 0) | (tree.columns >= n_columns)).any():
        raise InputError("a tree uses a column that does not exist")
    for children in (tree.left, tree.right):
        later = (children > np.arange(splits)) & (children < splits)
        if not (later | ((children < 0) & (children >= -splits - 1))).all():
            raise InputError("a tree has a broken link")
