"""A table as it came in: named columns, and where each row stood, so that messages can point at it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pyarrow as pa

from listwright._internal.arrays import Ints, starts_of
from listwright.errors import InputError

NAMES_SHOWN = 12  # column names that a message lists


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of one file, or of a frame."""

    name: str  # the file, "" for a frame
    n_rows: int
    line_of: Callable[[int], int] | None = None  # line of a row, counted from 1, for files of text
    is_text: bool = False  # whether the file cannot tell 7 from "7"
    first: int = 0  # row of the file that these rows start at

    def place(self, row: int) -> str:
        """How messages name a row."""
        where = f"row {self.first + row} (from 0)" if self.line_of is None else f"line {self.line_of(row)}"
        return f"{self.name}, {where}" if self.name else where


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name; rows of several files one after the other.

    `matrix` holds the features of SVMlight files, which have numbers instead of names.
    """

    columns: dict[str, pa.ChunkedArray]
    parts: tuple[Part, ...]
    unreadable: dict[str, str] = field(default_factory=dict)  # columns that are there but cannot be used, and why
    categories: tuple[str, ...] = ()  # columns that the frame or file itself calls categorical
    matrix: Any = None  # (rows, d) scipy CSR, or None
    fixed: bool = False  # whether a model says which column is what, so that no option can
    streamed: bool = False  # whether these are whole problems out of a larger table, which a scan has checked

    @property
    def n_rows(self) -> int:
        """Number of rows of all parts."""
        return sum(part.n_rows for part in self.parts)

    @property
    def names(self) -> list[str]:
        """Names of all columns, in order."""
        return [*self.columns, *self.unreadable]

    @property
    def starts(self) -> Ints:
        """Where each part starts."""
        return starts_of([part.n_rows for part in self.parts])

    @property
    def source(self) -> str:
        """How messages name the whole table."""
        named = [part.name for part in self.parts if part.name]
        if not named:
            return "The table"
        return named[0] if len(named) == 1 else f"{named[0]} and {len(named) - 1} more"

    def column(self, name: str, option: str) -> pa.ChunkedArray:
        """A column, or the error that says which option names it."""
        if name in self.columns:
            return self.columns[name]
        if name in self.unreadable:
            raise InputError(f"{self.source}: column {name!r} cannot be used: {self.unreadable[name]}.")
        fixed = self.is_fixed(option)
        advice = "The model was fitted with it: add it" if fixed else f"Name the right column with {option}="
        raise InputError(f"{self.source} has no column {name!r}. It has {_listed(self.names)}. {advice}.")

    def matching(self, pattern: str, option: str) -> list[str]:
        """Names that a name or a pattern such as `topic_*` stands for, in the order of the table."""
        if pattern in self.names:
            return [pattern]
        found = [name for name in self.names if fnmatchcase(name, pattern)]
        if not found:
            self.column(pattern, option)
        return found

    def is_fixed(self, option: str) -> bool:
        """Whether a model says which column this option means; what lists are worth can always be said anew."""
        return self.fixed and option not in ("reward", "references")

    def advice(self, option: str, way: str, choice: str) -> str:
        """What to do about a column; to choose another one is no way out where a model has chosen."""
        return f"{way}." if self.is_fixed(option) else f"{way}, or {choice}."

    def place(self, row: int) -> str:
        """How messages name a row: its file and line."""
        part = int(np.searchsorted(self.starts, row, side="right")) - 1
        return self.parts[part].place(row - int(self.starts[part]))

    def error(self, row: int, column: str, problem: str, advice: str) -> InputError:
        """What is wrong in one cell, and what to do about it."""
        place = self.place(row)
        return InputError(
            f"{place if self.parts[0].name else place.capitalize()}, column {column!r}: {problem}. {advice}"
        )


def no_repeats(names: Iterable[str], source: str) -> None:
    """Refuses two columns of one name, which nobody can tell apart."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{source} has two columns named {name!r}. Rename one of them.")
        seen.add(name)


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:NAMES_SHOWN])
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return (shown + more) or "no columns"
