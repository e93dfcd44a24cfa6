"""Size budgets of summaries, in bytes, characters, words or tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from listwright._internal.tokens import tokens
from listwright.errors import InputError

Unit: TypeAlias = Literal["bytes", "characters", "words", "tokens"]
UNITS: dict[str, Unit] = {"b": "bytes", "c": "characters", "w": "words", "t": "tokens"}

_WRITTEN = re.compile(r"\s*(\d+)\s*([a-z]+)\s*", re.IGNORECASE | re.ASCII)
_LOWERED_TOKEN = re.compile(r"[a-z0-9]+")
_MEASURES: dict[Unit, Callable[[str], int]] = {
    "bytes": lambda text: len(text.encode()),
    "characters": len,
    "words": lambda text: len(text.split()),
    "tokens": lambda text: len(tokens(text)),
}


@dataclass(frozen=True)
class Budget:
    """At most `amount` of `unit`.

    Parameters
    ----------
    amount : int
        The largest size, at least 1.
    unit : {"bytes", "characters", "words", "tokens"}
        Bytes are those of UTF-8, words are separated by white space, and tokens are those that ROUGE counts.

    Raises
    ------
    InputError
        If the amount is below 1 or the unit is unknown.

    See Also
    --------
    parse_budget : Reads budgets such as "665b".
    sizes : What sentences take of a budget.

    Examples
    --------
    >>> str(Budget(665, "bytes"))
    '665 bytes'
    """

    amount: int
    unit: Unit = "bytes"

    def __post_init__(self) -> None:
        _check_unit(self.unit)
        if self.amount < 1:
            raise InputError(f"A budget must be at least 1. Got {self.amount} {self.unit}.")

    def __str__(self) -> str:
        return f"{self.amount} {self.unit}"


def parse_budget(text: str) -> Budget:
    """Read a budget as people write it: a number, then b, c, w or t (bytes, characters, words, tokens).

    Parameters
    ----------
    text : str
        Such as "665b", "100 words" or "120t"; case does not matter.

    Returns
    -------
    Budget
        The amount and unit.

    Raises
    ------
    InputError
        If the text is not a number followed by a unit.

    See Also
    --------
    Budget : What it returns.

    Examples
    --------
    >>> parse_budget("665b")
    Budget(amount=665, unit='bytes')
    >>> parse_budget("100 words")
    Budget(amount=100, unit='words')
    """
    written = _WRITTEN.fullmatch(text)
    unit = _find_unit(written.group(2).lower()) if written else None
    if written is None or unit is None:
        raise InputError(f"A budget is a number and a unit: 665b, 665c, 100w or 120t. Got {text!r}.")
    return Budget(int(written.group(1)), unit)


def sizes(sentences: Iterable[str], unit: Unit = "bytes") -> NDArray[np.int64]:
    """Measure what each sentence takes of a budget."""
    _check_unit(unit)
    joining = unit in ("bytes", "characters")  # a space
    return np.array([_MEASURES[unit](sentence) + joining for sentence in sentences], np.int64)


def truncate(text: str, budget: Budget) -> str:
    """Return the longest start of a text that fits the budget, as DUC cut summaries before scoring them.

    Spaces count. In bytes, a UTF-8 character that does not fit as a whole is dropped.

    Parameters
    ----------
    text : str
        The text to cut.
    budget : Budget
        The limit.

    Returns
    -------
    str
        The text itself where it fits.

    See Also
    --------
    sizes : What each sentence takes of a budget.

    Examples
    --------
    >>> truncate("Très beau.", Budget(4, "bytes")), truncate("Très beau.", Budget(3, "bytes"))
    ('Trè', 'Tr')
    >>> truncate("Rain  fell in two towns.", Budget(3, "words"))
    'Rain  fell in'
    """
    match budget.unit:
        case "bytes":
            return text.encode()[: budget.amount].decode(errors="ignore")
        case "characters":
            return text[: budget.amount]
        case "words":
            ends = [word.end() for word in re.finditer(r"\S+", text)]
        case "tokens":
            ends = _token_ends(text)
    return text if len(ends) <= budget.amount else text[: ends[budget.amount - 1]]


def _token_ends(text: str) -> list[int]:
    lowered = [character.lower() for character in text]
    origin = np.repeat(np.arange(len(text)), [len(piece) for piece in lowered])
    return [int(origin[token.end() - 1]) + 1 for token in _LOWERED_TOKEN.finditer("".join(lowered))]


def _find_unit(name: str) -> Unit | None:
    """Return the unit for its letter, its singular or its plural, and None for anything else."""
    known = UNITS.get(name[0])
    return known if known and name in (name[0], known, known[:-1]) else None


def _check_unit(unit: str) -> None:
    if unit not in UNITS.values():
        raise InputError(f"unit must be one of {', '.join(UNITS.values())}. Got {cast(object, unit)!r}.")
