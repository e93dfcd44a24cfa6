"""Decide the role of each column of a table: id, feature, context, vector, size and so on."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypedDict, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from listwright._internal.extras import warn
from listwright._internal.saved import saved_as
from listwright.errors import DataWarning, InputError
from listwright.frames.auto import find_items, find_roles
from listwright.frames.table import ColumnTable
from listwright.frames.values import is_list, is_number, is_text, to_bools

T = TypeVar("T", bound=Callable[..., Any])
LOOKED_AT = 1_000  # rows of a column of text that say whether it holds numbers
NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
LIST, LIST_OF_NUMBERS = r"^\s*\[.*\]\s*$", r"^\s*\[[-+\d.eE,\s]*\]\s*$"  # as JSON, which files of text hold


@saved_as("Columns")
@dataclass(frozen=True)
class Columns:
    """How a table was read, so that later tables give the same features in the same order, with the same codes."""

    problem: str  # column of problem ids
    item: str | None = None  # columns of item ids, sizes and group labels, where there are any
    size: str | None = None
    features: tuple[str, ...] = ()  # columns by role, with patterns expanded
    context: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    catalogue: str | None = None  # column that identifies an item of a recurring set
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of the columns that are categorical
    catalogue_names: tuple[str, ...] = ()  # items of the catalogue; the position of a name is its code
    numbered: tuple[int, int] | None = None  # first number and end of the columns of SVMlight files
    links: tuple[str, ...] = ()
    group: str | None = None
    new_levels: str = "error"  # what a level that is not known means: "error", or "zeros" for none of the levels
    alternatives: str | None = None  # column of what candidates are alternatives of
    weight: str | None = None  # column of the weights of problems
    fills: Mapping[str, float] = field(default_factory=dict)  # medians of columns that had missing values in training
    marks: Mapping[str, str] = field(default_factory=dict)  # of each of them: whose 0/1 column marks its gaps
    medians: Mapping[str, float] = field(default_factory=dict)  # of the others, for missing values in later tables

    def flags(self, name: str) -> tuple[str, ...]:
        """Names of the features that a column becomes: one per level, or its own and one that marks missing values."""
        if name in self.levels:
            return tuple(f"{name}={level}" for level in self.levels[name])
        return (name, f"{name} is missing") if self.marks.get(name) == name else (name,)

    def gaps(self, chosen: Sequence[str]) -> tuple[tuple[int, int], ...]:
        """Return pairs of a feature with missing values and the one that marks them, among those `chosen` become."""
        place = {flag: at for at, flag in enumerate(flag for name in chosen for flag in self.flags(name))}
        return tuple((place[name], place[f"{self.marks[name]} is missing"]) for name in chosen if name in self.marks)

    @property
    def context_names(self) -> tuple[str, ...]:
        return tuple(flag for name in self.context for flag in self.flags(name))


@dataclass(frozen=True)
class ColumnOptions:
    """The options of `Problems.from_frame`, in its order, before a table is seen; `columns` replaces all others."""

    problem: str = "problem"
    item: str | None = "item"
    size: str | None = "size"
    group: str | None = None
    features: Sequence[str] | None = None
    context: str | Sequence[str] | None = "auto"
    vectors: str | Sequence[str] | None = None
    links: str | Sequence[str] | None = None
    catalogue: str | None = "auto"
    catalogue_names: Sequence[str] | None = None
    categorical: Sequence[str] = ()
    levels: Mapping[str, Sequence[str]] | None = None
    ignore: Sequence[str] = ()
    missing: str = "auto"
    alternatives: str | None = None
    weight: str | None = None
    columns: Columns | None = None
    new_levels: str | None = None
    fixed: bool = False  # whether no option can name other columns, as a model has named them

    def read_as_text(self) -> set[str]:
        """Columns of ids and categories, which a file reader must not convert to numbers or dates."""
        if self.columns is not None:
            kept = self.columns
            single = (kept.item, kept.catalogue, kept.group, kept.alternatives)
            return {kept.problem, *kept.levels} | {name for name in single if name is not None}
        catalogue = None if self.catalogue == "auto" else self.catalogue
        named = (self.problem, self.item, catalogue, self.group, self.alternatives)
        return {name for name in named if name is not None} | set(_as_list(self.categorical, "categorical"))


class ColumnKeywords(TypedDict, total=False):
    """The options of `Problems.from_frame` as keywords of `read` and `scan`."""

    problem: str
    item: str | None
    size: str | None
    group: str | None
    features: Sequence[str] | None
    context: str | Sequence[str] | None
    vectors: str | Sequence[str] | None
    links: str | Sequence[str] | None
    catalogue: str | None
    catalogue_names: Sequence[str] | None
    categorical: Sequence[str]
    levels: Mapping[str, Sequence[str]] | None
    ignore: Sequence[str]
    missing: str
    alternatives: str | None
    weight: str | None
    columns: Columns | None
    new_levels: str | None
    fixed: bool


class FrameKeywords(ColumnKeywords, total=False):
    """The same with the texts that the reward "rouge:..." compares with."""

    references: Any


OPTIONS = {
    option.name: inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=option.type
    )
    for option in fields(ColumnOptions)
    if option.name not in ("columns", "fixed")
} | {"references": inspect.Parameter("references", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Any")}


def with_column_options(function: T) -> T:
    """Show the options of `Problems.from_frame` among the parameters of a function that takes them as keywords."""
    signature = inspect.signature(function)
    own = {name: entry for name, entry in signature.parameters.items() if entry.kind is not entry.VAR_KEYWORD}
    options = [entry for name, entry in OPTIONS.items() if name not in own]
    function.__signature__ = signature.replace(parameters=[*own.values(), *options])  # type: ignore[attr-defined]
    return function


def choose_columns(table: ColumnTable, options: ColumnOptions, taken: set[str]) -> Columns:
    if options.new_levels not in (None, "error", "zeros"):
        raise InputError(f'new_levels must be "error" or "zeros". Got {options.new_levels!r}.')
    if options.missing not in ("auto", "error"):
        raise InputError(f'missing must be "auto" or "error". Got {options.missing!r}.')
    if options.columns is not None:
        return options.columns
    table.column(options.problem, "problem")
    context = () if options.context == "auto" else _expand(table, options.context, "context")
    vectors = _expand(table, options.vectors, "vectors")
    links = _expand(table, options.links, "links")
    named = _expand(table, options.categorical, "categorical")
    taken = taken | {name for name in (options.alternatives, options.weight) if name is not None}
    used = {*context, *vectors, *links, *named, *_expand(table, options.ignore, "ignore"), *taken}
    categorical = named + _own_categories(table, options, used)
    columns = Columns(
        problem=options.problem,
        item=_item(table, options, used - set(named)),
        size=_optional_column(table, options.size, "size"),
        group=_require_column(table, options.group, "group"),
        alternatives=_require_column(table, options.alternatives, "alternatives"),
        weight=_require_column(table, options.weight, "weight"),
        context=context,
        vectors=vectors,
        catalogue=None if options.catalogue == "auto" else _require_column(table, options.catalogue, "catalogue"),
        levels={name: tuple((options.levels or {}).get(name, ())) for name in categorical},
        catalogue_names=tuple(str(name) for name in options.catalogue_names or ()),
        numbered=_numbers(table),
        links=links,
        new_levels=options.new_levels or "error",
    )
    columns = replace(columns, features=_features(table, options, columns, taken))
    if _looks_at_values(table, options):
        automatic = {"context": options.context == "auto", "catalogue": options.catalogue == "auto"}
        columns = find_roles(table, columns, **automatic)
    warn_of_coordinates(table, columns.features)
    return columns


def _looks_at_values(table: ColumnTable, options: ColumnOptions) -> bool:
    """Return whether the values of a table may say what its columns are: not those of a scan, which come in parts."""
    return options.features is None and table.matrix is None and not table.streamed


def _item(table: ColumnTable, options: ColumnOptions, used: set[str]) -> str | None:
    """Return the column of item ids: as named, or else the one of text that names recurring items, if there is one."""
    item = _optional_column(table, options.item, "item")
    named = options.catalogue not in ("auto", None)
    if item is not None or options.item is None or named or not _looks_at_values(table, options):
        return item
    single = {options.problem, options.size, options.group}
    return find_items(table, options.problem, [name for name in table.columns if name not in used | single])


def _own_categories(table: ColumnTable, options: ColumnOptions, used: set[str]) -> tuple[str, ...]:
    if options.features is not None:
        return ()
    single = (options.problem, options.item, options.size, options.catalogue, options.group)
    return tuple(name for name in table.categories if name not in used and name not in single)


def _numbers(table: ColumnTable) -> tuple[int, int] | None:
    """Range of feature numbers of an SVMlight table: the first, and one more than the last."""
    if table.matrix is None:
        return None
    return int(not (table.matrix.indices == 0).any()), max(int(table.matrix.shape[1]), 2)


def _features(table: ColumnTable, options: ColumnOptions, columns: Columns, taken: set[str]) -> tuple[str, ...]:
    if options.features is not None:
        named = _expand(table, options.features, "features")
        return named + tuple(name for name in columns.levels if name not in (*named, *columns.context))
    used = {columns.problem, columns.item, columns.size, columns.catalogue, columns.group}
    used -= set(_expand(table, options.categorical, "categorical"))  # an item may be recognised by its name, too
    used |= {*columns.context, *columns.vectors, *columns.links}
    left_out = used | taken | set(_expand(table, options.ignore, "ignore"))
    open_names = [name for name in table.columns if name not in left_out]
    for name in table.unreadable:
        if name not in left_out:
            why = f"column {name!r} cannot be used: {table.unreadable[name]}"
            raise InputError(f"{table.source}: {why}. Correct it, or leave it out with ignore=.")
    for name in open_names:
        if name not in columns.levels:
            _no_stray_text(table, name)
    warn_of_unused(table, open_names, [name for name in open_names if name not in columns.levels])
    return tuple(name for name in open_names if name in columns.levels or is_number(table.columns[name].type))


def _no_stray_text(table: ColumnTable, name: str) -> None:
    """Raise for a column of a text file in which fewer than half of the values are not numbers."""
    column = table.columns[name]
    if not is_text(column.type) or not all(part.is_text for part in table.parts):
        return
    filled = to_bools(pc.not_equal(column, "").fill_null(False))
    strays = filled & ~to_bools(pc.match_substring_regex(column, NUMBER).fill_null(False))
    if 0 < strays.sum() < filled.sum() / 2:
        row = int(strays.argmax())
        problem = f"{column[row].as_py()!r:.40} is text among numbers"
        raise table.error(row, name, problem, "Put a number there, or name the column with ignore= or categorical=.")


def _optional_column(table: ColumnTable, name: str | None, default: str) -> str | None:
    return None if name == default and name not in table.names else _require_column(table, name, default)


def _require_column(table: ColumnTable, name: str | None, option: str) -> str | None:
    if name is not None:
        table.column(name, option)
    return name


def _expand(table: ColumnTable, patterns: str | Sequence[str] | None, option: str) -> tuple[str, ...]:
    expanded = [name for pattern in _as_list(patterns, option) for name in table.matching(pattern, option)]
    return tuple(dict.fromkeys(expanded))


def _as_list(names: str | Sequence[str] | None, option: str) -> list[str]:
    several = [names] if isinstance(names, str) else list(names or ())
    if not all(isinstance(name, str) for name in several):
        raise InputError(f"{option} must name columns. Got {names!r}.")
    return several


COORDINATES = re.compile(r"(?i)emb|vec|dim")  # in names of columns that hold one coordinate each
MANY_COORDINATES = 16


def warn_of_unused(table: ColumnTable, names: Sequence[str], plain: Sequence[str]) -> None:
    """Warn of dates and lists among `names`, and of text with few different values among `plain`, which are no use."""
    kinds = {name: table.columns[name].type for name in names}
    lists = {name: is_number(kind.value_type) for name, kind in kinds.items() if is_list(kind)}
    dates = [name for name, kind in kinds.items() if pa.types.is_temporal(kind)]
    texts = {name: table.columns[name] for name in plain if is_text(kinds[name])}
    written = [name for name, column in texts.items() if _all_match(column, NUMBER)]
    lists |= {name: _all_match(column, LIST_OF_NUMBERS) for name, column in texts.items() if _all_match(column, LIST)}
    few = [name for name, column in texts.items() if name not in {*written, *lists} and _few_values(column)]
    days = "Turn them into numbers, such as days since an event, or name them with ignore=."
    _warn_left_out(table, "dates and times are not used as features", dates, days)
    for numeric, use in ((True, "embeddings with vectors="), (False, "ids of other items with links=")):
        held = [name for name, of_numbers in lists.items() if of_numbers == numeric]
        _warn_left_out(table, "lists are not used as features", held, f"Name {use}, and others with ignore=.")
    roles = "Name those that hold categories with categorical=, ids of items with item=, and others with ignore=."
    _warn_left_out(table, "text is not used as a feature", few, roles)
    way = "Convert them to numbers, or name ids of items with item=, categories with categorical=, others with ignore=."
    _warn_left_out(table, "numbers written as text are not used as features", written, way)


def _warn_left_out(table: ColumnTable, why: str, columns: list[str], advice: str) -> None:
    if columns:
        quoted = ", ".join(map(repr, columns))
        warn(f"{table.source}: {why}, so these columns are left out: {quoted}. {advice}", DataWarning)


def _all_match(column: pa.ChunkedArray, pattern: str) -> bool:
    """Return whether the first entries that are not empty match the pattern, and there are some."""
    filled = column.slice(0, LOOKED_AT).drop_null()
    filled = filled.filter(pc.not_equal(filled, ""))
    return bool(len(filled)) and bool(to_bools(pc.match_substring_regex(filled, pattern)).all())


def _few_values(column: pa.ChunkedArray) -> bool:
    return pc.count_distinct(column).as_py() <= min(50, len(column) / 5)


def warn_of_coordinates(table: ColumnTable, features: Sequence[str]) -> None:
    """Warn of features that look like the coordinates of embeddings, such as emb_0 to emb_383, by their names."""
    by_stem: dict[str, list[str]] = {}
    for name in features:
        stem = name.rstrip("0123456789")
        if stem != name and COORDINATES.search(stem):
            by_stem.setdefault(stem, []).append(name)
    for stem, names in by_stem.items():
        if len(names) >= MANY_COORDINATES:
            warn(
                f"{table.source}: {names[0]!r} to {names[-1]!r} look like the coordinates of embeddings. As features, "
                "each is learned on its own, which takes many problems. Name them with "
                f"vectors='{stem}*', so that the policy sees how much candidates resemble the list.",
                DataWarning,
            )
