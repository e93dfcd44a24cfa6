"""Warnings of columns that are not used as features, or used in another way than they were likely meant."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from listwright.errors import DataWarning
from listwright.tables.table import Table
from listwright.tables.values import is_text

COORDINATES = re.compile(r"(?i)emb|vec|dim")  # in names of columns that hold one coordinate each
MANY_COORDINATES = 16


def warn_of_dates(table: Table, names: Sequence[str]) -> None:
    """Warn that columns of dates and times are not used as features."""
    dates = [repr(name) for name in names if pa.types.is_temporal(table.columns[name].type)]
    if dates:
        warnings.warn(
            f"{table.source}: dates and times are not features, so {', '.join(dates)} is left out. Turn it into a "
            "number (days since something), or name it with ignore=.",
            DataWarning,
            stacklevel=2,
        )


def warn_of_categories(table: Table, names: Sequence[str]) -> None:
    """Warn that columns of text with few different values, such as a category read from a CSV file, are not used.

    Text that hardly repeats itself (titles, descriptions, addresses) is left out without a warning.
    """
    repeated = [name for name in names if is_text(table.columns[name].type) and _few_values(table.columns[name])]
    if repeated:
        quoted = ", ".join(map(repr, repeated))
        warnings.warn(
            f"{table.source}: text is not used as a feature, so these columns are left out: {quoted}. Name those that "
            "hold categories with categorical=, ids of items with item=, and others with ignore=.",
            DataWarning,
            stacklevel=2,
        )


def _few_values(column: pa.ChunkedArray) -> bool:
    """Whether a column has at most 50 different values, each five times or more on average."""
    return pc.count_distinct(column).as_py() <= min(50, len(column) / 5)


def warn_of_coordinates(table: Table, features: Sequence[str]) -> None:
    """Warn of features that look like the coordinates of embeddings, such as emb_0 to emb_383, by their names."""
    found: dict[str, list[str]] = {}
    for name in features:
        stem = name.rstrip("0123456789")
        if stem != name and COORDINATES.search(stem):
            found.setdefault(stem, []).append(name)
    for stem, names in found.items():
        if len(names) >= MANY_COORDINATES:
            warnings.warn(
                f"{table.source}: {names[0]!r} to {names[-1]!r} look like the coordinates of embeddings. As features, "
                "each is learned on its own, which takes many problems. Name them with "
                f"vectors='{stem}*', so that the policy sees how much candidates resemble the list.",
                DataWarning,
                stacklevel=2,
            )
