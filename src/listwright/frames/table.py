"""The common in-memory form of every input: Arrow columns by name, plus the file and line of each row."""

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
class FileRows:
    """Consecutive rows that come from one file, or from a data frame."""

    name: str  # the file, "" for a frame
    n_rows: int  # number of rows
    line_of: Callable[[int], int] | None = None  # line of a row, counted from 1, for files of text
    is_text: bool = False  # whether the file cannot tell 7 from "7"
    first: int = 0  # row of the file that these rows start at

    def place(self, row: int) -> str:
        """Describe the position of a row for an error message, such as "log.csv, line 7" or "row 6 (from 0)"."""
        where = f"row {self.first + row} (from 0)" if self.line_of is None else f"line {self.line_of(row)}"
        return f"{self.name}, {where}" if self.name else where


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """Named columns of equal length, with the rows of several files one after the other."""

    columns: dict[str, pa.ChunkedArray]  # in the order of the file or frame
    parts: tuple[FileRows, ...]  # where the rows come from, in order
    unreadable: dict[str, str] = field(default_factory=dict)  # columns that are there but cannot be used, and why
    categories: tuple[str, ...] = ()  # columns that the frame or file itself calls categorical
    matrix: Any = None  # (rows, d) scipy CSR, or None
    backend: str | None = None  # library of the frame: "pandas", "polars" or "pyarrow"; None for files
    fixed: bool = False  # whether a model says which column is which, so that no option can
    streamed: bool = False  # whether these are whole problems out of a larger table, which a scan has checked
    index: tuple[str, ...] = ()  # names of the index of a pandas frame, which is not read

    @property
    def n_rows(self) -> int:
        return sum(part.n_rows for part in self.parts)

    @property
    def names(self) -> list[str]:
        return [*self.columns, *self.unreadable]

    @property
    def starts(self) -> Ints:
        """Row at which each part begins, followed by the number of rows; one entry more than there are parts."""
        return starts_of([part.n_rows for part in self.parts])

    @property
    def source(self) -> str:
        """Name of the whole table in error messages: its first file, or "The table" for a frame."""
        named = [part.name for part in self.parts if part.name]
        if not named:
            return "The table"
        return named[0] if len(named) == 1 else f"{named[0]} and {len(named) - 1} more"

    def column(self, name: str, option: str) -> pa.ChunkedArray:
        """Return a column by name; the advice of the error mentions the `option` that named it, such as "features"."""
        if name in self.columns:
            return self.columns[name]
        if name in self.unreadable:
            raise InputError(f"{self.source}: column {name!r} cannot be used: {self.unreadable[name]}.")
        if name in self.index:
            raise InputError(f"{self.source} has {name!r} in its index, which is not read. Pass frame.reset_index().")
        fixed = self.is_fixed(option)
        advice = "The model was fitted with it: add it" if fixed else f"Name the right column with {option}="
        raise InputError(f"{self.source} has no column {name!r}. It has {_list_names(self.names)}. {advice}.")

    def matching(self, pattern: str, option: str) -> list[str]:
        """Expand a shell pattern such as `topic_*` to column names, in the order of the table; an exact name wins."""
        if pattern in self.names:
            return [pattern]
        matches = [name for name in self.names if fnmatchcase(name, pattern)]
        if not matches:
            self.column(pattern, option)
        return matches

    def is_fixed(self, option: str) -> bool:
        return self.fixed and option not in ("reward", "references")

    def advice(self, option: str, way: str, choice: str) -> str:
        """Compose the advice of a message: `way`, or else `choice`, unless a model has already made that."""
        return f"{way}." if self.is_fixed(option) else f"{way}, or {choice}."

    def place(self, row: int) -> str:
        part = int(np.searchsorted(self.starts, row, side="right")) - 1
        return self.parts[part].place(row - int(self.starts[part]))

    def error(self, row: int, column: str, problem: str, advice: str) -> InputError:
        """Return the error for one bad cell: what is wrong, without a full stop, and advice as a sentence."""
        place = self.place(row)
        return InputError(
            f"{place if self.parts[0].name else place.capitalize()}, column {column!r}: {problem}. {advice}"
        )


def no_repeats(names: Iterable[str], source: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{source} has two columns named {name!r}. Rename one of them.")
        seen.add(name)


def _list_names(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:NAMES_SHOWN])
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return (shown + more) or "no columns"
