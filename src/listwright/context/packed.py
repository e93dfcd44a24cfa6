"""Packed passages: the answer of `ContextPacker.pack`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from listwright.errors import InputError

Order: TypeAlias = Literal["rank", "edges", "document"]


@dataclass(frozen=True, eq=False)
class Packed:
    """Passages chosen for a context, best first.

    Parameters
    ----------
    positions : list of int
        Where the passages stand among those given.
    texts : list of str
        Their texts.
    tokens : int or float
        What they take of the budget together.
    scores : list of float
        By passage what it was expected to add; they fall from one to the next, so that sorting keeps the order.
    """

    positions: list[int]
    texts: list[str]
    tokens: float
    scores: list[float]
    explain: Callable[[], list[str]] = field(repr=False)

    @cached_property
    def reasons(self) -> list[str]:
        """By passage in words: what it adds, and what links it to those before it."""
        return self.explain()

    def text(self, order: Order = "rank", separator: str = "\n\n") -> str:
        """The context as one text.

        Parameters
        ----------
        order : str
            "rank": best first. "edges": best first and last, the others inside, as models read the middle least.
            "document": in the order in which the passages were given.
        separator : str
            What stands between two passages; it is not counted as tokens.
        """
        return separator.join(self.texts[place] for place in _places(order, self.positions))

    def __len__(self) -> int:
        return len(self.positions)

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)


def falling(scores: list[float]) -> list[float]:
    """Scores that never rise, and fall by a little where they would stay.

    Examples
    --------
    >>> falling([0.5, 0.7, 0.1])
    [0.5, 0.499999, 0.1]
    """
    found: list[float] = []
    for score in scores:
        found.append(score if not found else min(score, round(found[-1] - 1e-6, 12)))
    return found


def _places(order: str, positions: list[int]) -> list[int]:
    n = len(positions)
    match order:
        case "rank":
            return list(range(n))
        case "edges":
            return [*range(0, n, 2), *reversed(range(1, n, 2))]
        case "document":
            return np.argsort(positions, kind="stable").tolist()
    raise InputError(f'order must be "rank", "edges" or "document". Got {order!r}.')
