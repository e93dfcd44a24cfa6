"""The state of a learner as named arrays, and back, bit for bit.

Used by `ListBandit.state` and `restore`. Names are paths such as "learner.sums_.0.gram".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright.errors import InputError
from listwright.learners import Learner
from listwright.policies import Policy

Arrays = dict[str, NDArray[Any]]
GROWING = ("rows_", "gains_", "weights_", "lists_")  # with every list that is learned from


def arrays_of(value: Any, name: str) -> Arrays:
    """Collect every number and array that a learner, dataclass or list of these holds, keyed by the path to it."""
    found: Arrays = {}
    for key, entry in _entries(value):
        if isinstance(entry, int | float | np.number | np.ndarray):
            found[f"{name}.{key}"] = np.array(entry, order="C")  # safetensors stores memory as it lies, rows or columns
        else:
            found |= arrays_of(entry, f"{name}.{key}")
    return found


def put_arrays(value: Any, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Set the arrays again in an object of the same structure; types of numbers and arrays are kept."""
    for key, entry in _entries(value):
        path = f"{name}.{key}"
        if isinstance(entry, int | float | np.number | np.ndarray):
            _put(value, key, _like(entry, arrays, path))
        else:
            put_arrays(entry, path, arrays)


def check_arrays(value: Any, name: str, arrays: Mapping[str, Any]) -> None:
    """Raise if arrays are missing or of another shape than the object's, before anything is set."""
    for path, array in arrays_of(value, name).items():
        many = int(path.rpartition(".")[2] in GROWING)  # whose number of rows is not that of the model
        if path not in arrays or np.shape(arrays[path])[many:] != array.shape[many:]:
            got = "nothing" if path not in arrays else f"shape {np.shape(arrays[path])}"
            raise InputError(f"This state belongs to another model: {path} must have shape {array.shape}. Got {got}.")


def _entries(value: Any) -> list[tuple[Any, Any]]:
    """Return the (key, value) pairs to store."""
    if isinstance(value, list):
        return list(enumerate(value))
    if is_dataclass(value):
        return [(field.name, getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Learner):
        learned = [(name, entry) for name, entry in vars(value).items() if name.endswith("_")]
        return [(name, entry) for name, entry in learned if not isinstance(entry, Policy)]
    return []


def _like(entry: Any, arrays: Mapping[str, NDArray[Any]], path: str) -> Any:
    """Return the stored array as the type of the entry that it replaces."""
    if isinstance(entry, np.ndarray):
        return np.array(arrays[path], dtype=entry.dtype)
    return type(entry)(np.asarray(arrays[path]).item())


def _put(value: Any, key: Any, entry: Any) -> None:
    """Set an entry of a list or an attribute of an object."""
    if isinstance(value, list):
        value[key] = entry
    else:
        setattr(value, key, entry)
