"""Names of listwright's classes in model files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type[Any])

CLASSES: dict[str, type[Any]] = {}  # what a file may name; no other class is made from a file that nobody vouches for


def saved_as(name: str) -> Callable[[Kind], Kind]:
    """Lets model files hold objects of the class below, under a name that stays when the class moves.

    A file gives the constructor's arguments and what `fit` learned (attributes that end in _). Two methods are called
    where a class has them: `flaw()` tells what is wrong with an object that was read from a file ("" for nothing), and
    `slimmed()` gives the object without what only further learning needs.
    """

    def register(kind: Kind) -> Kind:
        CLASSES[name] = kind
        kind.__saved_as__ = name
        return kind

    return register


def saved_name(kind: type[Any]) -> str | None:
    """The name of a class in files; None for classes that are not listwright's."""
    found: str | None = vars(kind).get("__saved_as__")
    return found
