"""Which column of a table is what."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from listwright._internal.saved import saved_as
from listwright.errors import DataWarning, InputError
from listwright.tables.table import Table
from listwright.tables.values import is_number, is_text

NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"


@saved_as("Columns")
@dataclass(frozen=True)
class Columns:
    """How a table was read: all that is needed to read another one for the same model.

    `tables.read_with_columns` gives one; pass it as `columns=` to `from_frame` or `read` for the tables to come, so
    that features come in the same order and names get the same codes.
    """

    problem: str
    item: str | None = None
    size: str | None = None
    features: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    catalogue: str | None = None
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of the columns that are categorical
    catalogue_names: tuple[str, ...] = ()
    numbered: tuple[int, int] | None = None  # first number and end of the columns of SVMlight files
    links: tuple[str, ...] = ()
    group: str | None = None


@dataclass(frozen=True)
class Wanted:
    """What the caller asked for, before a table is seen."""

    problem: str = "problem"
    item: str | None = "item"
    size: str | None = "size"
    group: str | None = None
    features: Sequence[str] | None = None
    context: Sequence[str] | None = None
    vectors: str | Sequence[str] | None = None
    catalogue: str | None = None
    catalogue_names: Sequence[str] | None = None
    categorical: Sequence[str] = ()
    levels: Mapping[str, Sequence[str]] | None = None
    ignore: Sequence[str] = ()
    new_levels: str = "error"
    columns: Columns | None = None
    links: str | Sequence[str] | None = None
    fixed: bool = False  # whether no option can name other columns, as a model has named them

    def read_as_text(self) -> set[str]:
        """Columns of names, which a reader must not take for numbers or dates."""
        if self.columns is not None:
            kept = self.columns
            single = (kept.item, kept.catalogue, kept.group)
            return {kept.problem, *kept.levels} | {name for name in single if name is not None}
        named = [self.problem, self.item, self.catalogue, self.group, *_several(self.categorical, "categorical")]
        return {name for name in named if name is not None}


def choose(table: Table, wanted: Wanted, taken: set[str]) -> Columns:
    """Settles the columns; those in `taken` belong to the reward and are no features unless named."""
    if wanted.new_levels not in ("error", "zeros"):
        raise InputError(f'new_levels must be "error" or "zeros". Got {wanted.new_levels!r}.')
    if wanted.columns is not None:
        return wanted.columns
    table.column(wanted.problem, "problem")
    context = _expanded(table, wanted.context, "context")
    vectors = _expanded(table, wanted.vectors, "vectors")
    categorical = _expanded(table, wanted.categorical, "categorical") + _own_categories(table, wanted, taken)
    columns = Columns(
        problem=wanted.problem,
        item=_where_there(table, wanted.item, "item"),
        size=_where_there(table, wanted.size, "size"),
        group=_named(table, wanted.group, "group"),
        context=context,
        vectors=vectors,
        catalogue=_named(table, wanted.catalogue, "catalogue"),
        levels={name: tuple((wanted.levels or {}).get(name, ())) for name in categorical},
        catalogue_names=tuple(str(name) for name in wanted.catalogue_names or ()),
        numbered=_numbers(table),
        links=_expanded(table, wanted.links, "links"),
    )
    return replace(columns, features=_features(table, wanted, columns, taken))


def _own_categories(table: Table, wanted: Wanted, taken: set[str]) -> tuple[str, ...]:
    """Columns that the table itself calls categorical become features too, unless they are something else."""
    if wanted.features is not None:
        return ()
    several = (wanted.context, wanted.vectors, wanted.links, wanted.categorical, wanted.ignore)
    used = {wanted.problem, wanted.item, wanted.size, wanted.catalogue, wanted.group, *taken}
    used |= {name for patterns in several for name in _expanded(table, patterns, "columns")}
    return tuple(name for name in table.categories if name not in used)


def _numbers(table: Table) -> tuple[int, int] | None:
    """The range of numbered columns; by the format they start at 1, but some files start at 0."""
    if table.matrix is None:
        return None
    return int(not (table.matrix.indices == 0).any()), max(int(table.matrix.shape[1]), 2)


def _features(table: Table, wanted: Wanted, columns: Columns, taken: set[str]) -> tuple[str, ...]:
    if wanted.features is not None:
        named = _expanded(table, wanted.features, "features")
        return named + tuple(name for name in columns.levels if name not in (*named, *columns.context))
    used = {columns.problem, columns.item, columns.size, columns.catalogue, columns.group}
    used |= {*columns.context, *columns.vectors, *columns.links}
    left_out = used | taken | set(_expanded(table, wanted.ignore, "ignore"))
    open_names = [name for name in table.columns if name not in left_out]
    for name in table.unreadable:
        if name not in left_out:
            why = f"column {name!r} cannot be used: {table.unreadable[name]}"
            raise InputError(f"{table.source}: {why}. Mend it, or leave it out with ignore=.")
    for name in open_names:
        if name not in columns.levels:
            _no_stray_text(table, name)
    _warn_of_dates(table, open_names)
    return tuple(name for name in open_names if name in columns.levels or is_number(table.columns[name].type))


def _warn_of_dates(table: Table, names: Sequence[str]) -> None:
    dates = [repr(name) for name in names if pa.types.is_temporal(table.columns[name].type)]
    if dates:
        warnings.warn(
            f"{table.source}: dates and times are not features, so {', '.join(dates)} is left out. Turn it into a "
            "number (days since something), or name it with ignore=.",
            DataWarning,
            stacklevel=2,
        )


def _no_stray_text(table: Table, name: str) -> None:
    """Refuses a column of a text file that is numbers but for some entries: a slip, not a column of text."""
    column = table.columns[name]
    if not is_text(column.type) or not all(part.is_text for part in table.parts):
        return
    filled = np.asarray(pc.not_equal(column, "").fill_null(False))
    strays = filled & ~np.asarray(pc.match_substring_regex(column, NUMBER).fill_null(False))
    if 0 < strays.sum() < filled.sum() / 2:
        row = int(strays.argmax())
        problem = f"{column[row].as_py()!r:.40} is text among numbers"
        raise table.error(row, name, problem, "Put a number there, or name the column with ignore= or categorical=.")


def _where_there(table: Table, name: str | None, default: str) -> str | None:
    """A column that may be missing as long as nobody named it."""
    return None if name == default and name not in table.names else _named(table, name, default)


def _named(table: Table, name: str | None, option: str) -> str | None:
    if name is not None:
        table.column(name, option)
    return name


def _expanded(table: Table, patterns: str | Sequence[str] | None, option: str) -> tuple[str, ...]:
    found = [name for pattern in _several(patterns, option) for name in table.matching(pattern, option)]
    return tuple(dict.fromkeys(found))


def _several(names: str | Sequence[str] | None, option: str) -> list[str]:
    several = [names] if isinstance(names, str) else list(names or ())
    if not all(isinstance(name, str) for name in several):
        raise InputError(f"{option} must name columns. Got {names!r}.")
    return several
