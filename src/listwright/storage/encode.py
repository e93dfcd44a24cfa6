"""From a model to a tree of plain JSON, with arrays, estimators and boosting models in tables beside it.

The counterpart of `decode`. Objects are described by the name of their class and their state: the fields of a record,
or the arguments of the constructor plus fitted attributes, which end in "_" as in scikit-learn.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright._internal.parameters import is_sklearn_estimator
from listwright._internal.saved import saved_name
from listwright.errors import InputError
from listwright.storage.boosters import Boosted, as_booster, fresh_parameters
from listwright.storage.trust import class_name


class Encoder:
    """Turns an object and everything that it holds into JSON nodes."""

    def __init__(self, *, slim: bool = False, numbers: bool = True) -> None:
        self.slim = slim
        self.numbers = numbers  # whether NaN is refused
        self.arrays: dict[str, NDArray[Any]] = {}
        self.estimators: list[Any] = []
        self.boosters: dict[str, str] = {}  # by name of the member
        self._seen: dict[int, tuple[Any, Any]] = {}  # by id: the object, held so that its id stays its own; its node

    def encode(self, value: Any) -> Any:
        """Return the JSON node of a value."""
        if value is None or isinstance(value, str | bool | np.bool_):
            return bool(value) if isinstance(value, np.bool_) else value
        if isinstance(value, int | np.integer):
            return int(value)
        if isinstance(value, float | np.floating):
            return _number(float(value)) if self.numbers else None
        if isinstance(value, list):
            return [self.encode(entry) for entry in value]
        if isinstance(value, tuple) and not hasattr(value, "_fields"):
            return {"tuple": [self.encode(entry) for entry in value]}
        if isinstance(value, Mapping):
            return {"dict": [[self.encode(key), self.encode(entry)] for key, entry in value.items()]}
        return self._encode_once(value)

    def _encode_once(self, value: Any) -> Any:
        """Encode an object, or refers back to it if it has been encoded before."""
        # Every object that was seen is kept alive until the end, because Python reuses the ids of objects that are
        # freed.
        if id(value) in self._seen:
            return self._seen[id(value)][1]
        node = self._node(value)
        again = {"same": node["id"]} if "id" in node else node
        self._seen[id(value)] = value, again
        return node

    def _node(self, value: Any) -> dict[str, Any]:
        """Encode an object that is met for the first time."""
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.random.Generator):
            return {"generator": _generator_state(value)}
        if self.slim and hasattr(value, "without_training_state"):
            value = value.without_training_state()
        name = saved_name(type(value))
        if name is not None:
            return self._object(value, name)
        booster = as_booster(value)
        if booster is not None:
            return self._booster(booster)
        fresh = fresh_parameters(value)
        if fresh is not None:
            library = type(value).__module__.partition(".")[0]
            return {library: type(value).__name__, "fields": self._fields(fresh)}
        if is_sklearn_estimator(value) and not _is_part(value):
            self.estimators.append(value)
            return {"estimator": len(self.estimators) - 1}
        return self._object(value, class_name(type(value)))

    def _booster(self, booster: Boosted) -> dict[str, Any]:
        """Add the text of a boosting model to the table and return a node that names it."""
        name = f"boosters/{len(self.boosters)}.{booster.format}"
        self.boosters[name] = booster.text
        return {"booster": name, "kind": booster.kind}

    def _array(self, array: NDArray[Any]) -> dict[str, Any]:
        """Add an array to the table and return a node that names it."""
        # Fortran-ordered arrays are stored transposed and marked as "turned", so that their memory layout, and with it
        # the rounding of matrix products, is the same after loading.
        if array.dtype.kind == "U":
            return {"strings": array.ravel().tolist(), "shape": list(array.shape)}
        if array.dtype.kind not in "biuf":
            raise InputError(f"A model file cannot hold an array of {array.dtype}.")
        name = str(len(self.arrays))
        turned = array.flags.f_contiguous and not array.flags.c_contiguous
        self.arrays[name] = array.T if turned else array
        return {"array": name, "turned": True} if turned else {"array": name}

    def _object(self, value: Any, name: str) -> dict[str, Any]:
        """Encode an object as its class name, an id and its fields; the id is registered first, so that cycles end."""
        state = state_of(value)
        number = len(self._seen)
        self._seen[id(value)] = value, {"same": number}
        return {"class": name, "id": number, "fields": self._fields(state)}

    def _fields(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Encode the values of a state, by name."""
        return {key: self.encode(entry) for key, entry in state.items()}


def state_of(value: Any) -> dict[str, Any]:
    """Return what an object is made of, by name."""
    # For other objects they are the arguments of the constructor, which must be kept under their own names, and the
    # fitted attributes, whose names end in "_".
    left_out = getattr(type(value), "not_saved", ())
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value) if field.name not in left_out}
    if isinstance(value, tuple):
        return dict(value._asdict())  # type: ignore[attr-defined]
    arguments = [name for name in inspect.signature(type(value)).parameters if hasattr(value, name)]
    fitted = [name for name in vars(value) if name.endswith("_") and not name.startswith("_") and name not in left_out]
    unknown = set(vars(value)) - {*arguments, *fitted, *left_out}
    if unknown:
        raise InputError(
            f"A model file cannot hold attribute {min(unknown)!r} of {type(value).__name__}: it holds the arguments of"
            " the constructor, under their names, and what is learned, under names that end in _"
        )
    return {name: getattr(value, name) for name in [*arguments, *fitted]}


def _is_part(value: Any) -> bool:
    """Return whether the class derives from one of listwright's, such as Features or Learner, and is written as those
    are.
    """
    return any(kind.__module__.partition(".")[0] == "listwright" for kind in type(value).__mro__)


def _number(value: float) -> Any:
    """Return a JSON number, or a node for plus or minus infinity; NaN is an error."""
    if math.isnan(value):
        raise InputError("The model contains NaN, so it was not saved. Check the training data.")
    return value if math.isfinite(value) else {"number": "inf" if value > 0 else "-inf"}


def _generator_state(generator: np.random.Generator) -> dict[str, Any]:
    """Return the state of a random generator as plain values. Only PCG64, numpy's default, can be stored."""
    state = generator.bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise InputError(f"random_state must be of numpy's default kind, PCG64. Got {state['bit_generator']}.")
    return dict(state)
