"""scikit-learn estimators inside a model file, in one skops member.

skops describes objects in a schema and makes them by class name. By default only types are accepted that run no code
of the file's choice and whose compiled code is safe on any input; other types need the user's trust. The schema is
checked before skops sees it: functions are rejected, and decision trees are checked node by node.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from listwright._internal.parameters import is_sklearn_estimator
from listwright.errors import InputError
from listwright.storage.archive import members_of
from listwright.storage.sklearn_trees import check_tree_nodes, check_trees
from listwright.storage.trust import check_trusted

# Beside what skops trusts: parts of fitted models without code of their own. Trees are checked node by node.
TRUSTED = (
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.gaussian_process.kernels.ConstantKernel",
    "sklearn.gaussian_process.kernels.Matern",
    "sklearn.gaussian_process.kernels.Product",
    "sklearn.gaussian_process.kernels.RBF",
    "sklearn.gaussian_process.kernels.RationalQuadratic",
    "sklearn.gaussian_process.kernels.Sum",
    "sklearn.gaussian_process.kernels.WhiteKernel",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
)
# Ways of making an object; those that name a function to call are left out.
LOADERS = {
    "CachedNode",
    "DTypeNode",
    "DictNode",
    "JsonNode",
    "ListNode",
    "LossNode",
    "NdArrayNode",
    "ObjectNode",
    "RandomGeneratorNode",
    "RandomStateNode",
    "SetNode",
    "SliceNode",
    "SparseMatrixNode",
    "TreeNode",
    "TupleNode",
    "TypeNode",
}
UNSAFE = ("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM")  # their compiled code takes what is in the file on trust


def dump_estimators(estimators: list[Any]) -> bytes:
    """Serialize estimators into one skops member."""
    # The member is read back at once, with its own types trusted, so that a model that could not be loaded fails when
    # it is saved.
    from skops import io  # here and below: it takes a while to import, and few models need it

    try:
        data = bytes(io.dumps(list(estimators)))
    except Exception as error:  # noqa: BLE001 - whatever an estimator does when it is written is told by its name
        names = ", ".join(sorted({type(one).__name__ for one in estimators}))
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

    schema = _checked_schema(data)
    try:
        names = set(io.get_untrusted_types(data=data)) - set(TRUSTED)
        unsafe = {f"{node['__module__']}.{node['__class__']}" for node in nodes_of(schema) if _is_unsafe(node)}
    except Exception as error:  # noqa: BLE001 - a damaged member may fail anywhere within skops
        raise _damaged(error) from None
    return sorted(":".join(name.rpartition(".")[::2]) for name in names | unsafe)


def load_estimators(data: bytes, trusted: frozenset[str] = frozenset()) -> list[Any]:
    """Return the estimators of a member."""
    from skops import io

    check_trusted(untrusted_types(data), trusted)
    try:
        found = io.loads(data, trusted=[*TRUSTED, *(name.replace(":", ".") for name in trusted)])
        check_trees(found)
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - a damaged member may fail anywhere within skops
        raise _damaged(error) from None
    if not isinstance(found, list):
        raise InputError("the estimators are damaged (they are not a list)")
    return found


def _checked_schema(data: bytes) -> Any:
    """Return the schema of a member after checking it, without making any object."""
    # Every node must use a loader from `LOADERS`, none of which calls a function that the file names, and every
    # decision tree must be well formed.
    members = members_of(data, "the member estimators.skops")
    try:
        schema = json.loads(members.get("schema.json", b""))
        for node in nodes_of(schema):
            if node["__loader__"] not in LOADERS:
                raise InputError(f"functions are not among what model files may hold ({node['__loader__']!s:.40})")
        check_tree_nodes(nodes_of(schema), members)
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - a damaged schema may have anything anywhere
        raise _damaged(error) from None
    return schema


def nodes_of(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield all nodes of a skops schema, at any depth, in no particular order."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if "__loader__" in node:
                yield node
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


def _is_unsafe(node: dict[str, Any]) -> bool:
    """Return whether a node describes a support vector machine, whose compiled code takes what is in the file
    on trust.
    """
    return str(node.get("__module__", "")).startswith("sklearn.svm.") and node.get("__class__") in UNSAFE


def _damaged(error: Exception) -> InputError:
    """Return the error for a member that cannot be read, with a short form of the cause."""
    return InputError(f"the estimators are damaged ({type(error).__name__}: {error!s:.100})")
