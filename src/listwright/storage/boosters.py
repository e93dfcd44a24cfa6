"""Gradient boosting models of LightGBM and XGBoost, in the formats of those libraries and read here alone.

Both libraries follow the node numbers of a model text on trust: truncated or changed texts abort the process or read
memory that is not theirs (seen with LightGBM 4.7.0 and XGBoost 3.2.0; see tests/storage/test_hostile.py). So the text
of a model file never reaches them. Its trees are checked and evaluated here (`_kernels.trees`), and predicting with a
loaded model needs neither library. Models from files predict and explain, and cannot be trained.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import Floats, Ints, starts_of
from listwright._internal.extras import require_extra
from listwright._kernels.trees import box_shares, logistic, tree_sums
from listwright.errors import InputError


class Tree(NamedTuple):
    """One tree: split nodes in order, with leaves as negative children (leaf i is -1 - i)."""

    columns: Ints  # by split, the column that it looks at
    thresholds: Floats  # by split, the highest value that goes left
    left: Ints  # by split, its children
    right: Ints
    leaves: Any  # in the precision that the library sums them in
    cover: Floats  # training rows by leaf, or the weight of these
    missing_right: Any  # by split, whether NaN goes right


class Trees(NamedTuple):
    """All trees of a model, with what is needed to turn their sum into a prediction."""

    n_columns: int  # width of the input
    objective: str  # the library's name of the loss
    arrays: tuple[Any, ...]  # roots, columns, thresholds, left, right, leaves: as the compiled function takes them
    cover: Floats  # by leaf
    missing_right: Any  # by split, whether NaN goes right
    slope: float = 1.0  # of the logistic function of a classifier
    base: float = 0.0  # what the leaves are added to


def concat_trees(trees: list[Tree], n_columns: int) -> tuple[tuple[Any, ...], Floats, Any]:
    for tree in trees:
        _check(tree, n_columns)
    arrays = _join((np.array([0 if len(tree.columns) else -1]), *tree[:5]) for tree in trees)
    cover, missing = (np.concatenate([getattr(tree, name) for tree in trees]) for name in ("cover", "missing_right"))
    return arrays, cover, missing


def _join(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Join roots, columns, thresholds, left, right and leaves; splits and leaves are numbered on from part to part."""
    splits, leaves, moved = 0, 0, []
    for roots, columns, thresholds, left, right, values in parts:
        roots, left, right = (np.where(at >= 0, at + splits, at - leaves) for at in (roots, left, right))
        moved.append((roots, columns, thresholds, left, right, values))
        splits, leaves = splits + len(columns), leaves + len(values)
    return tuple(np.concatenate(some) for some in zip(*moved, strict=True))


def _check(tree: Tree, n_columns: int) -> None:
    """Raise unless every split looks at an existing column and leads to later splits or to leaves."""
    splits = len(tree.leaves) - 1
    if splits < 0 or any(
        len(part) != splits for part in (tree.columns, tree.thresholds, *tree[2:4], tree.missing_right)
    ):
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


DEFAULT_LEFT = 2  # the bit of a split's decision type that sends missing values to the left
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
    n_leaves = _whole(keys, "num_leaves")
    if keys.get("num_cat", "0") != "0" or keys.get("is_linear", "0") != "0":
        raise InputError("LightGBM trees with categories or linear leaves are not supported")
    leaves = _floats(keys.get("leaf_value", ""))
    if n_leaves < 1 or len(leaves) != n_leaves:
        raise InputError("a LightGBM tree has leaves without values")
    if n_leaves == 1:
        nothing = np.zeros(0, dtype=np.int64)
        return Tree(nothing, np.zeros(0), nothing, nothing, leaves, np.ones(1), np.zeros(0, dtype=bool))
    names = ("split_feature", "left_child", "right_child", "decision_type", "leaf_count")
    columns, left, right, kinds, counts = (_ints(keys.get(name, "")) for name in names)
    if len(kinds) != n_leaves - 1 or (((kinds >> 2) & 3) == ZERO_IS_MISSING).any() or (kinds & 1).any():
        raise InputError("LightGBM trees with zero_as_missing or categories are not supported")
    thresholds = _floats(keys.get("threshold", ""))
    if len(thresholds) != len(kinds):
        raise InputError("a tree has splits or leaves that lack something")
    right_if_nan = np.where((kinds >> 2) & 3, (kinds & DEFAULT_LEFT) == 0, thresholds < 0)  # or else NaN counts as 0
    return Tree(columns, thresholds, left, right, leaves, counts.astype(np.float64), right_if_nan)


