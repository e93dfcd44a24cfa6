"""Classes that are not listwright's: files name them as module:Class, and only those that the user trusts are made."""

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
    """module:Class, if the class can be found by that name."""
    name = f"{kind.__module__}:{kind.__qualname__}"
    if kind.__module__ == "builtins" or not hasattr(kind, "__dict__"):
        raise InputError(f"A model file cannot hold a {kind.__qualname__}")
    if "<" in name or _attribute(sys.modules.get(kind.__module__), kind.__qualname__) is not kind:
        raise InputError(f"A model file cannot hold {name}: define the class at the top level of a module")
    try:
        inspect.signature(kind)
    except (TypeError, ValueError):
        raise InputError(f"A model file cannot hold {name}: its constructor tells no arguments") from None
    return name


def as_trusted(names: Iterable[str]) -> frozenset[str]:
    """The names, checked."""
    if isinstance(names, str) or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
        raise InputError(f'trusted must be a list of names such as "mypackage.features:Mine". Got {names!r:.80}.')
    return frozenset(names)


def trusted_class(name: str, trusted: frozenset[str]) -> type[Any]:
    """The class of a name that is trusted; its module is imported, which runs it."""
    if name not in trusted:
        raise InputError(f"it names the class {name!r:.80}, which is none of listwright's and not trusted")
    module, _, path = name.partition(":")
    try:
        found = _attribute(import_module(module), path)
    except ImportError as error:
        raise InputError(f"{name:.80} cannot be imported here ({error!s:.100})") from None
    if not isinstance(found, type):
        raise InputError(f"the module {module:.80} has no class {path:.80}")
    return found


def named_classes(tree: Any) -> Iterator[str]:
    """The classes in a tree of a model file that are not listwright's."""
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
    """One error that names all classes that would have to be trusted."""
    missing = sorted(set(needed) - trusted)
    if missing:
        raise InputError(
            f"it holds parts that are not listwright's own, and loading them runs their code. If you trust the file and"
            f" these classes, pass trusted={missing!r:.2000}"
        )


def _attribute(module: Any, path: str) -> Any:
    found = module
    for part in path.split("."):
        found = getattr(found, part, None)
    return found
