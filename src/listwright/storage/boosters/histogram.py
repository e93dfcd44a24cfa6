"""scikit-learn's histogram gradient boosting written as LightGBM text.

All boosted trees are thus stored, checked, evaluated and explained by the same code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._internal.arrays import Ints
from listwright.storage.boosters.models import Boosted, boosted

HEAD = "tree\nnum_tree_per_iteration=1\nobjective=regression\nmax_feature_idx={last}\n"


def from_histogram(model: Any) -> Boosted:
    """Return the trees of a fitted `HistGradientBoostingRegressor` as a `Boosted` model."""
    # The estimator must have been fitted on numeric columns without missing values. Its baseline prediction becomes a
    # first tree with a single leaf, so that the sum of all trees equals the estimator's prediction.
    base = {"num_leaves": [1], "leaf_value": [float(model._baseline_prediction.item())]}
    trees = [base, *(_tree(round_[0].nodes) for round_ in model._predictors)]
    blocks = [
        f"\nTree={number}\n" + "".join(_line(*pair) for pair in tree.items()) for number, tree in enumerate(trees)
    ]
    text = HEAD.format(last=model.n_features_in_ - 1) + "".join(blocks) + "\n\nend of trees\n"
    return boosted("0.txt", text.encode(), "regressor")


def _tree(nodes: Any) -> dict[str, Any]:
    """Return the entries of one tree in LightGBM's text format."""
    is_leaf = nodes["is_leaf"].astype(bool)
    splits, leaves = nodes[~is_leaf], nodes[is_leaf]
    number: Ints = np.where(is_leaf, -np.cumsum(is_leaf), np.cumsum(~is_leaf) - 1)
    tree = {"num_leaves": [len(leaves)], "leaf_value": leaves["value"].tolist()}
    if not len(splits):
        return tree
    return tree | {
        "split_feature": splits["feature_idx"].tolist(),
        "threshold": splits["num_threshold"].tolist(),
        "left_child": number[splits["left"]].tolist(),
        "right_child": number[splits["right"]].tolist(),
        "decision_type": [2] * len(splits),
        "leaf_count": leaves["count"].tolist(),
    }


def _line(key: str, values: list[Any]) -> str:
    """Return one line of LightGBM's format. `repr` keeps every digit of a float, so nothing is rounded."""
    return f"{key}={' '.join(map(repr, values))}\n"