def _pairs(block: str) -> Iterator[tuple[str, str]]:
    for line in block.split("\n"):
        key, equals, value = line.partition("=")
        if equals:
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


def _floats(text: str) -> Floats:
    try:
        numbers = np.array([float(part) for part in text.split()], dtype=np.float64)
    except ValueError:
        numbers = np.zeros(0)
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
        arrays, cover, missing_right = concat_trees(trees, n_columns)
        base = _base(str(parameters["base_score"]), objective)
        return Trees(n_columns, objective, arrays, cover, missing_right, base=base)
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
    left, right, columns = (_array(node[key], np.int64) for key in ("left_children", "right_children", "split_indices"))
    conditions, cover = (_array(node[key], np.float32) for key in ("split_conditions", "sum_hessian"))
    if any(node.get("split_type", [])) or any(node.get("categories", [])):
        raise InputError("XGBoost trees with categories are not supported")
    order = _from_root(left, right)
    leaf = left[order] == -1
    splits, leaves = order[~leaf], order[leaf]
    number = np.zeros(len(left), dtype=np.int64)
    number[splits], number[leaves] = np.arange(len(splits)), -1 - np.arange(len(leaves))
    below = np.nextafter(conditions[splits], np.float32(-np.inf)).astype(np.float64)  # left is below the threshold
    children = number[left[splits]], number[right[splits]]
    right_if_nan = ~_array(node["default_left"], np.int64)[splits].astype(bool)
    return Tree(columns[splits], below, *children, conditions[leaves], cover[leaves].astype(np.float64), right_if_nan)


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


READERS = {"txt": read_lightgbm, "json": read_xgboost}  # by the end of the member's name
KINDS = ("regressor", "ranker", "classifier")
CLASSIFIES = ("binary", "binary:logistic")
SCORES = (
    *("regression", "regression_l1", "huber", "fair", "quantile", "mape", "lambdarank", "rank_xendcg"),
    *("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror", "rank:ndcg", "rank:map", "rank:pairwise"),
)  # objectives whose prediction is the sum of the trees


@dataclass(frozen=True, eq=False)
class Boosted:
    text: str  # the model in the library's own format, kept so that it can be saved again unchanged
    format: str  # "txt" of LightGBM, "json" of XGBoost
    kind: str  # what the estimator was
    trees: Trees = field(repr=False)  # the checked trees

    def predict(self, table: Any) -> Floats:
        table, (roots, columns, *rest) = self._table(table), self.trees.arrays
        missing = np.isnan(table)
        if missing.any():  # each column twice: NaN goes right, and splits that send it to the left see -inf
            table = np.concatenate([np.where(missing, -np.inf, table), table], axis=1)
            columns = columns + self.trees.n_columns * self.trees.missing_right
        return np.asarray(tree_sums(table, self.trees.base, roots, columns, *rest), dtype=np.float64)

    def contributions(self, table: Any) -> Floats:
        """Return what each column adds to each prediction, shape (rows, columns + 1), with the base last."""
        boxes = self._boxes
        shares = box_shares(self._table(table), *boxes[:-1])
        return np.concatenate([shares, np.full((len(shares), 1), boxes.base + self.trees.base)], axis=1)

    def _table(self, table: Any) -> Floats:
        """Return the rows as float64, rounded to float32 first for XGBoost, which compares in single precision."""
        table = table.toarray() if sparse.issparse(table) else table
        table = np.asarray(table, dtype=np.float32 if self.format == "json" else np.float64)
        if table.ndim != 2 or table.shape[1] != self.trees.n_columns:
            raise InputError(f"This boosting model takes {self.trees.n_columns} columns. Got shape {table.shape}.")
        return np.ascontiguousarray(table, dtype=np.float64)

    @cached_property
    def _boxes(self) -> Boxes:
        return boxes_of(self.trees)


