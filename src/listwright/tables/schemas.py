"""What `scan` asks before it reads: which files and columns, whether files agree, and sizes such as "1GB"."""

from __future__ import annotations

import re

import pyarrow as pa

from listwright.errors import InputError
from listwright.tables.columns import Columns, Wanted, choose
from listwright.tables.files import Paths, all_files, format_of
from listwright.tables.frame import plain
from listwright.tables.shards import as_streamed, opened
from listwright.tables.spec import RewardSpec
from listwright.tables.table import Part, no_repeats

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", re.IGNORECASE)


def as_bytes(size: int | str, name: str) -> int:
    """Return a number of bytes from a number or text."""
    if isinstance(size, int) and not isinstance(size, bool) and size > 0:
        return size
    found = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if found is None or not float(found[1]):
        raise InputError(f"{name} must be a size such as 1GB or 500MB. Got {size!r}.")
    return int(float(found[1]) * 1000 ** " kmgt".index(found[2].lower() or " "))


def parquet_files(paths: Paths) -> list[str]:
    """Expand paths to files, all of which must be Parquet."""
    files = all_files(paths, None)
    other = next((path for path in files if format_of(path) not in (None, "parquet")), None)
    if other is not None:
        raise InputError(
            f"A scan reads Parquet files, and {other} is {format_of(other)}. Read it, or write Parquet first."
        )
    return [str(path) for path in files]


def settled(files: list[str], wanted: Wanted, spec: RewardSpec | None) -> tuple[Columns, list[str]]:
    """Choose the columns from the schema of the first file, and check that all files agree."""
    first = _kinds(files[0])
    table = as_streamed((Part(files[0], 0),), first.empty_table(), fixed=wanted.columns is not None)
    taken = [] if spec is None else spec.columns_of(table)
    columns = choose(table, wanted, set(taken))
    if columns.numbered or not (columns.features or columns.context or columns.catalogue):
        raise InputError(f"{files[0]} has no features: no numeric column is left. Name some with features=.")
    single = [name for name in (columns.item, columns.size, columns.catalogue, columns.group) if name is not None]
    several = (columns.features, columns.context, columns.vectors, columns.links, tuple(columns.levels))
    used = [columns.problem, *single, *(name for names in several for name in names), *taken]
    for name in used:
        table.column(name, "features")
    for path in files[1:]:
        _alike(files[0], first, path, _kinds(path), used, all_columns=wanted.features is None and not table.fixed)
    return columns, list(dict.fromkeys(used))


def _kinds(path: str) -> pa.Schema:
    """Schema of a Parquet file; raise `InputError` for repeated column names and for files without rows."""
    with opened(path) as file:
        no_repeats(file.schema_arrow.names, path)
        if file.metadata.num_rows == 0:
            raise InputError(f"{path} has no rows. Leave it out, or write it again.")
        return file.schema_arrow


def _alike(one: str, kinds: pa.Schema, other: str, others: pa.Schema, used: list[str], *, all_columns: bool) -> None:
    """Raise `InputError` if two files differ in the names or types of their columns."""
    for name in kinds.names if all_columns else used:
        if name not in others.names:
            raise InputError(f"{other} has no column {name!r}, which {one} has. Make the files alike.")
    extra = [name for name in others.names if name not in kinds.names]
    if all_columns and extra:
        raise InputError(f"{one} has no column {extra[0]!r}, which {other} has. Make the files alike.")
    for name in used:
        mine, theirs = (plain(_empty(table, name)).type for table in (kinds, others))
        if mine != theirs:
            raise InputError(f"Column {name!r} is {mine} in {one} and {theirs} in {other}. Make the files alike.")


def _empty(kinds: pa.Schema, name: str) -> pa.Array:
    """Return an empty array of the type of a column."""
    return pa.array([], type=kinds.field(name).type)
