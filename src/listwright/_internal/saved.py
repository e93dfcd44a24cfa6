"""Names of listwright's classes in model files, so that classes can move, and files can make nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

StoredClass = TypeVar("StoredClass", bound=type[Any])

CLASSES: dict[str, type[Any]] = {}  # what a file may name; no other class is made from a file that nobody vouches for


def saved_as(name: str) -> Callable[[StoredClass], StoredClass]:
    """Class decorator: lets model files hold objects of the class, under a name that stays when the class moves."""

    def register(kind: StoredClass) -> StoredClass:
        CLASSES[name] = kind
        kind.__saved_as__ = name
        return kind

    return register


def saved_name(kind: type[Any]) -> str | None:
    """Return the name of a class in files; None for classes that were not registered, also where their base was."""
    name: str | None = vars(kind).get("__saved_as__")
    return name
