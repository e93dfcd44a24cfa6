"""What a packed context may hold: which passages count, how many tokens, how many of a source."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.limits import at_least_one
from listwright.context.passages import Passages
from listwright.errors import InputError

NO_LIMIT = 1 << 40
ROUNDING = 1e-9


class Limits(NamedTuple):
    """What the compiled walk keeps to."""

    room: float  # tokens
    length: int
    per_source: int


def candidates(texts: list[str]) -> Ints:
    """Passages with text, each once."""
    seen: dict[str, int] = {}
    for row, text in enumerate(texts):
        plain = " ".join(text.split()).casefold()
        if plain:
            seen.setdefault(plain, row)
    return np.array(list(seen.values()), dtype=np.int64)


def limits_of(budget: float | None, length: int | None, per_source: int | None, given: Passages) -> Limits:
    """The limits, checked."""
    for name, value in (("length", length), ("per_source", per_source)):
        if value is not None:
            at_least_one(name, value)
    if budget is not None and not (isinstance(budget, int | float) and budget > 0):
        raise InputError(f"budget must be above 0, or None for no limit. Got {budget!r}.")
    room = np.inf if budget is None else budget * (1.0 + ROUNDING)
    return Limits(room, length or max(len(given), 1), per_source or NO_LIMIT)


def groups_of(given: Passages, per_source: int | None) -> Ints:
    """By passage its source, as a number; by title where no sources are given."""
    if per_source is None:
        return np.zeros(len(given), dtype=np.int64)
    names = given.sources if given.sources is not None else given.titles
    if not any(names):
        raise InputError("per_source needs sources, or titles to tell sources apart. Pass sources=[...].")
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def check_room(sizes: Floats, room: float) -> None:
    """Refuses a budget that no passage fits."""
    if sizes.min() > room:
        raise InputError(f"No passage fits {room:g} tokens: the shortest has {sizes.min():g}. Raise the budget.")
