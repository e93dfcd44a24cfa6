"""Forests of scikit-learn, evaluated without its overhead per tree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._kernels.trees import tree_sums

ROOM = "sklearn.ensemble._forest"  # not imported here: most policies need no forest
KINDS = ("ExtraTreesRegressor", "RandomForestRegressor")


class Forest(NamedTuple):
    """The trees of a forest as arrays, in the form that `tree_sums` takes.

    Attributes
    ----------
    roots : ndarray of int, shape (trees,)
        The first node of each tree; a negative number is leaf -1 - root.
    columns, thresholds : ndarray, shape (nodes,)
        A row goes left if its column is at most the threshold.
    left, right : ndarray of int, shape (nodes,)
        The children; a negative number is leaf -1 - child.
    leaves : ndarray of float
        The value of each leaf.
    """

    roots: Ints
    columns: Ints
    thresholds: Floats
    left: Ints
    right: Ints
    leaves: Floats

    def predict(self, table: Floats32) -> Floats:
        """Returns the mean of all trees: the same numbers as scikit-learn's, to the last bit."""
        return tree_sums(np.ascontiguousarray(table, dtype=np.float32), 0.0, *self) / len(self.roots)


def as_forest(estimator: Any) -> Forest | None:
    """Returns a fitted forest with a single output as arrays; None for any other estimator."""
    kind = type(estimator)
    if kind.__module__ != ROOM or kind.__name__ not in KINDS or estimator.n_outputs_ != 1:
        return None
    trees = [one.tree_ for one in estimator.estimators_]
    starts = np.cumsum([0, *(tree.node_count for tree in trees)])
    joined = {
        name: np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("feature", "threshold", "children_left", "children_right")
    }
    offsets = np.repeat(starts[:-1], np.diff(starts))
    is_leaf = joined["children_left"] < 0
    # Every node has a leaf entry of its own number, so that a child that is a leaf is -1 - its number.
    own = np.where(is_leaf, -1 - np.arange(starts[-1]), np.arange(starts[-1]))
    left, right = (own[np.where(is_leaf, 0, joined[name] + offsets)] for name in ("children_left", "children_right"))
    leaves = np.concatenate([tree.value[:, 0, 0] for tree in trees])
    columns = np.maximum(joined["feature"], 0)
    return Forest(own[starts[:-1]], columns, joined["threshold"], left, right, np.ascontiguousarray(leaves))
