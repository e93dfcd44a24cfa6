"""Boosting models as they come from files. They predict and explain, and cannot be trained.

`boosted` picks the reader by the ending of the member's name and checks that kind and objective go together. The trees
are evaluated by compiled functions in `listwright._kernels.trees`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats
from listwright._kernels.trees import box_shares, logistic, tree_sums
from listwright.errors import InputError
from listwright.storage.boosters.leaf_boxes import Boxes, boxes_of
from listwright.storage.boosters.lightgbm_text import read_lightgbm
from listwright.storage.boosters.trees import Trees
from listwright.storage.boosters.xgboost_json import read_xgboost

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


def boosted(member: str, content: bytes, kind: str) -> Boosted:
    """Read a boosting model from a member of a file."""
    text, ending = content.decode(errors="replace"), member.rpartition(".")[2]
    if ending not in READERS:
        raise InputError(f"boosting models of the format {ending!r:.20} are not supported")
    trees = READERS[ending](text)
    if kind not in KINDS or trees.objective not in (CLASSIFIES if kind == "classifier" else SCORES):
        raise InputError(f"a {kind:.20} with the objective {trees.objective!r:.40} is not known")
    return (BoostedClassifier if kind == "classifier" else Boosted)(text, ending, kind, trees)


def scaled(model: Boosted, factor: float) -> Boosted:
    """Return a model of LightGBM's format whose predictions are those of another one times a factor."""
    lines = model.text.splitlines()
    for number, line in enumerate(lines):
        key, _, values = line.partition("=")
        if key == "leaf_value":
            lines[number] = f"{key}={' '.join(repr(factor * float(value)) for value in values.split())}"
    kept = [line for line in lines if not line.startswith("tree_sizes=")]  # lengths of the blocks, which are others now
    return boosted("0.txt", "\n".join(kept).encode(), model.kind)


def joined_trees(models: Sequence[Any]) -> tuple[Any, ...] | None:
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
