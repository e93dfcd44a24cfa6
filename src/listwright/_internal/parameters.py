"""scikit-learn's protocol for estimators, without importing scikit-learn before it is needed.

scikit-learn takes a second of processor time to import, as it loads scipy.stats and pandas with it, and building lists
from a saved model needs none of it. `Parameters` therefore takes the place of `sklearn.base.BaseEstimator`: `clone`,
`GridSearchCV`, `cross_val_score` and `Pipeline` ask for methods, not for that class.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any, Self, TypeVar

T = TypeVar("T")
LONGEST = 200  # characters of a parameter's value in a repr


class Parameters:
    """Base class of objects whose constructor only assigns its arguments: estimators, learners and features."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return [] if cls.__init__ is object.__init__ else list(_arguments(cls.__init__))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params: dict[str, Any] = {}
        for name in self._get_param_names():
            value = params[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{name}__{inner}": entry for inner, entry in value.get_params().items()}
        return dict(sorted(params.items()))

    def set_params(self, **params: Any) -> Self:
        known = self._get_param_names()
        inner: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, nested, rest = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for {type(self).__name__}. Its parameters are {', '.join(known)}."
                )
            if nested:
                inner.setdefault(name, {})[rest] = value
            else:
                setattr(self, name, value)
        for name, some in inner.items():
            getattr(self, name).set_params(**some)
        return self

    def __repr__(self) -> str:
        """Return the call that makes this object, with the arguments that differ from their defaults."""
        defaults = inspect.signature(type(self)).parameters
        shown = {name: repr(value) for name, value in self.get_params(deep=False).items()}
        changed = {name: text for name, text in shown.items() if text != repr(defaults[name].default)}
        return f"{type(self).__name__}({', '.join(f'{name}={_short(text)}' for name, text in changed.items())})"

    def _repr_html_(self) -> str:
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self))

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))


def clone(value: T) -> T:
    """Return an unfitted copy with the same parameters, as scikit-learn's `clone` does, which is asked for its own."""
    if not isinstance(value, Parameters):
        from sklearn.base import clone as sklearn_clone

        return sklearn_clone(value)
    if hasattr(value, "__sklearn_clone__"):
        return value.__sklearn_clone__()
    params = {name: _copy(param) for name, param in value.get_params(deep=False).items()}
    copy = type(value)(**params)
    for name, param in params.items():
        if getattr(copy, name) is not param:
            raise RuntimeError(f"Cannot clone {value!r}: the constructor does not assign {name!r} as it is.")
    return copy


def _copy(param: Any) -> Any:
    if type(param) in (list, tuple, set, frozenset):
        return type(param)(_copy(entry) for entry in param)
    if type(param) is dict:
        return {key: _copy(entry) for key, entry in param.items()}
    return clone(param) if hasattr(param, "get_params") and not isinstance(param, type) else deepcopy(param)


def check_fitted(model: Any) -> None:
    """Raise scikit-learn's `NotFittedError` unless the model is fitted, by its own `__sklearn_is_fitted__`."""
    if not model.__sklearn_is_fitted__():
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model)


def is_sklearn_estimator(value: Any) -> bool:
    """Return whether a value is an estimator of scikit-learn's class; none can exist while that is not imported."""
    base = sys.modules.get("sklearn.base")
    return base is not None and isinstance(value, base.BaseEstimator)


@cache
def _arguments(constructor: Callable[..., None]) -> tuple[str, ...]:
    arguments = list(inspect.signature(constructor).parameters.values())[1:]
    return tuple(sorted(argument.name for argument in arguments if argument.kind is not argument.VAR_KEYWORD))


def takes_nan(estimator: Any) -> bool:
    """Return whether it is an estimator that takes NaN, as its tags say, or trees that are named so."""
    if isinstance(estimator, str):
        return estimator in ("extra_trees", "boosting")
    if isinstance(estimator, type | Parameters) or not hasattr(estimator, "__sklearn_tags__"):
        return False
    return bool(estimator.__sklearn_tags__().input_tags.allow_nan)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}...{text[-LONGEST // 2 :]}"
