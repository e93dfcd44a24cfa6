"""Room that is left for groups while a list grows."""

from __future__ import annotations

from listwright._internal.arrays import Ints
from listwright._kernels.parts import inlined


@inlined
def use_up(taken: int, first: int, end: int, groups: Ints, caps: Ints) -> None:
    """Rows first to end of the group of the row taken have room for one less. Nothing where groups are not capped."""
    if len(groups):
        for row in range(first, end):
            if groups[row] == groups[taken]:
                caps[row] -= 1


@inlined
def has_room(row: int, caps: Ints) -> bool:
    """Return whether the group of a row has room for it."""
    return len(caps) == 0 or caps[row] > 0
