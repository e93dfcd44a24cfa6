"""From the JSON tree of a model file back to Python objects.

The counterpart of `encode`. A `Decoder` accepts only the node kinds that the encoder writes, makes only listwright's
registered classes and those that the caller trusts, and checks every field against its type hint. Constructors
run as usual; classes can add checks of their own with a method `validation_error`, which returns a message or "".
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache, partial
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Dtype
from listwright._internal.saved import CLASSES
from listwright.errors import InputError
from listwright.storage.boosters import LIBRARIES, Boosted, fresh_booster, read_booster
from listwright.storage.trust import trusted_class

DEEPEST = 64
_FITTED = re.compile(r"[a-z][a-z0-9_]*_")


class Decoder:
    """Rebuilds objects from the nodes of a model file; anything unknown is an `InputError`.

    Objects are made bottom-up: fields first, then the object. A node with an `id` can be referred to later by `{"same":
    id}`, so that shared parts are shared again.
    """

    def __init__(
        self,
        arrays: dict[str, NDArray[Any]],
        estimators: Sequence[Any],
        boosters: Mapping[str, bytes],
        trusted: frozenset[str] = frozenset(),
    ) -> None:
        self.arrays = arrays
        self.estimators = estimators
        self.boosters = boosters
        self.trusted = trusted
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
            "number": lambda text, node: _number(text),
            "same": self._same,
            "strings": lambda entries, node: _strings(entries, node.get("shape")),
            "tuple": lambda entries, node: tuple(self._list(entries)),
        }
        for library in LIBRARIES:
            self._kinds[library] = partial(self._fresh_booster, library)

    def decode(self, node: Any) -> Any:
        """Return the value of a node."""
        if node is None or isinstance(node, str | bool | int | float):
            return node
        self._depth += 1
        if self._depth > DEEPEST:
            raise InputError("it is nested too deeply")
        value = self._list(node) if isinstance(node, list) else self._decode_node(node)
        self._depth -= 1
        return value

    def _decode_node(self, node: dict[str, Any]) -> Any:
        """Decode a JSON object by the first key that names a known kind."""
        kind = next((kind for kind in self._kinds if kind in node), None)
        if kind is None:
            raise InputError(f"it contains a node of an unknown kind, {sorted(node)!r:.60}")
        return self._kinds[kind](node[kind], node)

    def _list(self, entries: Any) -> list[Any]:
        """Decode the entries of a list, in order."""
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
        """Return an object that was decoded before, by its id."""
        if not isinstance(number, int) or number not in self._by_id:
            raise InputError(f"it refers to object {number!r:.20}, which does not exist")
        return self._by_id[number]

    def _array(self, name: Any, node: dict[str, Any]) -> NDArray[Any]:
        """Return an array by name, transposed where the encoder stored a Fortran-ordered array."""
        if not isinstance(name, str) or name not in self.arrays:
            raise InputError(f"array {name!r:.20} is missing")
        return self.arrays[name].T if node.get("turned") is True else self.arrays[name]

    def _booster(self, name: Any, node: dict[str, Any]) -> Boosted:
        """Parse the text of a fitted boosting model; its library is not needed."""
        if not isinstance(name, str) or name not in self.boosters:
            raise InputError(f"booster {name!r:.20} is missing")
        return read_booster(name, self.boosters[name], str(node.get("kind")))

    def _fresh_booster(self, library: str, name: Any, node: dict[str, Any]) -> Any:
        """Make an unfitted LightGBM or XGBoost estimator from its parameters; the library must be installed."""
        return fresh_booster(library, name, self._fields(node))

    def _fields(self, node: dict[str, Any]) -> dict[str, Any]:
        """Decode the fields of an object, by name."""
        fields = node.get("fields")
        if not isinstance(fields, dict):
            raise InputError("an object has no fields")
        return {name: self.decode(entry) for name, entry in fields.items()}

    def _object(self, name: Any, node: dict[str, Any]) -> Any:
        """Make an object from its class name and fields, and check it."""
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
        _check_hints(CLASSES[name], fields)
        return _make(CLASSES[name], fields)


@cache
def declared_hints(kind: type[Any]) -> dict[str, Any]:
    """Return the type hints of a class body and, unless the class is a record, of its constructor, by name of the
    field.
    """
    hints = get_type_hints(kind, include_extras=True)
    return hints if _is_record(kind) else hints | get_type_hints(kind.__init__, include_extras=True)


def _check_hints(kind: Any, fields: dict[str, Any]) -> None:
    """Raise unless each field is what its type hint says."""
    hints = declared_hints(kind)
    for name, value in fields.items():
        if name in hints and not fits(value, hints[name]):
            raise InputError(f"field {name} of {kind.__name__} is of the wrong kind")


def _make(kind: type[Any], fields: dict[str, Any]) -> Any:
    """Make an object by calling its class, then set what was fitted."""
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(kind).parameters.items()
    accepted = {name: parameter for name, parameter in parameters if parameter.kind not in several}
    for name in fields:
        fitted = not _is_record(kind) and _FITTED.fullmatch(name) is not None and not _has_attribute(kind, name)
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


def _has_attribute(kind: type[Any], name: str) -> bool:
    """Return whether the class itself defines that name, for example as a property, which a file must not override."""
    return hasattr(kind, name)


def _at(entries: Sequence[Any], number: Any, what: str) -> Any:
    """Return an entry by its position; `what` names the kind of entry in the error message."""
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(entries):
        raise InputError(f"{what} {number!r:.20} is missing")
    return entries[number]


def _number(text: Any) -> float:
    """Return infinity or minus infinity, which JSON cannot express."""
    if text not in ("inf", "-inf"):
        raise InputError(f"{text!r:.20} is not a number")
    return float(text)


def _strings(entries: Any, shape: Any) -> NDArray[Any]:
    """Return an array of strings with the given shape."""
    # The product of the shape is computed with Python integers, so that a hostile shape cannot overflow.
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise InputError("an array of names is malformed")
    if not isinstance(shape, list) or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise InputError("it has names without a shape")
    if int(np.prod(shape, dtype=object)) != len(entries):
        raise InputError(f"it has {len(entries)} names for the shape {shape!r:.40}")
    return np.array(entries, dtype=np.str_).reshape(shape)


def _generator(state: Any) -> np.random.Generator:
    """Return a PCG64 random generator in the given state."""
    bits = np.random.PCG64()
    try:
        bits.state = state
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError("the state of its random numbers is damaged") from None
    return np.random.Generator(bits)


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
        return any(fits(value, option) for option in inner)
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