@dataclass(frozen=True, eq=False)
class BoostedClassifier(Boosted):
    def predict_proba(self, table: Any) -> Floats:
        p = logistic(super().predict(table), self.trees.slope)
        return np.stack([1.0 - p, p], axis=1)


def read_booster(member: str, content: bytes, kind: str) -> Boosted:
    text, ending = content.decode(errors="replace"), member.rpartition(".")[2]
    if ending not in READERS:
        raise InputError(f"boosting models of the format {ending!r:.20} are not supported")
    trees = READERS[ending](text)
    if kind not in KINDS or trees.objective not in (CLASSIFIES if kind == "classifier" else SCORES):
        raise InputError(f"a {kind:.20} with the objective {trees.objective!r:.40} is not known")
    return (BoostedClassifier if kind == "classifier" else Boosted)(text, ending, kind, trees)


def scale_booster(model: Boosted, factor: float) -> Boosted:
    """Return a model of LightGBM's format whose predictions are those of another one times a factor."""
    lines = model.text.splitlines()
    for number, line in enumerate(lines):
        key, _, values = line.partition("=")
        if key == "leaf_value":
            lines[number] = f"{key}={' '.join(repr(factor * float(value)) for value in values.split())}"
    kept = [line for line in lines if not line.startswith("tree_sizes=")]  # lengths of the blocks, which are others now
    return read_booster("0.txt", "\n".join(kept).encode(), model.kind)


def combine_trees(models: Sequence[Any]) -> tuple[Any, ...] | None:
    if not models or not all(isinstance(model, Boosted) for model in models):
        return None
    return sum(model.trees.base for model in models), _join(model.trees.arrays for model in models)


Sides = dict[int, tuple[float, float, float]]  # by column: above, up to, share of the training rows


class Boxes(NamedTuple):
    """The boxes of all leaves of all trees, as flat arrays; the sides of leaf i are `starts[i]` to `starts[i + 1]`."""

    starts: Ints  # by leaf
    columns: Ints  # by side, the column that it bounds
    above: Floats  # by side, the interval: above < x <= up_to
    up_to: Floats
    shares: Floats  # of the training rows that a side keeps, among those that got that far
    values: Floats  # by leaf
    base: float  # mean over the training rows of the sum of all trees


def boxes_of(trees: Trees) -> Boxes:
    roots, columns, thresholds, left, right, leaves = trees.arrays
    counts = _counts(trees)
    leaf_sides: list[tuple[int, Sides]] = []
    base = 0.0
    for root in roots.tolist():
        stack: list[tuple[int, Sides]] = [(root, {})]
        while stack:
            node, sides = stack.pop()
            if node < 0:
                leaf_sides.append((-1 - node, sides))
                base += leaves[-1 - node] * counts(node) / counts(root)
                continue
            column, at = int(columns[node]), float(thresholds[node])
            over, under, share = sides.get(column, (-np.inf, np.inf, 1.0))
            low, high = int(left[node]), int(right[node])
            stack.append((high, sides | {column: (max(over, at), under, share * counts(high) / counts(node))}))
            stack.append((low, sides | {column: (over, min(under, at), share * counts(low) / counts(node))}))
    table = np.array([side for _, sides in leaf_sides for side in sides.values()]).reshape(-1, 3)
    numbers = np.array([column for _, sides in leaf_sides for column in sides], dtype=np.int64)
    starts = starts_of([len(sides) for _, sides in leaf_sides])
    above, up_to, shares = table.T.copy()
    return Boxes(starts, numbers, above, up_to, shares, leaves[[leaf for leaf, _ in leaf_sides]], base)


def _counts(trees: Trees) -> Any:
    """Return a function from a node number, or a leaf as -1 - i, to its training rows."""
    left, right = trees.arrays[3:5]
    inner = np.zeros(len(left))

    def count(node: int) -> float:
        return float(inner[node] if node >= 0 else trees.cover[-1 - node])

    for node in range(len(left) - 1, -1, -1):  # children stand behind their parents
        inner[node] = count(left[node]) + count(right[node])
    return count


