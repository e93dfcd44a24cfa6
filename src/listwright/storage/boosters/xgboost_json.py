"""A strict reader of XGBoost's JSON format.

Accepts `gbtree` models with one output and numeric splits; the rest is an `InputError`. XGBoost sends a row left if its
value is *below* the threshold, so thresholds are moved down to the next float32 to fit the convention of `Tree`.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright.errors import InputError
from listwright.storage.boosters.trees import Tree, Trees, joined


def read_xgboost(text: str) -> Trees:
    """Return the trees of an XGBoost model in JSON."""
    try:
        learner = json.loads(text)["learner"]
        booster, parameters = learner["gradient_booster"], learner["learner_model_param"]
        if booster["name"] != "gbtree":
            raise InputError(f"XGBoost models of the kind {booster['name']!r:.20} are not supported")
        if int(parameters["num_class"]) > 1 or int(parameters.get("num_target", "1")) > 1:
            raise InputError("XGBoost models of several classes or targets are not supported")
        objective, n_columns = str(learner["objective"]["name"]), int(parameters["num_feature"])
        trees = [_tree(one) for one in booster["model"]["trees"]]
        if not trees:
            raise ValueError("it has no trees")
        arrays, cover = joined(trees, n_columns)
        base = _base(str(parameters["base_score"]), objective)
        return Trees(n_columns, objective, arrays, cover, base=base)
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError) as error:
        raise InputError(f"an XGBoost model is damaged ({type(error).__name__}: {error!s:.60})") from None


def _base(text: str, objective: str) -> float:
    """Return the number that leaves are added to."""
    base = float(text.strip("[]"))
    if objective == "binary:logistic":
        base = math.log(base / (1.0 - base))
    if not math.isfinite(base):
        raise ValueError("base_score is not finite")
    return base


def _tree(node: dict[str, Any]) -> Tree:
    """Return one tree, with splits and leave renumbered from the root down."""
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
