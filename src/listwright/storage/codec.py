"""From a model to a tree of plain JSON and back, with arrays, estimators and boosting models in tables beside it."""

from __future__ import annotations

import inspect
import math
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, partial
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Dtype
from listwright._internal.parameters import is_sklearn_estimator
from listwright._internal.saved import CLASSES, saved_name
from listwright.errors import InputError
from listwright.storage.archive import class_name, trusted_class
from listwright.storage.boosters import LIBRARIES, Boosted, as_booster, fresh_booster, fresh_parameters, read_booster


class Encoder:
    def __init__(self, *, slim: bool = False, numbers: bool = True) -> None:
        self.slim = slim
        self.numbers = numbers  # whether NaN is refused
        self.arrays: dict[str, NDArray[Any]] = {}
        self.estimators: list[Any] = []
        self.boosters: dict[str, str] = {}  # by name of the member
        self._seen: dict[int, tuple[Any, Any]] = {}  # by id: the object, held so that its id stays its own; its node

    def encode(self, value: Any) -> Any:
        if value is None or isinstance(value, str | bool | np.bool_):
            return bool(value) if isinstance(value, np.bool_) else value
        if isinstance(value, int | np.integer):
            return int(value)
        if isinstance(value, float | np.floating):
            return _encode_number(float(value)) if self.numbers else None
        if isinstance(value, list):
            return [self.encode(entry) for entry in value]
        if isinstance(value, tuple) and not hasattr(value, "_fields"):
            return {"tuple": [self.encode(entry) for entry in value]}
        if isinstance(value, Mapping):
            return {"dict": [[self.encode(key), self.encode(entry)] for key, entry in value.items()]}
        return self._encode_once(value)

    def _encode_once(self, value: Any) -> Any:
        # Every object that was seen is kept alive to the end: Python reuses the ids of objects that are freed.
        if id(value) in self._seen:
            return self._seen[id(value)][1]
        node = self._node(value)
        self._seen[id(value)] = value, {"same": node["id"]} if "id" in node else node
        return node

    def _node(self, value: Any) -> dict[str, Any]:
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
            member = f"boosters/{len(self.boosters)}.{booster.format}"
            self.boosters[member] = booster.text
            return {"booster": member, "kind": booster.kind}
        fresh = fresh_parameters(value)
        if fresh is not None:
            library = type(value).__module__.partition(".")[0]
            return {library: type(value).__name__, "fields": self._fields(fresh)}
        own = any(kind.__module__.partition(".")[0] == "listwright" for kind in type(value).__mro__)
        if is_sklearn_estimator(value) and not own:
            self.estimators.append(value)
            return {"estimator": len(self.estimators) - 1}
        return self._object(value, class_name(type(value)))

    def _array(self, array: NDArray[Any]) -> dict[str, Any]:
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
        state, number = state_of(value), len(self._seen)
        self._seen[id(value)] = value, {"same": number}
        return {"class": name, "id": number, "fields": self._fields(state)}

    def _fields(self, state: Mapping[str, Any]) -> dict[str, Any]:
        return {key: self.encode(entry) for key, entry in state.items()}


def state_of(value: Any) -> dict[str, Any]:
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


def _encode_number(value: float) -> Any:
    if math.isnan(value):
        raise InputError("The model contains NaN, so it was not saved. Check the training data.")
    return value if math.isfinite(value) else {"number": "inf" if value > 0 else "-inf"}


def _generator_state(generator: np.random.Generator) -> dict[str, Any]:
    """Return the state of a random generator as plain values. Only PCG64, numpy's default, can be stored."""
    state = generator.bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise InputError(f"random_state must be of numpy's default kind, PCG64. Got {state['bit_generator']}.")
    return dict(state)


DEEPEST = 64
_FITTED = re.compile(r"[a-z][a-z0-9_]*_")


