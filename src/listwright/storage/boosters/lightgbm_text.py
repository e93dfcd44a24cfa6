"""A strict reader of LightGBM's text format.

Accepts regression, ranking and two-class models with numeric splits. The rest (categories, linear leaves, zero as
missing, several classes, random forests) is an `InputError`, because it would be evaluated wrongly.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright.errors import InputError
from listwright.storage.boosters.trees import Tree, Trees, joined

ZERO_IS_MISSING = 1  # of the two bits of a split's decision type that say what counts as missing


def read_lightgbm(text: str) -> Trees:
    """Return the trees of a LightGBM model text."""
    head, *blocks = text.split("\n\n\nend of trees")[0].split("\nTree=")
    keys = dict(_pairs(head))
    n_columns = _whole(keys, "max_feature_idx") + 1
    objective, *settings = keys.get("objective", "").split() or [""]
    if _whole(keys, "num_tree_per_iteration") != 1 or "average_output" in head:
        raise InputError("LightGBM models of several classes, and random forests, are not supported")
    slope = next((_floats(setting.partition(":")[2])[0] for setting in settings if setting.startswith("sigmoid:")), 1.0)
    trees = [_tree(dict(_pairs(block))) for block in blocks]
    if not trees:
        raise InputError("a LightGBM model has no trees")
    return Trees(n_columns, objective, *joined(trees, n_columns), slope=float(slope))


def _tree(keys: dict[str, str]) -> Tree:
    """Return one tree from the entries of its block; a tree with a single leaf has no splits."""
    n_leaves = _whole(keys, "num_leaves")
    if keys.get("num_cat", "0") != "0" or keys.get("is_linear", "0") != "0":
        raise InputError("LightGBM trees with categories or linear leaves are not supported")
    leaves = _floats(keys.get("leaf_value", ""))
    if n_leaves < 1 or len(leaves) != n_leaves:
        raise InputError("a LightGBM tree has leaves without values")
    if n_leaves == 1:
        nothing = np.zeros(0, dtype=np.int64)
        return Tree(nothing, np.zeros(0), nothing, nothing, leaves, np.ones(1))
    columns, left, right, kinds, counts = (
        _ints(keys.get(key, ""))
        for key in ("split_feature", "left_child", "right_child", "decision_type", "leaf_count")
    )
    if len(kinds) != n_leaves - 1 or (((kinds >> 2) & 3) == ZERO_IS_MISSING).any() or (kinds & 1).any():
        raise InputError("LightGBM trees with zero_as_missing or categories are not supported")
    return Tree(columns, _floats(keys.get("threshold", "")), left, right, leaves, counts.astype(np.float64))


def _pairs(block: str) -> Iterator[tuple[str, str]]:
    """Yield key and value of each line that has an equals sign."""
    for line in block.split("\n"):
        key, found, value = line.partition("=")
        if found:
            yield key, value


def _whole(keys: dict[str, str], key: str) -> int:
    """Return a whole number from 0 to 2**31 - 1 by its key; anything else is an error."""
    numbers = _ints(keys.get(key, ""))
    if len(numbers) != 1 or not 0 <= numbers[0] < 1 << 31:
        raise InputError(f"a LightGBM model has no {key}")
    return int(numbers[0])


def _ints(text: str) -> Ints:
    """Return whole numbers that are separated by blanks."""
    try:
        return np.array([int(part) for part in text.split()], dtype=np.int64)
    except (ValueError, OverflowError):
        raise InputError(f"a LightGBM model has {text!r:.30} for whole numbers") from None


def _floats(text: str) -> Floats:
    """Return numbers that are separated by blanks: at least one, and none of them NaN."""
    try:
        numbers = np.array([float(part) for part in text.split()], dtype=np.float64)
    except ValueError:
        raise InputError(f"a LightGBM model has {text!r:.30} for numbers") from None
    if np.isnan(numbers).any() or not len(numbers):
        raise InputError(f"a LightGBM model has {text!r:.30} for numbers")
    return numbers
