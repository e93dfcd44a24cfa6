"""LightGBM's text format, read with care."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints, starts_of
from listwright.errors import InputError

ZERO_IS_MISSING = 1  # of the two bits of a split's decision type that say what counts as missing


class Trees(NamedTuple):
    """All trees of a model, one after the other."""

    n_columns: int
    objective: str
    slope: float  # of the logistic function of a classifier
    arrays: tuple[Any, ...]  # roots, columns, thresholds, left, right, leaves: as the compiled function takes them
    leaf_counts: Ints  # training rows by leaf


class Tree(NamedTuple):
    """One tree: split nodes in order, leaves as children below 0."""

    columns: Ints
    thresholds: Floats
    left: Ints
    right: Ints
    leaves: Floats
    counts: Ints  # training rows by leaf


def read_trees(text: str) -> Trees:
    """The trees of a model. Whatever is not a sum of plain trees over finite columns is an error."""
    head, *blocks = text.split("\n\n\nend of trees")[0].split("\nTree=")
    keys = dict(_pairs(head))
    n_columns = _whole(keys, "max_feature_idx") + 1
    objective, *settings = keys.get("objective", "").split() or [""]
    if _whole(keys, "num_tree_per_iteration") != 1 or "average_output" in head:
        raise InputError("LightGBM models of several classes, and random forests, are not known")
    slope = next((_floats(setting.partition(":")[2])[0] for setting in settings if setting.startswith("sigmoid:")), 1.0)
    trees = [_tree(dict(_pairs(block)), n_columns) for block in blocks]
    if not trees:
        raise InputError("a LightGBM model has no trees")
    counts = np.concatenate([tree.counts for tree in trees])
    return Trees(n_columns, objective, float(slope), _joined(trees), counts)


def _joined(trees: list[Tree]) -> tuple[Any, ...]:
    splits = starts_of([len(tree.columns) for tree in trees])
    leaves = starts_of([len(tree.leaves) for tree in trees])
    children = [
        [np.where(side >= 0, side + splits[i], side - leaves[i]) for i, side in enumerate(sides)]
        for sides in ([tree.left for tree in trees], [tree.right for tree in trees])
    ]
    roots = [splits[i] if len(tree.columns) else -1 - leaves[i] for i, tree in enumerate(trees)]
    columns, thresholds = [tree.columns for tree in trees], [tree.thresholds for tree in trees]
    parts: list[list[Any]] = [columns, thresholds, *children, [tree.leaves for tree in trees]]
    return (np.array(roots), *(np.concatenate(part) for part in parts))


def _tree(keys: dict[str, str], n_columns: int) -> Tree:
    n_leaves = _whole(keys, "num_leaves")
    if keys.get("num_cat", "0") != "0" or keys.get("is_linear", "0") != "0":
        raise InputError("LightGBM trees with categories or linear leaves are not known")
    leaves = _floats(keys.get("leaf_value", ""))
    if n_leaves < 1 or len(leaves) != n_leaves:
        raise InputError("a LightGBM tree has leaves without values")
    if n_leaves == 1:
        nothing = np.zeros(0, dtype=np.int64)
        return Tree(nothing, np.zeros(0), nothing, nothing, leaves, np.ones(1, dtype=np.int64))
    counts = _ints(keys.get("leaf_count", ""))
    if len(counts) != n_leaves or (counts < 1).any() or (counts > 1 << 40).any():
        raise InputError("a LightGBM tree has leaves without training rows")
    columns, left, right, kinds = (
        _ints(keys.get(key, "")) for key in ("split_feature", "left_child", "right_child", "decision_type")
    )
    tree = Tree(columns, _floats(keys.get("threshold", ""), finite=False), left, right, leaves, counts)
    _check(tree, kinds, n_columns)
    return tree


def _check(tree: Tree, kinds: Ints, n_columns: int) -> None:
    """Every split looks at a column that there is, and leads on to later splits or to leaves: so all walks end."""
    splits = len(tree.leaves) - 1
    if any(len(part) != splits for part in (tree.columns, tree.thresholds, tree.left, tree.right, kinds)):
        raise InputError("a LightGBM tree has splits that lack something")
    if ((tree.columns < 0) | (tree.columns >= n_columns)).any():
        raise InputError("a LightGBM tree looks at a column that is not there")
    if (((kinds >> 2) & 3) == ZERO_IS_MISSING).any() or (kinds & 1).any():
        raise InputError("LightGBM trees with zero_as_missing or categories are not known")
    for children in (tree.left, tree.right):
        later = (children > np.arange(splits)) & (children < splits)
        if not (later | ((children < 0) & (children >= -splits - 1))).all():
            raise InputError("a LightGBM tree leads nowhere")


def _pairs(block: str) -> Iterator[tuple[str, str]]:
    for line in block.split("\n"):
        key, found, value = line.partition("=")
        if found:
            yield key, value


def _whole(keys: dict[str, str], key: str) -> int:
    numbers = _ints(keys.get(key, ""))
    if len(numbers) != 1 or not 0 <= numbers[0] < 1 << 31:
        raise InputError(f"a LightGBM model has no {key}")
    return int(numbers[0])


def _ints(text: str) -> Ints:
    try:
        return np.array([int(part) for part in text.split()], dtype=np.int64)
    except (ValueError, OverflowError):
        raise InputError(f"a LightGBM model has {text!r:.30} for whole numbers") from None


def _floats(text: str, *, finite: bool = True) -> Floats:
    try:
        numbers = np.array([float(part) for part in text.split()], dtype=np.float64)
    except ValueError:
        raise InputError(f"a LightGBM model has {text!r:.30} for numbers") from None
    if np.isnan(numbers).any() or not len(numbers) or (finite and not np.isfinite(numbers).all()):
        raise InputError(f"a LightGBM model has {text!r:.30} for numbers")
    return numbers