class Decoder:
    """Rebuilds objects, fields first; a node with an `id` is shared with every later `{"same": id}`."""

    def __init__(
        self,
        arrays: dict[str, NDArray[Any]],
        estimators: Sequence[Any],
        boosters: Mapping[str, bytes],
        trusted: frozenset[str] = frozenset(),
    ) -> None:
        self.arrays, self.estimators, self.boosters, self.trusted = arrays, estimators, boosters, trusted
        self.models: list[tuple[Any, list[Any]]] = []  # with the objects that each is made of, inner ones first
        self._made: list[Any] = []
        self._by_id: dict[int, Any] = {}
        self._depth = 0
        self._kinds: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
            "array": self._array,
            "booster": self._booster,
            "class": self._object,
            "dict": self._dict,
            "estimator": lambda number, node: _at(self.estimators, number, "estimator"),
            "generator": lambda state, node: _generator(state),
            "number": lambda text, node: _decode_number(text),
            "same": self._same,
            "strings": lambda entries, node: _strings(entries, node.get("shape")),
            "tuple": lambda entries, node: tuple(self._list(entries)),
        }
        for library in LIBRARIES:
            self._kinds[library] = partial(self._fresh_booster, library)

    def decode(self, node: Any) -> Any:
        if node is None or isinstance(node, str | bool | int | float):
            return node
        self._depth += 1
        if self._depth > DEEPEST:
            raise InputError("it is nested too deeply")
        kind = "" if isinstance(node, list) else next((kind for kind in self._kinds if kind in node), None)
        if kind is None:
            raise InputError(f"it contains a node of an unknown kind, {sorted(node)!r:.60}")
        value = self._kinds[kind](node[kind], node) if kind else self._list(node)
        self._depth -= 1
        return value

    def _list(self, entries: Any) -> list[Any]:
        if not isinstance(entries, list):
            raise InputError("a list is malformed")
        return [self.decode(entry) for entry in entries]

    def _dict(self, pairs: Any, node: dict[str, Any]) -> dict[Any, Any]:
        """Decode a dict, which is stored as a list of [key, node] pairs so that keys need not be strings."""
        entries: dict[Any, Any] = {}
        for pair in pairs if isinstance(pairs, list) else [None]:
            if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str | int | float | bool | None):
                raise InputError("a dict is malformed")
            entries[pair[0]] = self.decode(pair[1])
        return entries

    def _same(self, number: Any, node: dict[str, Any]) -> Any:
        if not isinstance(number, int) or number not in self._by_id:
            raise InputError(f"it refers to object {number!r:.20}, which does not exist")
        return self._by_id[number]

    def _array(self, name: Any, node: dict[str, Any]) -> NDArray[Any]:
        if not isinstance(name, str) or name not in self.arrays:
            raise InputError(f"array {name!r:.20} is missing")
        return self.arrays[name].T if node.get("turned") is True else self.arrays[name]

    def _booster(self, name: Any, node: dict[str, Any]) -> Boosted:
        if not isinstance(name, str) or name not in self.boosters:
            raise InputError(f"booster {name!r:.20} is missing")
        return read_booster(name, self.boosters[name], str(node.get("kind")))

    def _fresh_booster(self, library: str, name: Any, node: dict[str, Any]) -> Any:
        return fresh_booster(library, name, self._fields(node))

    def _fields(self, node: dict[str, Any]) -> dict[str, Any]:
        fields = node.get("fields")
        if not isinstance(fields, dict):
            raise InputError("an object has no fields")
        return {name: self.decode(entry) for name, entry in fields.items()}

    def _object(self, name: Any, node: dict[str, Any]) -> Any:
        before = len(self._made)
        value = self._new(name if isinstance(name, str) else repr(name), self._fields(node))
        validation_error = value.validation_error() if hasattr(value, "validation_error") else ""
        if validation_error:
            raise InputError(f"{type(value).__name__}: {validation_error}")
        if isinstance(node.get("id"), int):
            self._by_id[node["id"]] = value
        self._made.append(value)
        if hasattr(value, "check_loaded"):
            self.models.append((value, self._made[before:]))
            del self._made[before:]
        return value

    def _new(self, name: str, fields: dict[str, Any]) -> Any:
        """Make an object of a registered class, after checking its fields against the hints, or of a trusted class."""
        if ":" in name:
            return _make(trusted_class(name, self.trusted), fields)
        if name not in CLASSES:
            raise InputError(f"it names the class {name!r:.60}, which is not part of listwright")
        kind: Any = CLASSES[name]
        hints = declared_hints(kind)
        for field, value in fields.items():
            if field in hints and not fits(value, hints[field]):
                raise InputError(f"field {field} of {kind.__name__} is of the wrong kind")
        return _make(kind, fields)


@cache
def declared_hints(kind: type[Any]) -> dict[str, Any]:
    """Return the type hints of a class body and, unless the class is a record, of its constructor, by name."""
    hints = get_type_hints(kind, include_extras=True)
    return hints if _is_record(kind) else hints | get_type_hints(kind.__init__, include_extras=True)


def _make(kind: type[Any], fields: dict[str, Any]) -> Any:
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(kind).parameters.items()
    accepted = {name: parameter for name, parameter in parameters if parameter.kind not in several}
    for name in fields:
        fitted = not _is_record(kind) and _FITTED.fullmatch(name) is not None and not hasattr(kind, name)
        if name not in accepted and not fitted:
            raise InputError(f"{kind.__name__} has no field {name!r:.40}")
    needed = [name for name, entry in accepted.items() if entry.default is entry.empty and name not in fields]
    if needed:
        raise InputError(f"field {needed[0]} of {kind.__name__} is missing")
    value = kind(**{name: entry for name, entry in fields.items() if name in accepted})
    for name in fields.keys() - accepted.keys():
        setattr(value, name, fields[name])
    return value


def _is_record(kind: type[Any]) -> bool:
    """Return whether a class is a dataclass or named tuple: its fields are exactly the arguments of its constructor."""
    return is_dataclass(kind) or issubclass(kind, tuple)


def _at(entries: Sequence[Any], number: Any, what: str) -> Any:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(entries):
        raise InputError(f"{what} {number!r:.20} is missing")
    return entries[number]


def _decode_number(text: Any) -> float:
    if text not in ("inf", "-inf"):
        raise InputError(f"{text!r:.20} is not a number")
    return float(text)


def _strings(entries: Any, shape: Any) -> NDArray[Any]:
    # The product of the shape is computed with Python integers, so that a hostile shape cannot overflow.
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise InputError("an array of names is malformed")
    if not isinstance(shape, list) or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise InputError("it has names without a shape")
    if int(np.prod(shape, dtype=object)) != len(entries):
        raise InputError(f"it has {len(entries)} names for the shape {shape!r:.40}")
    return np.array(entries, dtype=np.str_).reshape(shape)


def _generator(state: Any) -> np.random.Generator:
    bits = np.random.PCG64()
    try:
        bits.state = state
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError("the state of its random numbers is damaged") from None
    return np.random.Generator(bits)


def fits(value: Any, hint: Any) -> bool:
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
        return any(fits(value, option) for option in inner)
    if origin is Literal:
        return value in inner
    if origin is Annotated:
        return isinstance(value, np.ndarray) and Dtype(value.dtype.name) in inner
    if origin is None:
        return isinstance(hint, type) and isinstance(value, hint)
    return _fits_container(value, origin, inner)


def _fits_container(value: Any, origin: Any, inner: tuple[Any, ...]) -> bool:
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
