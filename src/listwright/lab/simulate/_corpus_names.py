"""Made-up names and numbers for the blanks of forms."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from listwright.lab.simulate._corpus_common import (
    DAYS,
    FIRM_ENDINGS,
    FIRST_NAMES,
    MONTHS,
    PLACE_ENDINGS,
    SURNAME_ENDINGS,
    SYLLABLES,
)
from listwright.lab.simulate._corpus_forms import pick

NUMBERS = {"few": (2, 9), "tens": (11, 96), "hundreds": (110, 980), "thousands": (2, 90)}


def values(names: Iterable[str], rng: np.random.Generator) -> dict[str, str]:
    """A value for each blank `kind:key`.

    >>> values(["tens:dead", "place:town"], np.random.default_rng(0))
    {'tens:dead': '65', 'place:town': 'Halbaria'}
    """
    return {name: _MAKERS[name.split(":")[0]](rng) for name in names}


def person(rng: np.random.Generator) -> str:
    """First name and surname."""
    return f"{_word(FIRST_NAMES, rng)} {_made_up(SURNAME_ENDINGS, rng)}"


def place(rng: np.random.Generator) -> str:
    """A town, river, region or country."""
    return _made_up(PLACE_ENDINGS, rng)


def weekday(rng: np.random.Generator) -> str:
    """A day of the week."""
    return _word(DAYS, rng)


def number(kind: str, rng: np.random.Generator) -> str:
    """A number of some size, as newspapers write it."""
    low, high = NUMBERS[kind]
    drawn = low + int(rng.random() * (high - low + 1))
    return f"{drawn},000" if kind == "thousands" else str(drawn)


def _between(low: int, high: int) -> Callable[[np.random.Generator], str]:
    return lambda rng: str(low + int(rng.random() * (high - low + 1)))


def _word(words: str, rng: np.random.Generator) -> str:
    return pick(words.split(), rng)


def _made_up(endings: str, rng: np.random.Generator) -> str:
    return (_word(SYLLABLES, rng) + _word(SYLLABLES, rng) + _word(endings, rng)).capitalize()


_MAKERS: dict[str, Callable[[np.random.Generator], str]] = {
    "person": person,
    "place": place,
    "firm": lambda rng: _made_up(FIRM_ENDINGS, rng),
    "day": weekday,
    "month": lambda rng: _word(MONTHS, rng),
    "year": _between(1951, 1996),
    "millions": _between(12, 940),
    "percent": _between(21, 79),
    "few": lambda rng: number("few", rng),
    "tens": lambda rng: number("tens", rng),
    "hundreds": lambda rng: number("hundreds", rng),
    "thousands": lambda rng: number("thousands", rng),
}
