"""A reader of dense ARFF files: a header of attributes, then comma-separated rows. ASlib publishes its scenarios so.

Cells stay text until a column is requested as numbers or names.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats
from listwright.datasets._files import require
from listwright.errors import InputError
from listwright.text.files import read_text

_ATTRIBUTE = re.compile(r"""@attribute\s+('[^']*'|"[^"]*"|\S+)\s+(.+)""", re.IGNORECASE)
_QUOTE = re.compile(r"""['"]""")
_DATA = re.compile(r"^\s*@data\s*$", re.IGNORECASE | re.MULTILINE)
MISSING = "?"


@dataclass(frozen=True, eq=False)
class Arff:
    """The columns of an ARFF file as text."""

    path: Path  # the file, for error messages
    kinds: dict[str, str]  # by name: "numeric", "string", "{a, b}", ... as in the file
    columns: dict[str, list[str]]  # by column, its cells

    def texts(self, name: str) -> NDArray[np.str_]:
        """Return a column as an array of strings."""
        return np.array(self.columns[name], dtype=np.str_)

    def numbers(self, name: str) -> Floats:
        """Return a column as floats; missing cells ("?") become NaN. Raises an `InputError` for other text."""
        try:
            return np.array([np.nan if text == MISSING else float(text) for text in self.columns[name]])
        except ValueError as error:
            raise InputError(f"Column {name} of {self.path} must hold numbers: {error}.") from None

    def levels(self, name: str) -> list[str] | None:
        """Return the values that a nominal column may take; None for columns of other types."""
        kind = self.kinds[name]
        return _fields(kind.strip("{} \t")) if kind.startswith("{") else None


def read_arff(path: Path, columns: tuple[str, ...] = ()) -> Arff:
    """Read a file that has at least the given columns."""
    head, body = _parted(read_text(path))
    found = [_ATTRIBUTE.match(line.strip()) for line in head.splitlines()]
    kinds = {_name(match[1], columns): match[2].strip() for match in found if match}
    require(kinds, columns, path)
    rows = [_fields(line) for line in body.splitlines() if line.strip() and not line.lstrip().startswith("%")]
    for row in rows:
        if len(row) != len(kinds):
            raise InputError(f"{path} has {len(kinds)} attributes, but a row of {len(row)}: {','.join(row)[:80]}")
    table = zip(*rows, strict=True) if rows else ([] for _ in kinds)
    return Arff(path, kinds, {name: list(column) for name, column in zip(kinds, table, strict=True)})


def _name(written: str, known: tuple[str, ...]) -> str:
    """Return an attribute's name without quotes, in lower case if it is one of the known columns."""
    name = written.strip("'\"")
    return name.lower() if name.lower() in known else name


def _parted(text: str) -> tuple[str, str]:
    """Return what comes before and after the line "@data"."""
    head, *body = _DATA.split(text, maxsplit=1)
    return head, "".join(body)


def _fields(line: str) -> list[str]:
    """Split a row into its values; a value with commas stands in single or double quotes."""
    quote = _QUOTE.search(line)
    if quote is None:
        return [field.strip() for field in line.split(",")]
    cells = next(csv.reader([line], quotechar=quote[0], escapechar="\\", skipinitialspace=True))
    return [cell.strip() for cell in cells]
