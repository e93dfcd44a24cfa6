"""Strict readers of the text of LightGBM and the JSON of XGBoost, with trees in flat arrays for the compiled evaluator.

LightGBM: regression, ranking and two-class models with numeric splits. The rest (categories, linear leaves, zero as
missing, several classes, random forests) is an `InputError`, because it would be evaluated wrongly. XGBoost: `gbtree`
models with one output and numeric splits. XGBoost sends a row left if its value is *below* the threshold, so thresholds
are moved down to the next float32 to fit the convention of `Tree`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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


def concat_trees(trees: list[Tree], n_columns: int) -> tuple[tuple[Any, ...], Floats]:
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
    """Raise unless every split looks at an existing column and leads to later splits or to leaves."""
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


ZERO_IS_MISSING = 1  # of the two bits of a split's decision type that say what counts as missing


def read_lightgbm(text: str) -> Trees:
    head, *blocks = text.split("\n\n\nend of trees")[0].split("\nTree=")
    keys = dict(_pairs(head))
    n_columns = _whole(keys, "max_feature_idx") + 1
    objective, *settings = keys.get("objective", "").split() or [""]
    if _whole(keys, "num_tree_per_iteration") != 1 or "average_output" in head:
        raise InputError("LightGBM models of several classes, and random forests, are not supported")
    slope = next((_floats(setting.partition(":")[2])[0] for setting in settings if setting.startswith("sigmoid:")), 1.0)
    trees = [_lightgbm_tree(dict(_pairs(block))) for block in blocks]
    if not trees:
        raise InputError("a LightGBM model has no trees")
    return Trees(n_columns, objective, *concat_trees(trees, n_columns), slope=float(slope))


def _lightgbm_tree(keys: dict[str, str]) -> Tree:
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
    for line in block.split("\n"):
        key, equals, value = line.partition("=")
        if equals:
            yield key, value


def _whole(keys: dict[str, str], key: str) -> int:
    """Return a whole number from 0 to 2**31 - 1 by its key; anything else is an error."""
    numbers = _ints(keys.get(key, ""))
    if len(numbers) != 1 or not 0 <= numbers[0] < 1 << 31:
        raise InputError(f"a LightGBM model has no {key}")
    return int(numbers[0])


def _ints(text: str) -> Ints:
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


def read_xgboost(text: str) -> Trees:
    try:
        learner = json.loads(text)["learner"]
        booster, parameters = learner["gradient_booster"], learner["learner_model_param"]
        if booster["name"] != "gbtree":
            raise InputError(f"XGBoost models of the kind {booster['name']!r:.20} are not supported")
        if int(parameters["num_class"]) > 1 or int(parameters.get("num_target", "1")) > 1:
            raise InputError("XGBoost models of several classes or targets are not supported")
        objective, n_columns = str(learner["objective"]["name"]), int(parameters["num_feature"])
        trees = [_xgboost_tree(tree) for tree in booster["model"]["trees"]]
        if not trees:
            raise ValueError("it has no trees")
        arrays, cover = concat_trees(trees, n_columns)
        base = _base(str(parameters["base_score"]), objective)
        return Trees(n_columns, objective, arrays, cover, base=base)
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError) as error:
        raise InputError(f"an XGBoost model is damaged ({type(error).__name__}: {error!s:.60})") from None


def _base(text: str, objective: str) -> float:
    base = float(text.strip("[]"))
    if objective == "binary:logistic":
        base = math.log(base / (1.0 - base))
    if not math.isfinite(base):
        raise ValueError("base_score is not finite")
    return base


def _xgboost_tree(node: dict[str, Any]) -> Tree:
    """Return one tree, with splits and leaves renumbered from the root down."""
    left, right, columns = (_array(node[key], np.int64) for key in ("left_children", "right_children", "split_indices"))
    conditions, cover = (_array(node[key], np.float32) for key in ("split_conditions", "sum_hessian"))
    if any(node.get("split_type", [])) or any(node.get("categories", [])):
        raise InputError("XGBoost trees with categories are not supported")
    order = _from_root(left, right)
    leaf = left[order] == -1
    splits, leaves = order[~leaf], order[leaf]
    number = np.zeros(len(left), dtype=np.int64)
    number[splits], number[leaves] = np.arange(len(splits)), -1 - np.arange(len(leaves))
    below = np.nextafter(conditions[splits], np.float32(-np.inf))  # a row goes left below the threshold
    values = conditions[leaves]
    return Tree(
        columns[splits],
        below.astype(np.float64),
        number[left[splits]],
        number[right[splits]],
        values,
        cover[leaves].astype(np.float64),
    )


def _from_root(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Return the nodes that can be reached from the root, parents before children; no node may be reached twice."""
    order, seen = [0], {0}
    for node in order:
        children = [int(side[node]) for side in (left, right)]
        if children == [-1, -1]:
            continue
        for child in children:
            if not 0 <= child < min(len(left), len(right)) or child in seen:
                raise InputError("a tree has a broken link")
            seen.add(child)
            order.append(child)
    return np.array(order)


def _array(values: Any, kind: type[np.generic]) -> NDArray[Any]:
    """Return a one-dimensional array of the given kind, not empty; whole numbers must be whole in the file."""
    with np.errstate(over="ignore"):
        array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not len(array) or (kind is np.int64 and (array != np.floor(array)).any()):
        raise ValueError("numbers are missing")
    return array.astype(kind)
