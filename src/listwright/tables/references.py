"""Reference texts for the ROUGE rewards, from a second table or a dict.

Both functions return texts by problem id as a string, since ids may be integers in one table and text in the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from listwright.errors import InputError
from listwright.tables.table import Table
from listwright.tables.values import names, texts

COLUMNS = ("reference", "text")  # where the text is looked for


def from_table(table: Table, problem: str) -> dict[str, list[str]]:
    """Reference texts by problem id, from a table with one row per reference."""
    if table.n_rows == 0:
        raise InputError(f"{table.source} has no rows. References need one row each.")
    codes, ids = names(table, problem, "problem")
    column = next((name for name in COLUMNS if name in table.names), COLUMNS[0])
    found: dict[str, list[str]] = {}
    for code, text in zip(codes, texts(table, column, "references"), strict=True):
        found.setdefault(str(ids[code]), []).append(text)
    return found


def from_mapping(references: Mapping[Any, Any]) -> dict[str, list[str]]:
    """Reference texts by problem id, from a dict whose values are one text or a sequence of texts."""
    found = {
        str(name): [several] if isinstance(several, str) else list(several) for name, several in references.items()
    }
    for name, several in found.items():
        if not all(isinstance(text, str) for text in several):
            raise InputError(f"References of problem {name} must be texts. Got {several!r:.60}.")
    return found
