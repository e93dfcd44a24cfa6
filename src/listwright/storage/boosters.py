"""Gradient boosting models of LightGBM and XGBoost, in the formats of those libraries and read here alone.

Both libraries follow the node numbers of a model text on trust: truncated or changed texts abort the process or read
memory that is not theirs (seen with LightGBM 4.7.0 and XGBoost 3.2.0; see tests/storage/test_hostile.py). So the text
of a model file never reaches them. Its trees are checked and evaluated here (`_kernels.trees`), and predicting with a
loaded model needs neither library. Models from files predict and explain, and cannot be trained.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints, starts_of
from listwright._internal.extras import require_extra
from listwright._kernels.trees import box_shares, logistic, tree_sums
from listwright.errors import InputError
from listwright.storage.booster_formats import Trees, read_lightgbm, read_xgboost

READERS = {"txt": read_lightgbm, "json": read_xgboost}  # by the end of the member's name
KINDS = ("regressor", "ranker", "classifier")
CLASSIFIES = ("binary", "binary:logistic")
SCORES = (
    *("regression", "regression_l1", "huber", "fair", "quantile", "mape", "lambdarank", "rank_xendcg"),
    *("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror", "rank:ndcg", "rank:map", "rank:pairwise"),
)  # objectives whose prediction is the sum of the trees


@dataclass(frozen=True, eq=False)
class Boosted:
    """A fitted regressor or ranker, independent of the library that trained it."""

    text: str  # the model in the library's own format, kept so that it can be saved again unchanged
    format: str  # "txt" of LightGBM, "json" of XGBoost
    kind: str  # what the estimator was
    trees: Trees = field(repr=False)  # the checked trees

    def predict(self, table: Any) -> Floats:
        """Return the sum of the trees for each row of a table of shape (rows, columns)."""
        sums = tree_sums(self._table(table), self.trees.base, *self.trees.arrays)
        return np.asarray(sums, dtype=np.float64)

    def contributions(self, table: Any) -> Floats:
        """Return what each column adds to each prediction, shape (rows, columns + 1), with the base last."""
        boxes = self._boxes
        shares = box_shares(self._table(table), *boxes[:-1])
        return np.concatenate([shares, np.full((len(shares), 1), boxes.base + self.trees.base)], axis=1)

    def _table(self, table: Any) -> Floats:
        """Return the rows as float64, rounded to float32 first for XGBoost, which compares in single precision."""
        table = np.asarray(table, dtype=np.float32 if self.format == "json" else np.float64)
        if table.ndim != 2 or table.shape[1] != self.trees.n_columns:
            raise InputError(f"This boosting model takes {self.trees.n_columns} columns. Got shape {table.shape}.")
        return np.ascontiguousarray(table, dtype=np.float64)

    @cached_property
    def _boxes(self) -> Boxes:
        return boxes_of(self.trees)


@dataclass(frozen=True, eq=False)
class BoostedClassifier(Boosted):
    """A fitted classifier of two classes, independent of the library that trained it."""

    def predict_proba(self, table: Any) -> Floats:
        """Return the probabilities of both classes, shape (rows, 2)."""
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
    nodes, leaves, moved = 0, 0, []
    for roots, columns, thresholds, left, right, values in (model.trees.arrays for model in models):
        ends = (np.where(at >= 0, at + nodes, at - leaves) for at in (roots, left, right))
        moved.append((*ends, columns, thresholds, values))
        nodes, leaves = nodes + len(columns), leaves + len(values)
    roots, left, right, columns, thresholds, values = (np.concatenate(some) for some in zip(*moved, strict=True))
    return sum(model.trees.base for model in models), (roots, columns, thresholds, left, right, values)


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
    """Return the model inside a fitted LightGBM or XGBoost estimator; None for any other value."""
    if isinstance(value, Boosted):
        return value
    library = _library(value)
    if library is None or not value.__sklearn_is_fitted__():
        return None
    kind = LIBRARIES[library][type(value).__name__]
    member, text = _lightgbm_text(value) if library == "lightgbm" else _xgboost_text(value)
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
    package = require_extra(library, f"This model learns with {TITLES[library]}.", extra="boost")
    return getattr(package, name)(**_validate_parameters(parameters))


def _library(value: Any) -> str | None:
    """Return the library of an estimator, by the module and name of its class; None if it is neither."""
    library = type(value).__module__.partition(".")[0]
    return library if type(value).__name__ in LIBRARIES.get(library, {}) else None


def _lightgbm_text(value: Any) -> tuple[str, bytes]:
    booster = value.booster_
    return "0.txt", booster.model_to_string(num_iteration=booster.best_iteration).encode()


def _xgboost_text(value: Any) -> tuple[str, bytes]:
    """Return a member name and the JSON of a fitted XGBoost model, up to its best iteration."""
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
    blocks = [
        f"\nTree={number}\n" + "".join(_line(*pair) for pair in tree.items()) for number, tree in enumerate(trees)
    ]
    text = HEAD.format(last=model.n_features_in_ - 1) + "".join(blocks) + "\n\nend of trees\n"
    return read_booster("0.txt", text.encode(), "regressor")


def _histogram_tree(nodes: Any) -> dict[str, Any]:
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
