"""Checks values against type hints, so that a model file cannot put a value of another type into a field.

`decode` uses it on the fields of listwright's own classes. Only the hints that occur there are supported; an unknown
hint accepts nothing.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np

from listwright._internal.arrays import Dtype


def fits(value: Any, hint: Any) -> bool:
    """Return whether a value is of the hinted type; the entries of containers and the dtype of arrays are
    checked too.
    """
    # Follows the numeric tower of type checkers (an int is a float), but a bool is not an int, because a file that has
    # one in place of the other is damaged.
    if hint is Any:
        return True
    if hint is None or hint is type(None):
        return value is None
    if hint in (int, float):
        kinds = (int, float) if hint is float else int
        return isinstance(value, kinds) and not isinstance(value, bool)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin is Annotated:
        return isinstance(value, np.ndarray) and Dtype(value.dtype.name) in inner
    if origin is None:
        return isinstance(hint, type) and isinstance(value, hint)
    return _fits_container(value, origin, inner)


def _fits_container(value: Any, origin: Any, inner: tuple[Any, ...]) -> bool:
    """Return whether a value is a tuple, mapping or sequence of the hinted kind with entries that fit."""
    if origin is tuple and not (len(inner) == 2 and inner[1] is Ellipsis):
        return isinstance(value, tuple) and len(value) == len(inner) and all(map(fits, value, inner))
    if not isinstance(origin, type):
        return False
    if issubclass(origin, Mapping):
        return isinstance(value, dict) and all(fits(k, inner[0]) and fits(v, inner[1]) for k, v in value.items())
    if issubclass(origin, Sequence):
        kinds = (list, tuple) if origin not in (list, tuple) else origin
        return isinstance(value, kinds) and all(fits(entry, inner[0]) for entry in value)
    return False
