"""scikit-learn estimators inside a model, in one skops member; only types that run no code of the file's choice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from skops import io as skops_io

from listwright.errors import InputError
from listwright.storage.archive import members_of
from listwright.storage.trees import check_tree_nodes, check_trees

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
    """All estimators as one member, refused at once where it could not be read again."""
    try:
        data = bytes(skops_io.dumps(list(estimators)))
    except Exception as error:  # noqa: BLE001 - whatever an estimator does when it is written is told by its name
        names = ", ".join(sorted({type(one).__name__ for one in estimators}))
        raise InputError(f"{names} cannot be saved: {error!s:.200}.") from None
    try:
        load_estimators(data, len(estimators))
    except InputError as error:
        raise InputError(f"These estimators cannot be saved: {error}.") from None
    return data


def load_estimators(data: bytes, count: int | None = None) -> list[Any]:
    """The estimators, after every check that can be made before and after."""
    members = members_of(data, "the member estimators.skops")
    try:
        schema = json.loads(members.get("schema.json", b""))
        _check_nodes(schema)
        check_tree_nodes(nodes_of(schema), members)
        untrusted = [name for name in skops_io.get_untrusted_types(data=data) if name not in TRUSTED]
        if untrusted:
            raise InputError(f"{untrusted[0]:.80} is not among the types that model files may hold")
        found = skops_io.loads(data, trusted=list(TRUSTED))
        check_trees(found)
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - a damaged member may fail anywhere within skops
        raise InputError(f"the estimators are damaged ({type(error).__name__}: {error!s:.100})") from None
    if not isinstance(found, list) or (count is not None and len(found) != count):
        raise InputError("the estimators are damaged (they are no list)")
    return found


def nodes_of(schema: Any) -> Iterator[dict[str, Any]]:
    """All nodes of a skops schema."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if "__loader__" in node:
                yield node
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


def _check_nodes(schema: Any) -> None:
    for node in nodes_of(schema):
        if node["__loader__"] not in LOADERS:
            raise InputError(f"functions are not among what model files may hold ({node['__loader__']!s:.40})")
        if str(node.get("__module__", "")).startswith("sklearn.svm.") and node.get("__class__") in UNSAFE:
            raise InputError(f"{node['__class__']} is not among the types that model files may hold")
