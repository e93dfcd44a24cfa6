"""ARFF files: a header of attributes, then comma-separated rows (the dense form, which ASlib uses)."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.lab.datasets._files import require
from listwright.text.files import read_text

_ATTRIBUTE = re.compile(r"""@attribute\s+('[^']*'|"[^"]*"|\S+)\s+(.+)""", re.IGNORECASE)
_QUOTE = re.compile(r"""['"]""")
_DATA = re.compile(r"^\s*@data\s*$", re.IGNORECASE | re.MULTILINE)
MISSING = "?"


@dataclass(frozen=True, eq=False)
class Arff:
    """The columns of an ARFF file as text, in order."""

    path: Path
    kinds: dict[str, str]  # by name: "numeric", "string", "{a, b}", ... as in the file
    columns: dict[str, list[str]]

    def texts(self, name: str) -> NDArray[np.str_]:
        """A column of names."""
        return np.array(self.columns[name], dtype=np.str_)

    def numbers(self, name: str) -> Floats:
        """A column of numbers; what is missing is NaN."""
        try:
            return np.array([np.nan if text == MISSING else float(text) for text in self.columns[name]])
        except ValueError as error:
            raise InputError(f"Column {name} of {self.path} must hold numbers: {error}.") from None

    def levels(self, name: str) -> list[str] | None:
        """The values that a nominal column may take; None for other columns."""
        kind = self.kinds[name]
        return _fields(kind.strip("{} \t")) if kind.startswith("{") else None


def read_arff(path: Path, columns: tuple[str, ...] = ()) -> Arff:
    """Reads a file that has at least the given columns, in upper or lower case. Other names stay as they are."""
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
    name = written.strip("'\"")
    return name.lower() if name.lower() in known else name


def _parted(text: str) -> tuple[str, str]:
    """What stands before and after the line "@data"."""
    head, *body = _DATA.split(text, maxsplit=1)
    return head, "".join(body)


def _fields(line: str) -> list[str]:
    """The values of a row; a value with commas stands in single or double quotes.

    >>> _fields("'a, b',1, ?")
    ['a, b', '1', '?']
    """
    quote = _QUOTE.search(line)
    if quote is None:
        return [field.strip() for field in line.split(",")]
    cells = next(csv.reader([line], quotechar=quote[0], escapechar="\\", skipinitialspace=True))
    return [cell.strip() for cell in cells]
