"""What a class offers although a room above its own does the work: named here, and provided by the package itself.

`Problems.from_frame` is such a method: reading frames takes columns, rewards and problems, so that the room of tables
stands above that of problems. `listwright/__init__.py`, which stands above all rooms, says who does it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_makers: dict[str, Callable[[], Callable[..., Any]]] = {}


def provide(name: str, maker: Callable[[], Callable[..., Any]]) -> None:
    """Says what gives the function of a name, once it is wanted."""
    _makers[name] = maker


def provided(name: str) -> Callable[..., Any]:
    """The function of a name.

    >>> provide("twice", lambda: lambda number: 2 * number)
    >>> provided("twice")(21)
    42
    """
    return _makers[name]()
