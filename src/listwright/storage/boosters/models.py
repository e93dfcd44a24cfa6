"""Boosting models as they come from files: they only predict."""

from __future__ import annotations

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
    """A regressor or ranker as it was fitted."""

    text: str
    format: str  # "txt" of LightGBM, "json" of XGBoost
    kind: str
    trees: Trees = field(repr=False)

    def predict(self, table: Any) -> Floats:
        """The sum of the trees."""
        sums = tree_sums(self._table(table), self.trees.base, *self.trees.arrays)
        return np.asarray(sums, dtype=np.float64)

    def contributions(self, table: Any) -> Floats:
        """(rows, columns + 1): what each column adds to the sum, as the libraries' `pred_contrib`, and the rest.

        These are Shapley values: what a column adds on average over all orders in which columns become known, where
        unknown ones go the ways of the training rows.
        """
        boxes = self._boxes
        shares = box_shares(self._table(table), *boxes[:-1])
        return np.concatenate([shares, np.full((len(shares), 1), boxes.base + self.trees.base)], axis=1)

    def _table(self, table: Any) -> Floats:
        """The rows in the precision that the library compares them in."""
        table = np.asarray(table, dtype=np.float32 if self.format == "json" else np.float64)
        if table.ndim != 2 or table.shape[1] != self.trees.n_columns:
            raise InputError(f"This boosting model takes {self.trees.n_columns} columns. Got shape {table.shape}.")
        return np.ascontiguousarray(table, dtype=np.float64)

    @cached_property
    def _boxes(self) -> Boxes:
        return boxes_of(self.trees)


@dataclass(frozen=True, eq=False)
class BoostedClassifier(Boosted):
    """A classifier of two classes as it was fitted."""

    def predict_proba(self, table: Any) -> Floats:
        """Probabilities of both classes."""
        p = logistic(super().predict(table), self.trees.slope)
        return np.stack([1.0 - p, p], axis=1)


def boosted(member: str, content: bytes, kind: str) -> Boosted:
    """A model from a member of a file."""
    text, ending = content.decode(errors="replace"), member.rpartition(".")[2]
    if ending not in READERS:
        raise InputError(f"boosting models of the format {ending!r:.20} are not known")
    trees = READERS[ending](text)
    if kind not in KINDS or trees.objective not in (CLASSIFIES if kind == "classifier" else SCORES):
        raise InputError(f"a {kind:.20} with the objective {trees.objective!r:.40} is not known")
    return (BoostedClassifier if kind == "classifier" else Boosted)(text, ending, kind, trees)
