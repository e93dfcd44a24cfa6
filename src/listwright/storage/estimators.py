"""scikit-learn estimators inside a model file, in one skops member.

By default only types are accepted that run no code of the file's choice and whose compiled code is safe on any input;
other types need the user's trust. The schema is checked before skops sees it: functions are rejected, and decision
trees are checked node by node (`check_tree_nodes`), because the compiled code of trees follows node and column numbers
without checking them. `check_trees` runs on the estimators afterwards, where the number of columns is known.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright._internal.parameters import is_sklearn_estimator
from listwright.errors import InputError
from listwright.storage.archive import check_trusted, dicts_in, members_of

GAUSSIAN_PROCESS = ("ConstantKernel", "Matern", "Product", "RBF", "RationalQuadratic", "Sum", "WhiteKernel")
# Beside what skops trusts: parts of fitted models without code of their own. Trees are checked node by node.
TRUSTED = (
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    *(f"sklearn.gaussian_process.kernels.{name}" for name in GAUSSIAN_PROCESS),
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
)
# Ways of making an object; those that name a function to call are left out.
LOADERS = {
    *("CachedNode", "DTypeNode", "DictNode", "JsonNode", "ListNode", "LossNode", "NdArrayNode", "ObjectNode"),
    *("RandomGeneratorNode", "RandomStateNode", "SetNode", "SliceNode", "SparseMatrixNode", "TreeNode", "TupleNode"),
    "TypeNode",
}
MOST_OUTPUTS = 1 << 20  # of a tree
UNSAFE = ("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM")  # their compiled code takes what is in the file on trust


def dump_estimators(estimators: list[Any]) -> bytes:
    # The member is read back at once, with its own types trusted, so that a model that could not be loaded fails when
    # it is saved.
    from skops import io  # here and below: it takes a while to import, and few models need it

    try:
        data = bytes(io.dumps(list(estimators)))
    except Exception as error:  # noqa: BLE001 - any exception of an estimator is reported by its name
        names = ", ".join(sorted({type(estimator).__name__ for estimator in estimators}))
        raise InputError(f"{names} cannot be saved: {error!s:.200}") from None
    try:
        load_estimators(data, frozenset(untrusted_types(data)))
    except InputError as error:
        raise InputError(f"These estimators cannot be saved: {error}") from None
    return data


def has_function(estimator: Any) -> bool:
    """Return whether a parameter of the estimator, at any depth, is a function, which files cannot hold."""
    values = estimator.get_params().values()
    return any(callable(value) and not isinstance(value, type) and not is_sklearn_estimator(value) for value in values)


def untrusted_types(data: bytes) -> list[str]:
    """Return the sorted names of the types in a member that need the user's trust, as "module:Class"."""
    from skops import io

    schema = _read_schema(data)
    with _named_damage():
        names = set(io.get_untrusted_types(data=data)) - set(TRUSTED)
        kinds = ((str(node.get("__module__", "")), node.get("__class__")) for node in nodes_of(schema))
        unsafe = {f"{module}.{kind}" for module, kind in kinds if module.startswith("sklearn.svm.") and kind in UNSAFE}
    return sorted(":".join(name.rpartition(".")[::2]) for name in names | unsafe)


def load_estimators(data: bytes, trusted: frozenset[str] = frozenset()) -> list[Any]:
    from skops import io

    check_trusted(untrusted_types(data), trusted)
    with _named_damage():
        estimators = io.loads(data, trusted=[*TRUSTED, *(name.replace(":", ".") for name in trusted)])
        check_trees(estimators)
    if not isinstance(estimators, list):
        raise InputError("the estimators are damaged (they are not a list)")
    return estimators


def _read_schema(data: bytes) -> Any:
    # Every node must use a loader from `LOADERS`, none of which calls a function that the file names, and every
    # decision tree must be well formed.
    members = members_of(data, "the member estimators.skops")
    with _named_damage():
        schema = json.loads(members.get("schema.json", b""))
        for node in nodes_of(schema):
            if node["__loader__"] not in LOADERS:
                raise InputError(f"functions are not among what model files may hold ({node['__loader__']!s:.40})")
        check_tree_nodes(nodes_of(schema), members)
    return schema


def nodes_of(schema: Any) -> Iterator[dict[str, Any]]:
    return (node for node in dicts_in(schema) if "__loader__" in node)


@contextmanager
def _named_damage() -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - a damaged member may have anything anywhere, and fail anywhere in skops
        raise InputError(f"the estimators are damaged ({type(error).__name__}: {error!s:.100})") from None


