"""Registry for methods of a class whose work is done in a package that imports that class.

`Problems.from_frame` is such a method: reading frames takes columns, rewards and problems, so that `tables` imports
`problems` and not the other way round. `listwright/__init__.py`, which imports everything, calls `provide`; the method
calls `provided`. This keeps imports free of cycles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_makers: dict[str, Callable[[], Callable[..., Any]]] = {}


def provide(name: str, maker: Callable[[], Callable[..., Any]]) -> None:
    """Registers, under a name, a function that returns the implementation when it is first needed."""
    _makers[name] = maker


def provided(name: str) -> Callable[..., Any]:
    """Return the implementation registered under a name."""
    return _makers[name]()
