"""From the tree of a model file back to the model."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from listwright.errors import InputError
from listwright.storage.boosters import Boosted, fresh_booster
from listwright.storage.hints import fits
from listwright.storage.invariants import broken
from listwright.storage.registry import MODELS, class_of

DEEPEST = 64
_FITTED = re.compile(r"[a-z][a-z0-9_]*_")


class Decoder:
    """Makes what the nodes say, and nothing else: unknown nodes, classes and fields are errors."""

    def __init__(
        self, arrays: dict[str, NDArray[Any]], estimators: Sequence[Any], boosters: Sequence[Callable[[str], Boosted]]
    ) -> None:
        self.arrays = arrays
        self.estimators = estimators
        self.boosters = boosters
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
            "lightgbm": lambda name, node: fresh_booster(name, self._fields(node)),
            "number": lambda text, node: _number(text),
            "same": self._same,
            "strings": lambda entries, node: _strings(entries, node.get("shape")),
            "tuple": lambda entries, node: tuple(self._list(entries)),
        }

    def decode(self, node: Any) -> Any:
        """The value of a node."""
        if node is None or isinstance(node, str | bool | int | float):
            return node
        self._depth += 1
        if self._depth > DEEPEST:
            raise InputError("it is nested too deeply")
        value = self._list(node) if isinstance(node, list) else self._known(node)
        self._depth -= 1
        return value

    def _known(self, node: dict[str, Any]) -> Any:
        kind = next((kind for kind in self._kinds if kind in node), None)
        if kind is None:
            raise InputError(f"it has a node of an unknown kind, {sorted(node)!r:.60}")
        return self._kinds[kind](node[kind], node)

    def _list(self, entries: Any) -> list[Any]:
        if not isinstance(entries, list):
            raise InputError("it has a list that is none")
        return [self.decode(entry) for entry in entries]

    def _dict(self, pairs: Any, node: dict[str, Any]) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for pair in pairs if isinstance(pairs, list) else [None]:
            if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str | int | float | bool | None):
                raise InputError("it has a dict that is none")
            found[pair[0]] = self.decode(pair[1])
        return found

    def _same(self, number: Any, node: dict[str, Any]) -> Any:
        if not isinstance(number, int) or number not in self._by_id:
            raise InputError(f"it refers to object {number!r:.20}, which is not there")
        return self._by_id[number]

    def _array(self, name: Any, node: dict[str, Any]) -> NDArray[Any]:
        if not isinstance(name, str) or name not in self.arrays:
            raise InputError(f"array {name!r:.20} is missing")
        return self.arrays[name].T if node.get("turned") is True else self.arrays[name]

    def _booster(self, number: Any, node: dict[str, Any]) -> Boosted:
        return _at(self.boosters, number, "booster")(str(node.get("kind")))

    def _fields(self, node: dict[str, Any]) -> dict[str, Any]:
        fields = node.get("fields")
        if not isinstance(fields, dict):
            raise InputError("an object has no fields")
        return {name: self.decode(entry) for name, entry in fields.items()}

    def _object(self, name: Any, node: dict[str, Any]) -> Any:
        kind = class_of(name if isinstance(name, str) else repr(name))
        before = len(self._made)
        value = _made(kind, self._fields(node))
        problem = broken(value)
        if problem:
            raise InputError(f"{kind.__name__}: {problem}")
        if isinstance(node.get("id"), int):
            self._by_id[node["id"]] = value
        self._made.append(value)
        if name in MODELS:
            self.models.append((value, self._made[before:]))
            del self._made[before:]
        return value


def _made(kind: type[Any], fields: dict[str, Any]) -> Any:
    """An object from its fields, each checked against its type hint."""
    accepted = inspect.signature(kind).parameters
    record = is_dataclass(kind) or issubclass(kind, tuple)
    hints = get_type_hints(kind) | ({} if record else get_type_hints(kind.__init__))
    for name, value in fields.items():
        fitted = not record and _FITTED.fullmatch(name) is not None and not _defined(kind, name)
        if name not in accepted and not fitted:
            raise InputError(f"{kind.__name__} has no field {name!r:.40}")
        if name in hints and not fits(value, hints[name]):
            raise InputError(f"field {name} of {kind.__name__} is of the wrong kind")
    needed = [name for name, one in accepted.items() if one.default is one.empty and name not in fields]
    if needed:
        raise InputError(f"field {needed[0]} of {kind.__name__} is missing")
    value = kind(**{name: entry for name, entry in fields.items() if name in accepted})
    for name in fields.keys() - accepted.keys():
        setattr(value, name, fields[name])
    return value


def _defined(kind: type[Any], name: str) -> bool:
    """Whether the class itself has something of that name, such as a property, that a file must not cover up."""
    return hasattr(kind, name)


def _at(entries: Sequence[Any], number: Any, what: str) -> Any:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(entries):
        raise InputError(f"{what} {number!r:.20} is missing")
    return entries[number]


def _number(text: Any) -> float:
    if text not in ("inf", "-inf"):
        raise InputError(f"{text!r:.20} is no number")
    return float(text)


def _strings(entries: Any, shape: Any) -> NDArray[Any]:
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise InputError("it has names that are none")
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
