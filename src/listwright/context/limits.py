"""The limits of a packed context: how many tokens, how many passages, how many per source.

`ContextPacker.pack` checks the limits here before it computes any features, so that mistakes are reported at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints, at_least_one
from listwright.context.passages import Passages
from listwright.errors import InputError

NO_LIMIT = 1 << 40
ROUNDING = 1e-9


class Limits(NamedTuple):
    """The limits as the compiled walk takes them, with large numbers in place of None.

    Attributes
    ----------
    room : float
        Tokens that the context may hold, infinite without a budget.
    length : int
        Largest number of passages.
    per_source : int
        Largest number of passages from one source.
    """

    room: float  # tokens
    length: int
    per_source: int


def limits_of(budget: float | None, length: int | None, per_source: int | None, given: Passages) -> Limits:
    """Check the user's limits and fill in those that are None."""
    # The budget is widened by a relative 1e-9, so that rounding in sums of sizes does not leave out a passage that fits
    # exactly.
    for name, value in (("length", length), ("per_source", per_source)):
        if value is not None:
            at_least_one(name, value)
    if budget is not None and not (isinstance(budget, int | float) and budget > 0):
        raise InputError(f"budget must be above 0, or None for no limit. Got {budget!r}.")
    room = np.inf if budget is None else budget * (1.0 + ROUNDING)
    return Limits(room, length or max(len(given), 1), per_source or NO_LIMIT)


def groups_of(given: Passages, per_source: int | None) -> Ints:
    """Numbers the source of each passage from 0, by title where no sources are given."""
    if per_source is None:
        return np.zeros(len(given), dtype=np.int64)
    names = given.sources if given.sources is not None else given.titles
    if not any(names):
        raise InputError("per_source needs sources, or titles to tell sources apart. Pass sources=[...].")
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def check_room(sizes: Floats, room: float) -> None:
    """Raise `InputError` if not even the shortest passage fits the budget, as the context would then always be
    empty.
    """
    if sizes.min() > room:
        raise InputError(f"No passage fits {room:g} tokens: the shortest has {sizes.min():g}. Raise the budget.")
