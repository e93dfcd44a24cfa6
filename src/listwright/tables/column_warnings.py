"""Warnings of columns that are not used as features, or used in another way than they were likely meant."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from listwright._internal.warn import warn
from listwright.errors import DataWarning
from listwright.tables.table import Table
from listwright.tables.values import is_list, is_number, is_text

COORDINATES = re.compile(r"(?i)emb|vec|dim")  # in names of columns that hold one coordinate each
MANY_COORDINATES = 16


def warn_of_dates(table: Table, names: Sequence[str]) -> None:
    """Warn that columns of dates and times are not used as features."""
    dates = [repr(name) for name in names if pa.types.is_temporal(table.columns[name].type)]
    if dates:
        warn(
            f"{table.source}: dates and times are not used as features, so these columns are left out: "
            f"{', '.join(dates)}. Turn them into numbers, such as days since an event, or name them with ignore=.",
            DataWarning,
        )


def warn_of_categories(table: Table, names: Sequence[str]) -> None:
    """Warn that columns of text with few different values, such as a category read from a CSV file, are not used."""
    repeated = [name for name in names if is_text(table.columns[name].type) and _few_values(table.columns[name])]
    if repeated:
        quoted = ", ".join(map(repr, repeated))
        warn(
            f"{table.source}: text is not used as a feature, so these columns are left out: {quoted}. Name those that "
            "hold categories with categorical=, ids of items with item=, and others with ignore=.",
            DataWarning,
        )


def warn_of_lists(table: Table, names: Sequence[str]) -> None:
    """Warn that columns of lists, such as embeddings or ids of other items, are used only where their role is named."""
    held = {name: table.columns[name].type for name in names if is_list(table.columns[name].type)}
    for numeric, use in ((True, "embeddings with vectors="), (False, "ids of other items with links=")):
        found = [repr(name) for name, kind in held.items() if is_number(kind.value_type) == numeric]
        if found:
            warn(
                f"{table.source}: lists are not used as features, so these columns are left out: {', '.join(found)}. "
                f"Name {use}, and others with ignore=.",
                DataWarning,
            )


def _few_values(column: pa.ChunkedArray) -> bool:
    """Return whether a column has at most 50 different values, each five times or more on average."""
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
            warn(
                f"{table.source}: {names[0]!r} to {names[-1]!r} look like the coordinates of embeddings. As features, "
                "each is learned on its own, which takes many problems. Name them with "
                f"vectors='{stem}*', so that the policy sees how much candidates resemble the list.",
                DataWarning,
            )
