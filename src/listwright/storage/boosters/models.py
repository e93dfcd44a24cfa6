"""Boosting models as they come from files. They predict and explain, and cannot be trained.

`read_booster` picks the reader by the ending of the member's name and checks that kind and objective go together. The
trees are evaluated by compiled functions in `listwright._kernels.trees`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints, starts_of
from listwright._kernels.trees import box_shares, logistic, tree_sums
from listwright.errors import InputError
from listwright.storage.boosters.formats import Trees, read_lightgbm, read_xgboost

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
        """Return what each column adds to each prediction, shape (rows, columns + 1); the last entry is the
        base value.
        """
        boxes = self._boxes
        shares = box_shares(self._table(table), *boxes[:-1])
        return np.concatenate([shares, np.full((len(shares), 1), boxes.base + self.trees.base)], axis=1)

    def _table(self, table: Any) -> Floats:
        """Return the rows as float64, rounded to float32 first where the library compares in single precision
        (XGBoost).
        """
        table = np.asarray(table, dtype=np.float32 if self.format == "json" else np.float64)
        if table.ndim != 2 or table.shape[1] != self.trees.n_columns:
            raise InputError(f"This boosting model takes {self.trees.n_columns} columns. Got shape {table.shape}.")
        return np.ascontiguousarray(table, dtype=np.float64)

    @cached_property
    def _boxes(self) -> Boxes:
        """The leaves as boxes, computed at the first call of `contributions`."""
        return boxes_of(self.trees)


@dataclass(frozen=True, eq=False)
class BoostedClassifier(Boosted):
    """A fitted classifier of two classes, independent of the library that trained it."""

    def predict_proba(self, table: Any) -> Floats:
        """Return the probabilities of both classes, shape (rows, 2), from the logistic function of the sum of the
        trees.
        """
        p = logistic(super().predict(table), self.trees.slope)
        return np.stack([1.0 - p, p], axis=1)


def read_booster(member: str, content: bytes, kind: str) -> Boosted:
    """Read a boosting model from a member of a file."""
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
    """Return the trees of several models as those of one, whose predictions are their sum."""
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
    """Return the boxes of all leaves."""
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
