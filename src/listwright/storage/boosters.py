"""LightGBM models: saved as LightGBM's own text, read by this file alone.

The text is checked and its trees are evaluated here, so that a file never reaches a parser that trusts it, and so that
prediction does not need LightGBM.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats
from listwright._kernels.trees import box_shares, logistic, tree_sums
from listwright.errors import InputError, MissingExtra
from listwright.storage.booster_text import Trees, read_trees
from listwright.storage.leaf_boxes import Boxes, boxes_of

KINDS = {"LGBMRegressor": "regressor", "LGBMRanker": "ranker", "LGBMClassifier": "classifier"}
CHOICES = ("boosting_type", "class_weight", "device_type", "importance_type", "metric", "objective", "tree_learner")
PLAIN = ("regression", "regression_l1", "huber", "fair", "quantile", "mape", "lambdarank", "rank_xendcg")


@dataclass(frozen=True, eq=False)
class Boosted:
    """A LightGBM regressor or ranker as it was fitted; it only predicts."""

    text: str
    kind: str
    trees: Trees = field(repr=False)

    def predict(self, table: Any) -> Floats:
        """The sum of the trees."""
        table = np.asarray(table)
        if table.ndim != 2 or table.shape[1] != self.trees.n_columns:
            raise InputError(f"This LightGBM model takes {self.trees.n_columns} columns. Got shape {table.shape}.")
        return tree_sums(np.ascontiguousarray(table, dtype=np.float64), *self.trees.arrays)

    def contributions(self, table: Any) -> Floats:
        """(rows, columns + 1): what each column adds to the sum, as LightGBM's `pred_contrib`, and what none explains.

        These are Shapley values: what a column adds on average over all orders in which columns become known, where
        unknown ones go the ways of the training rows.
        """
        boxes = self._boxes
        shares = box_shares(np.ascontiguousarray(table, dtype=np.float64), *boxes[:-1])
        return np.concatenate([shares, np.full((len(shares), 1), boxes.base)], axis=1)

    @cached_property
    def _boxes(self) -> Boxes:
        return boxes_of(self.trees)


@dataclass(frozen=True, eq=False)
class BoostedClassifier(Boosted):
    """A LightGBM classifier of two classes as it was fitted."""

    def predict_proba(self, table: Any) -> Floats:
        """Probabilities of both classes."""
        p = logistic(super().predict(table), self.trees.slope)
        return np.stack([1.0 - p, p], axis=1)


def boosted(text: str, kind: str) -> Boosted:
    """A model from its text."""
    trees = read_trees(text)
    wanted = ("binary",) if kind == "classifier" else PLAIN
    if kind not in KINDS.values() or trees.objective not in wanted:
        raise InputError(f"a LightGBM {kind:.20} with the objective {trees.objective!r:.40} is not known")
    return (BoostedClassifier if kind == "classifier" else Boosted)(text, kind, trees)


def is_lightgbm(value: Any) -> bool:
    """Whether the value is a LightGBM estimator."""
    return type(value).__module__.partition(".")[0] == "lightgbm" and type(value).__name__ in KINDS


def is_fresh_booster(value: Any) -> bool:
    """Whether the value is a LightGBM estimator that is not fitted."""
    return is_lightgbm(value) and not value.__sklearn_is_fitted__()


def as_booster(value: Any) -> Boosted | None:
    """The model inside a fitted LightGBM estimator; None where it is something else."""
    if isinstance(value, Boosted):
        return value
    if not is_lightgbm(value):
        return None
    kind, booster = KINDS[type(value).__name__], value.booster_
    try:
        return boosted(booster.model_to_string(num_iteration=booster.best_iteration), kind)
    except InputError as error:
        raise InputError(f"This LightGBM model cannot be saved: {error}.") from None


def fresh_booster(name: Any, parameters: dict[str, Any]) -> Any:
    """A LightGBM estimator that is not fitted."""
    if not isinstance(name, str) or name not in KINDS:
        raise InputError(f"LightGBM has no estimator {name!r:.40} that models use")
    try:
        import lightgbm
    except ImportError:
        raise MissingExtra("This model learns with LightGBM, which is not installed.", extra="boost") from None
    return getattr(lightgbm, name)(**checked(parameters))


def checked(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters, if all are numbers or choices: LightGBM has some that name files to read."""
    for key, value in parameters.items():
        if not (value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and key in CHOICES)):
            raise InputError(f"a LightGBM model has {value!r:.40} for {key:.40}, which model files may not hold")
    return parameters
