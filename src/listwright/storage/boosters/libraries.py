"""Estimators of LightGBM and XGBoost: fitted ones as texts for model files, unfitted ones as their parameters.

Only here do the libraries appear, and only on the way in, or to make an unfitted estimator from checked parameters.
"""

from __future__ import annotations

import math
from typing import Any

from listwright._internal.extras import require_extra
from listwright.errors import InputError
from listwright.storage.boosters.models import Boosted, boosted

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
        return boosted(member, text, kind)
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
    return _checked(parameters)


def fresh_booster(library: str, name: Any, parameters: dict[str, Any]) -> Any:
    """Make an unfitted estimator."""
    if not isinstance(name, str) or name not in LIBRARIES[library]:
        raise InputError(f"{TITLES[library]} has no estimator {name!r:.40} that models use")
    package = require_extra(library, f"This model learns with {TITLES[library]}.", extra="boost")
    return getattr(package, name)(**_checked(parameters))


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


def _checked(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters if all are numbers or known choices."""
    for key, value in parameters.items():
        if not (value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and key in CHOICES)):
            raise InputError(f"a boosting model has {value!r:.40} for {key:.40}, which model files may not hold")
    return parameters