def check_tree_nodes(nodes: Iterable[dict[str, Any]], members: Mapping[str, bytes]) -> None:
    """Raise unless every tree of a skops schema is well formed; nothing is instantiated."""
    for node in nodes:
        if node["__loader__"] == "TreeNode" or node.get("__class__") == "Tree":
            try:
                n_features, n_classes, n_outputs = _node_value(node["__reduce__"]["args"], members)
                state = _node_value(node["content"], members)
                _check_tree(n_features, n_classes, n_outputs, state)
            except (KeyError, TypeError, ValueError, IndexError) as error:
                raise _damaged_tree(f"{type(error).__name__}: {error!s:.60}") from None


def check_trees(estimators: Any) -> None:
    """Raise unless every tree fits the estimator around it: no split may look at a column past the input's width."""
    for tree, width in _trees_in(estimators, None, set()):
        if hasattr(tree, "n_features"):
            if tree.n_features > (tree.n_features if width is None else width):
                raise _damaged_tree(f"it looks at {tree.n_features} columns of {width}")
        else:
            _check_predictor(tree.nodes, width)


def _check_tree(n_features: int, n_classes: NDArray[Any], n_outputs: int, state: dict[str, Any]) -> None:
    nodes, values, count = state["nodes"], state["values"], state["node_count"]
    if not 0 < n_outputs <= MOST_OUTPUTS or n_classes.shape != (n_outputs,) or n_classes.dtype.kind not in "iu":
        raise _damaged_tree("outputs")
    if (n_classes < 1).any() or not isinstance(count, int) or count < 1 or nodes.shape != (count,):
        raise _damaged_tree("nodes")
    if values.shape != (count, n_outputs, int(n_classes.max())) or not np.isfinite(values).all():
        raise _damaged_tree("values")
    leaf = nodes["left_child"] == -1
    if (leaf != (nodes["right_child"] == -1)).any():
        raise _damaged_tree("half a split")
    _check_children(np.flatnonzero(~leaf), nodes["left_child"][~leaf], nodes["right_child"][~leaf], count)
    if not ((nodes["feature"][~leaf] >= 0) & (nodes["feature"][~leaf] < n_features)).all():
        raise _damaged_tree("columns")


def _check_predictor(nodes: NDArray[Any], width: int | None) -> None:
    inner = nodes[nodes["is_leaf"] == 0]
    _check_children(np.flatnonzero(nodes["is_leaf"] == 0), inner["left"], inner["right"], len(nodes))
    columns = inner["feature_idx"]
    if not ((columns >= 0) & (columns < (np.iinfo(np.int64).max if width is None else width))).all():
        raise _damaged_tree("columns")
    if inner["is_categorical"].any():
        raise _damaged_tree("splits by category are not supported")


def _check_children(parents: NDArray[Any], left: NDArray[Any], right: NDArray[Any], count: int) -> None:
    """Raise unless all children come after their parents and exist, so that every walk down the tree ends."""
    for children in (left, right):
        behind = children.astype(np.int64)
        if not ((behind > parents) & (behind < count)).all():
            raise _damaged_tree("children")


def _trees_in(value: Any, width: int | None, seen: set[int]) -> Iterator[tuple[Any, int | None]]:
    """Yield all trees in a value, each with the number of columns that the estimators around it guarantee, or None."""
    if id(value) in seen or isinstance(value, str | bytes | int | float | type(None)):
        return
    seen.add(id(value))
    if type(value).__name__ in ("Tree", "TreePredictor"):
        yield value, width
        return
    entries: Iterable[Any] = ()
    if isinstance(value, np.ndarray):
        entries = value.ravel().tolist() if value.dtype == object else ()
    elif isinstance(value, list | tuple | set):
        entries = value
    elif isinstance(value, dict):
        entries = value.values()
    elif hasattr(value, "__dict__"):
        entries, width = vars(value).values(), _width(value, width)
    for entry in entries:
        yield from _trees_in(entry, width, seen)


def _width(estimator: Any, given: int | None) -> int | None:
    if not any(word in type(estimator).__name__ for word in ("Forest", "Tree", "GradientBoosting")):
        return None
    own = vars(estimator).get("n_features_in_")
    return given if not isinstance(own, int) else own if given is None else min(own, given)


def _node_value(node: dict[str, Any], members: Mapping[str, bytes]) -> Any:
    kind = node["__loader__"]
    if kind == "JsonNode":
        return json.loads(node["content"])
    if kind == "NdArrayNode" and node["type"] == "numpy":
        return np.load(io.BytesIO(members[node["file"]]), allow_pickle=False)
    if kind == "TupleNode":
        return tuple(_node_value(entry, members) for entry in node["content"])
    if kind == "DictNode":
        return {key: _node_value(entry, members) for key, entry in node["content"].items()}
    raise _damaged_tree(f"{kind!s:.40}")


def _damaged_tree(what: str) -> InputError:
    return InputError(f"a decision tree is damaged ({what})")
