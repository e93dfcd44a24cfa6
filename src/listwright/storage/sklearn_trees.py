"""Checks on scikit-learn's decision trees from files.

The compiled code of trees follows node numbers and column numbers without checking them, so a damaged or hostile tree
would read foreign memory or loop forever. `check_tree_nodes` runs on the skops schema, before anything is made;
`check_trees` runs on the estimators afterwards, where the number of columns of the estimator around a tree is known.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright.errors import InputError

MOST_OUTPUTS = 1 << 20


def check_tree_nodes(nodes: Iterable[dict[str, Any]], members: Mapping[str, bytes]) -> None:
    """Raise unless every tree of a skops schema is well formed; nothing is instantiated."""
    for node in nodes:
        if node["__loader__"] == "TreeNode" or node.get("__class__") == "Tree":
            try:
                n_features, n_classes, n_outputs = _plain(node["__reduce__"]["args"], members)
                state = _plain(node["content"], members)
                _check_tree(n_features, n_classes, n_outputs, state)
            except (KeyError, TypeError, ValueError, IndexError) as error:
                raise _damaged(f"{type(error).__name__}: {error!s:.60}") from None


def check_trees(estimators: Any) -> None:
    """Raise unless every tree fits the estimator around it: no split may look at a column past the input's width."""
    for tree, width in _found(estimators, None, set()):
        if hasattr(tree, "n_features"):
            if tree.n_features > (tree.n_features if width is None else width):
                raise _damaged(f"it looks at {tree.n_features} columns of {width}")
        else:
            _check_predictor(tree.nodes, width)


def _check_tree(n_features: int, n_classes: NDArray[Any], n_outputs: int, state: dict[str, Any]) -> None:
    """Raise unless the arrays of one `sklearn.tree._tree.Tree` agree with one another."""
    nodes, values, count = state["nodes"], state["values"], state["node_count"]
    if not 0 < n_outputs <= MOST_OUTPUTS or n_classes.shape != (n_outputs,) or n_classes.dtype.kind not in "iu":
        raise _damaged("outputs")
    if (n_classes < 1).any() or not isinstance(count, int) or count < 1 or nodes.shape != (count,):
        raise _damaged("nodes")
    if values.shape != (count, n_outputs, int(n_classes.max())) or not np.isfinite(values).all():
        raise _damaged("values")
    leaf = nodes["left_child"] == -1
    if (leaf != (nodes["right_child"] == -1)).any():
        raise _damaged("half a split")
    _check_children(np.flatnonzero(~leaf), nodes["left_child"][~leaf], nodes["right_child"][~leaf], count)
    if not ((nodes["feature"][~leaf] >= 0) & (nodes["feature"][~leaf] < n_features)).all():
        raise _damaged("columns")


def _check_predictor(nodes: NDArray[Any], width: int | None) -> None:
    """Raise unless the nodes of one histogram-boosting tree form a tree over at most `width` columns."""
    inner = nodes[nodes["is_leaf"] == 0]
    _check_children(np.flatnonzero(nodes["is_leaf"] == 0), inner["left"], inner["right"], len(nodes))
    columns = inner["feature_idx"]
    if not ((columns >= 0) & (columns < (np.iinfo(np.int64).max if width is None else width))).all():
        raise _damaged("columns")
    if inner["is_categorical"].any():
        raise _damaged("splits by category are not supported")


def _check_children(parents: NDArray[Any], left: NDArray[Any], right: NDArray[Any], count: int) -> None:
    """Raise unless all children come after their parents and exist, so that every walk down the tree ends."""
    for children in (left, right):
        behind = children.astype(np.int64)
        if not ((behind > parents) & (behind < count)).all():
            raise _damaged("children")


def _found(value: Any, width: int | None, seen: set[int]) -> Iterator[tuple[Any, int | None]]:
    """Yield all trees inside a value, each with the number of columns that the estimators around it guarantee,
    or None.
    """
    if id(value) in seen or isinstance(value, str | bytes | int | float | type(None)):
        return
    seen.add(id(value))
    name = type(value).__name__
    if name in ("Tree", "TreePredictor"):
        yield value, width
    elif isinstance(value, np.ndarray):
        if value.dtype == object:
            for entry in value.ravel().tolist():
                yield from _found(entry, width, seen)
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _found(entry, width, seen)
    elif isinstance(value, list | tuple | set):
        for entry in value:
            yield from _found(entry, width, seen)
    elif hasattr(value, "__dict__"):
        inside = _width(value, width)
        for entry in vars(value).values():
            yield from _found(entry, inside, seen)


def _width(estimator: Any, given: int | None) -> int | None:
    """Return the columns that an estimator lets its trees see."""
    if not any(word in type(estimator).__name__ for word in ("Forest", "Tree", "GradientBoosting")):
        return None
    own = vars(estimator).get("n_features_in_")
    return given if not isinstance(own, int) else own if given is None else min(own, given)


def _plain(node: dict[str, Any], members: Mapping[str, bytes]) -> Any:
    """Return the value of a node that holds only numbers, arrays, tuples and dicts."""
    kind = node["__loader__"]
    if kind == "JsonNode":
        return json.loads(node["content"])
    if kind == "NdArrayNode" and node["type"] == "numpy":
        return np.load(io.BytesIO(members[node["file"]]), allow_pickle=False)
    if kind == "TupleNode":
        return tuple(_plain(entry, members) for entry in node["content"])
    if kind == "DictNode":
        return {key: _plain(entry, members) for key, entry in node["content"].items()}
    raise _damaged(f"{kind!s:.40}")


def _damaged(what: str) -> InputError:
    """Return the error for a tree that is not well formed."""
    return InputError(f"a decision tree is damaged ({what})")