LIBRARIES = {
    "lightgbm": {"LGBMRegressor": "regressor", "LGBMRanker": "ranker", "LGBMClassifier": "classifier"},
    "xgboost": {"XGBRegressor": "regressor", "XGBRanker": "ranker", "XGBClassifier": "classifier"},
}
TITLES = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}
CHOICES = {
    *("boosting_type", "class_weight", "device_type", "importance_type", "metric", "objective", "tree_learner"),
    *("booster", "device", "eval_metric", "grow_policy", "multi_strategy", "sampling_method", "tree_method"),
}  # parameters that are words; others may name files to read


def as_booster(value: Any) -> Boosted | None:
    if isinstance(value, Boosted):
        return value
    library = _library(value)
    if library is None or not value.__sklearn_is_fitted__():
        return None
    kind = LIBRARIES[library][type(value).__name__]
    member, text = _text_of(value, library)
    try:
        return read_booster(member, text, kind)
    except InputError as error:
        raise InputError(f"This {TITLES[library]} model cannot be saved: {error}.") from None


def fresh_parameters(value: Any) -> dict[str, Any] | None:
    """Return the parameters of a LightGBM or XGBoost estimator, to store it unfitted; None for any other value."""
    library = _library(value)
    if library is None:
        return None
    parameters = value.get_params(deep=False)
    if library == "xgboost":
        _check_missing(value)
        parameters = {key: entry for key, entry in parameters.items() if entry is not None and key != "missing"}
    return _validate_parameters(parameters)


def fresh_booster(library: str, name: Any, parameters: dict[str, Any]) -> Any:
    if not isinstance(name, str) or name not in LIBRARIES[library]:
        raise InputError(f"{TITLES[library]} has no estimator {name!r:.40} that models use")
    checked = _validate_parameters(parameters)
    return getattr(require_extra(library, f"This model learns with {TITLES[library]}.", extra="boost"), name)(**checked)


def _library(value: Any) -> str | None:
    library = type(value).__module__.partition(".")[0]
    return library if type(value).__name__ in LIBRARIES.get(library, {}) else None


def _text_of(value: Any, library: str) -> tuple[str, bytes]:
    """Return a member name and the text of a fitted model, up to its best iteration."""
    if library == "lightgbm":
        return "0.txt", value.booster_.model_to_string(num_iteration=value.booster_.best_iteration).encode()
    _check_missing(value)
    booster = value.get_booster()
    best = booster.attr("best_iteration")  # of early stopping: predictions stop there
    return "0.json", bytes((booster if best is None else booster[: int(best) + 1]).save_raw("json"))


def _check_missing(value: Any) -> None:
    if not math.isnan(value.missing):
        raise InputError(f"An XGBoost model with missing={value.missing!r} cannot be saved. Leave it at NaN.")


def _validate_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    for key, value in parameters.items():
        if not (value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and key in CHOICES)):
            raise InputError(f"a boosting model has {value!r:.40} for {key:.40}, which model files may not hold")
    return parameters


HEAD = "tree\nnum_tree_per_iteration=1\nobjective=regression\nmax_feature_idx={last}\n"


def from_histogram(model: Any) -> Boosted:
    # The estimator must have been fitted on numeric columns without missing values. Its baseline prediction becomes a
    # first tree with a single leaf, so that the sum of all trees equals the estimator's prediction.
    base = {"num_leaves": [1], "leaf_value": [float(model._baseline_prediction.item())]}
    trees = [base, *(_histogram_tree(round_[0].nodes) for round_ in model._predictors)]
    text = HEAD.format(last=model.n_features_in_ - 1)
    for number, tree in enumerate(trees):
        lines = (f"{key}={' '.join(map(repr, values))}\n" for key, values in tree.items())  # repr keeps all digits
        text += f"\nTree={number}\n" + "".join(lines)
    return read_booster("0.txt", (text + "\n\nend of trees\n").encode(), "regressor")


def _histogram_tree(nodes: Any) -> dict[str, Any]:
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
