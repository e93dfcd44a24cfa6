"""Estimators of LightGBM and XGBoost: fitted ones as texts for model files, unfitted ones as their parameters.

Only here do the libraries appear, and only on the way in, or to make an unfitted estimator from checked parameters.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from listwright._internal.arrays import Ints
from listwright._internal.extras import require_extra
from listwright.errors import InputError
from listwright.storage.boosters.models import Boosted, read_booster

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
    """Make an unfitted estimator."""
    if not isinstance(name, str) or name not in LIBRARIES[library]:
        raise InputError(f"{TITLES[library]} has no estimator {name!r:.40} that models use")
    package = require_extra(library, f"This model learns with {TITLES[library]}.", extra="boost")
    return getattr(package, name)(**_validate_parameters(parameters))


def _library(value: Any) -> str | None:
    """Return the library of an estimator, by the module and name of its class; None if it is neither."""
    library = type(value).__module__.partition(".")[0]
    return library if type(value).__name__ in LIBRARIES.get(library, {}) else None


def _lightgbm_text(value: Any) -> tuple[str, bytes]:
    """Return a member name and the text of a fitted LightGBM model, up to its best iteration."""
    booster = value.booster_
    return "0.txt", booster.model_to_string(num_iteration=booster.best_iteration).encode()


def _xgboost_text(value: Any) -> tuple[str, bytes]:
    """Return a member name and the JSON of a fitted XGBoost model, up to its best iteration."""
    _check_missing(value)
    booster = value.get_booster()
    best = booster.attr("best_iteration")  # of early stopping: predictions stop there
    return "0.json", bytes((booster if best is None else booster[: int(best) + 1]).save_raw("json"))


def _check_missing(value: Any) -> None:
    """Raise unless XGBoost's marker for missing values is NaN, as the reader here knows no other."""
    if not math.isnan(value.missing):
        raise InputError(f"An XGBoost model with missing={value.missing!r} cannot be saved. Leave it at NaN.")


def _validate_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters if all are numbers or known choices."""
    for key, value in parameters.items():
        if not (value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and key in CHOICES)):
            raise InputError(f"a boosting model has {value!r:.40} for {key:.40}, which model files may not hold")
    return parameters


HEAD = "tree\nnum_tree_per_iteration=1\nobjective=regression\nmax_feature_idx={last}\n"


def from_histogram(model: Any) -> Boosted:
    """Return the trees of a fitted `HistGradientBoostingRegressor` as a `Boosted` model."""
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
