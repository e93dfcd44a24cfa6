"""Read a data frame or table with one row per candidate into the arrays that `Problems.from_arrays` takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard

import narwhals as nw
import pyarrow as pa
from narwhals.typing import IntoFrame
from numpy.typing import NDArray

from listwright._internal.arrays import Ints
from listwright.errors import InputError
from listwright.frames.arrays import (
    RowGroups,
    catalogue_codes,
    catalogue_of,
    context_of,
    features_of,
    group_rows,
    levels_of,
    links_of,
    require_unique_items,
    sizes_of,
    vectors,
    weights_of,
)
from listwright.frames.auto import fill_gaps, warn_of_new_gaps
from listwright.frames.columns import ColumnOptions, Columns, choose_columns
from listwright.frames.rewards import RewardData, as_spec, build_reward
from listwright.frames.table import ColumnTable, FileRows, no_repeats
from listwright.frames.values import as_array, names, texts
from listwright.rewards import WeightedProblems

REFERENCE_COLUMNS = ("reference", "text")  # where the text of a reference is looked for


def table_arrays(
    table: ColumnTable, options: ColumnOptions, *, reward: Any = None, references: Any = None
) -> tuple[dict[str, Any], Columns]:
    table = replace(table, fixed=options.fixed or options.columns is not None)
    if options.columns is not None:
        table, options = _as_before(table, options, options.columns)
    if table.n_rows == 0:
        raise InputError(f"{table.source} has no rows. There must be one row per candidate.")
    spec = as_spec(reward)
    taken = set() if spec is None else set(spec.columns_of(table))
    columns = _with_levels(table, choose_columns(table, options, taken))
    if options.columns is None and table.matrix is None:
        columns = fill_gaps(table, columns, refuse=options.missing == "error")
    elif options.columns is not None:
        warn_of_new_gaps(table, columns)
    if not (columns.features or columns.numbered or columns.context or columns.catalogue):
        way = "Name some with features= or catalogue="
        raise InputError(f"{table.source} has no features: no numeric column is left. {way}.")
    new_levels = options.new_levels or columns.new_levels
    return read_arrays(table, columns, spec or reward, references=references, new_levels=new_levels), columns


def _as_before(table: ColumnTable, options: ColumnOptions, known: Columns) -> tuple[ColumnTable, ColumnOptions]:
    """Read like the table of an earlier fit: the export of a log marks its columns, and names its catalogue itself."""
    kinds = {"feature": known.features, "context": known.context, "vector": known.vectors}
    marked = {f"{kind}: {name}": name for kind, names in kinds.items() for name in names if name not in table.names}
    table = replace(table, columns={marked.get(name, name): values for name, values in table.columns.items()})
    by_item = known.catalogue == "catalogue" and "catalogue" not in table.names
    return table, replace(options, columns=replace(known, catalogue=known.item)) if by_item else options


def read_arrays(
    table: ColumnTable, columns: Columns, reward: Any, *, references: Any, new_levels: str
) -> dict[str, Any]:
    groups = group_rows(table, columns.problem)
    features, feature_names = features_of(table, columns, groups, new_levels=new_levels)
    arrays = {
        "features": features,
        "offsets": groups.offsets,
        "context": context_of(table, columns, groups, new_levels=new_levels),
        "catalogue": _catalogue(table, columns, groups),
        "sizes": sizes_of(table, columns, groups),
        "problem_ids": groups.ids,
        "item_ids": _items(table, columns, groups),
        "feature_names": feature_names,
        "vectors": groups.sort(vectors(table, columns.vectors, "vectors")) if columns.vectors else None,
        "links": links_of(table, columns, groups),
        "groups": _labels(table, columns.group, "group", groups),
        "alternatives": _labels(table, columns.alternatives, "alternatives", groups),
    }
    if reward is not None:
        built = build_reward(reward, RewardData(table, groups, arrays["item_ids"], references))
        weights = weights_of(table, columns.weight, groups)
        arrays["reward"] = built if weights is None else WeightedProblems(built, weights)
    return arrays


def references_by_problem(references: Any, problem: str) -> dict[str, list[str]] | None:
    if references is None:
        return None
    if isinstance(references, Mapping):
        return _references_from_mapping(references)
    table = references if isinstance(references, ColumnTable) else as_table(references)
    return _references_from_table(table, problem)


def as_table(frame: Any) -> ColumnTable:
    """Convert a frame of pandas, polars, pyarrow or DuckDB to a `ColumnTable`; lazy ones are collected."""
    eager = _collect(frame)
    no_repeats(map(str, eager.columns), "The table")
    columns, unreadable = {}, {}
    for name in eager.columns:
        try:
            columns[str(name)] = as_chunked(eager.get_column(name).to_arrow())
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            unreadable[str(name)] = str(error).partition("\n")[0]
    categories = tuple(str(name) for name, kind in eager.schema.items() if kind in (nw.Categorical, nw.Enum))
    backend = eager.implementation.value
    index = tuple(map(str, eager.to_native().index.names)) if eager.implementation.is_pandas() else ()
    return ColumnTable(columns, (FileRows("", len(eager)),), unreadable, categories, backend=backend, index=index)


def _collect(frame: Any) -> nw.DataFrame[Any]:
    try:
        known = nw.from_native(frame)
        return known.collect() if isinstance(known, nw.LazyFrame) else known
    except TypeError:
        if isinstance(frame, str | Path):
            way = "Read files with lw.read (listwright.read), and pass what it returns."
            raise InputError(f"Got the path {str(frame)!r}. {way}") from None
        kind = f"{type(frame).__module__}.{type(frame).__name__}"
        raise InputError(f"Give a frame of pandas, polars, pyarrow or DuckDB. Got {kind}.") from None
    except Exception as error:  # noqa: BLE001 - a lazy frame fails with whatever its library raises
        if isinstance(error, nw.exceptions.DuplicateError) and not hasattr(frame, "collect_schema"):  # of a lazy one
            no_repeats(map(str, getattr(frame, "column_names", None) or frame.columns), "The table")
        raise InputError(f"This frame cannot be read: {error}") from None


def is_frame(given: Any) -> TypeGuard[IntoFrame]:
    try:
        return isinstance(nw.from_native(given, pass_through=True), nw.DataFrame | nw.LazyFrame)
    except nw.exceptions.NarwhalsError:  # such as two columns of the same name, which `as_table` explains
        return True


def as_chunked(column: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if str(chunked.type) == "extension<arrow.uuid>":  # whose bytes are no text
        return pa.chunked_array([pa.array([entry and str(entry) for entry in chunked.to_pylist()], pa.string())])
    return chunked.cast(pa.string()) if pa.types.is_dictionary(chunked.type) else chunked


def _with_levels(table: ColumnTable, columns: Columns) -> Columns:
    levels = {name: given or levels_of(table, name) for name, given in columns.levels.items()}
    if columns.catalogue is not None and not columns.catalogue_names:
        columns = replace(columns, catalogue_names=catalogue_of(table, columns.catalogue))
    return replace(columns, levels=levels)


def _items(table: ColumnTable, columns: Columns, groups: RowGroups) -> NDArray[Any] | None:
    if columns.item is None:
        return None
    codes, values = names(table, columns.item, "item")
    require_unique_items(table, groups, columns.item, codes, "item")
    return groups.sort(as_array(values)[codes])


def _labels(table: ColumnTable, column: str | None, option: str, groups: RowGroups) -> NDArray[Any] | None:
    if column is None:
        return None
    codes, values = names(table, column, option)
    return groups.sort(as_array(values)[codes])


def _catalogue(table: ColumnTable, columns: Columns, groups: RowGroups) -> Ints | None:
    if columns.catalogue is None:
        return None
    codes = catalogue_codes(table, columns.catalogue, columns.catalogue_names)
    require_unique_items(table, groups, columns.catalogue, codes, "catalogue")
    return groups.sort(codes)


def _references_from_table(table: ColumnTable, problem: str) -> dict[str, list[str]]:
    if table.n_rows == 0:
        raise InputError(f"{table.source} has no rows. References need one row each.")
    codes, ids = names(table, problem, "problem")
    column = next((name for name in REFERENCE_COLUMNS if name in table.names), REFERENCE_COLUMNS[0])
    by_id: dict[str, list[str]] = {}
    for code, text in zip(codes, texts(table, column, "references"), strict=True):
        by_id.setdefault(str(ids[code]), []).append(text)
    return by_id


def _references_from_mapping(references: Mapping[Any, Any]) -> dict[str, list[str]]:
    by_id = {str(name): [some] if isinstance(some, str) else list(some) for name, some in references.items()}
    for name, several in by_id.items():
        if not all(isinstance(text, str) for text in several):
            raise InputError(f"References of problem {name} must be texts. Got {several!r:.60}.")
    return by_id
