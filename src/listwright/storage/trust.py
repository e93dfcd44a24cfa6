"""Classes that are not listwright's own: their names in files, and the rules for making them.

Files name such classes as "module:Class". Importing a module runs its code, so a class is imported only if the user has
passed its name to `load` as trusted.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from listwright.errors import InputError

_NAME = re.compile(r"(?!\d)[\w.]+:(?!\d)[\w.]+")


def class_name(kind: type[Any]) -> str:
    """Return the name of a class in files, "module:Class"."""
    name = f"{kind.__module__}:{kind.__qualname__}"
    if kind.__module__ == "builtins" or not hasattr(kind, "__dict__"):
        raise InputError(f"A model file cannot hold a {kind.__qualname__}")
    if "<" in name or _attribute(sys.modules.get(kind.__module__), kind.__qualname__) is not kind:
        raise InputError(f"A model file cannot hold {name}: define the class at the top level of a module")
    try:
        inspect.signature(kind)
    except (TypeError, ValueError):
        raise InputError(f"A model file cannot hold {name}: the arguments of its constructor are unknown") from None
    return name


def as_trusted(names: Iterable[str]) -> frozenset[str]:
    """Return the names as a set."""
    if isinstance(names, str) or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
        raise InputError(f'trusted must be a list of names such as "mypackage.features:Mine". Got {names!r:.80}.')
    return frozenset(names)


def trusted_class(name: str, trusted: frozenset[str]) -> type[Any]:
    """Import the module of a trusted class, which runs its code, and return the class."""
    if name not in trusted:
        raise InputError(f"it names the class {name!r:.80}, which is neither part of listwright nor trusted")
    module, _, path = name.partition(":")
    try:
        kind = _attribute(import_module(module), path)
    except ImportError as error:
        raise InputError(f"{name:.80} cannot be imported here ({error!s:.100})") from None
    if not isinstance(kind, type):
        raise InputError(f"the module {module:.80} has no class {path:.80}")
    return kind


def named_classes(tree: Any) -> Iterator[str]:
    """Yield the names of the classes in a tree of JSON nodes that are not listwright's; names may repeat."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            name = node.get("class")
            if isinstance(name, str) and ":" in name:
                yield name
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


def check_trusted(needed: Iterable[str], trusted: frozenset[str]) -> None:
    """Raise unless all needed classes are trusted, with one error that names every class that is missing."""
    missing = sorted(set(needed) - trusted)
    if missing:
        raise InputError(
            f"it contains classes from outside listwright, and loading them runs their code. If you trust the file and"
            f" these classes, pass trusted={missing!r:.2000}"
        )


def _attribute(module: Any, path: str) -> Any:
    """Return the attribute at a dotted path below a module, or None where a part of the path is missing."""
    value = module
    for part in path.split("."):
        value = getattr(value, part, None)
    return value
