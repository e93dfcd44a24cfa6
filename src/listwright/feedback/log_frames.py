"""A log as a table: one row per candidate of every shown list.

Columns: `list`, `version`, `problem`, `item`, `position` (from 1; null for what was not shown), `propensity`, `outcome`
(null where nothing came back, or where a cascade had stopped before), then `feature: name`, and where there are any
`context: 0`, ..., `vector: 0`, ..., `catalogue`, `size`, `budget` and `group`, and what lists had to keep to: `levels`,
`per_group` and `at_least` (the number of its group, and how many items of it a list could and had to hold: lists of
numbers from coarse to fine if groups are nested), `pinned` (-1 if excluded; 1, 2, ... if pinned), `uses` and `budgets`
(lists: what it uses of each further budget, and how much there was) and `alternatives` (the number of its set).
"""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import Floats, Ints, number_within
from listwright._internal.extras import installed_backend, warn
from listwright._internal.quotas import MOST, Quotas
from listwright.errors import DataWarning, InputError
from listwright.feedback.log_checks import (
    NOT_SHOWN,
    POSITIONS,
    LogFault,
    as_floats,
    drop_lists,
    log_faults,
    not_shown,
    other_numbers,
    positions_of,
    suspicious_columns,
    wrong_positions,
)
from listwright.feedback.recommendations import Recommendations
from listwright.frames.arrays import RowGroups, group_rows
from listwright.frames.columns import ColumnOptions, Columns
from listwright.frames.frame import as_table
from listwright.frames.streams import unreadable
from listwright.frames.table import ColumnTable
from listwright.frames.values import is_number
from listwright.problems import Problems, build_problems
from listwright.tables.files import all_files, format_of, read_table

MARK = b"listwright log"
# By array of `Quotas`: its column, and what stands for no limit.
QUOTAS: dict[str, tuple[str, Any]] = {
    "groups": ("levels", 0), "most": ("per_group", MOST), "least": ("at_least", 0), "pinned": ("pinned", 0),
    "amounts": ("uses", 0.0), "budgets": ("budgets", np.inf), "alternatives": ("alternatives", -1),
}  # fmt: skip
ALIKE = (("groups", "most", "least"), ("amounts", "budgets"))  # arrays of the same shape


class ReadLog(NamedTuple):
    # runs of one policy version; outcomes, nan where nothing came back; other columns of numbers, as the outcomes
    parts: list[tuple[Recommendations, Floats, dict[str, Floats]]]
    columns: Columns  # how the candidates were read
    dropped: int  # lists left out for their faults


def as_frame(parts: Sequence[tuple[Recommendations, Floats]], backend: Any) -> Any:
    if not parts:
        raise InputError("This log is empty. Append lists first.")
    levels = max(_levels(lists.problems) for lists, _ in parts)
    table = pa.concat_tables([as_arrow(*part, nested=levels > 1) for part in parts], promote_options="default")
    frame = nw.from_native(table, eager_only=True)
    wanted = backend or installed_backend()
    return frame.to_native() if wanted == "pyarrow" else frame.to_pandas() if wanted == "pandas" else frame.to_polars()


def _levels(problems: Problems) -> int:
    return 0 if problems.quotas is None else problems.quotas.groups.shape[1]


def as_arrow(lists: Recommendations, outcomes: Floats, *, nested: bool) -> pa.Table:
    """Return the table of some lists; with `nested`, quotas of groups are lists also where there is one level."""
    problems, shown = lists.problems, lists.rows >= 0
    extra = (problems.links, problems.aspects, problems.query_terms)
    if sparse.issparse(problems.features) or any(kind is not None for kind in extra):
        raise InputError("A log with sparse features, links, aspects or query terms has no table form.")
    owners, n = problems.owners, problems.n_rows
    position, chance, gain = np.zeros(n, dtype=np.int64), np.full(n, np.nan), np.full(n, np.nan)
    rows = lists.rows[shown]
    position[rows], chance[rows], gain[rows] = np.nonzero(shown)[1] + 1, lists.propensities[shown], outcomes[shown]
    items = problems.item_ids if problems.item_ids is not None else np.arange(n) - problems.offsets[owners]
    columns: dict[str, Any] = {
        "list": np.array(lists.list_ids)[owners],
        "version": np.full(n, lists.version),
        "problem": problems.problem_ids[owners],
        "item": items,
        "position": pa.array(position, mask=position == 0),
        "propensity": pa.array(chance, mask=np.isnan(chance)),
        "outcome": pa.array(gain, mask=np.isnan(gain)),
    }
    columns |= _candidate_columns(problems, lists.budgets, nested)
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def _candidate_columns(problems: Problems, budgets: Floats | None, nested: bool) -> dict[str, Any]:
    names = problems.feature_names or range(problems.n_features)
    columns: dict[str, Any] = {f"feature: {name}": problems.features[:, j] for j, name in enumerate(names)}
    if problems.context is not None:
        context = problems.context[problems.owners]
        columns |= {f"context: {j}": context[:, j] for j in range(context.shape[1])}
    if problems.vectors is not None:
        columns |= {f"vector: {j}": problems.vectors[:, j] for j in range(problems.vectors.shape[1])}
    codes, items = problems.catalogue, problems.catalogue_names
    named = codes if codes is None or items is None else np.array(items, dtype=object)[codes]
    others: dict[str, Any] = {"catalogue": named, "size": problems.sizes}
    arrays = {} if problems.quotas is None else problems.quotas.arrays()
    as_lists = ALIKE[1] + (ALIKE[0] if nested else ())
    others |= {QUOTAS[name][0]: _quota_column(array, name in as_lists) for name, array in arrays.items() if array.size}
    others["budget"] = None if budgets is None else budgets[problems.owners]
    groups = None if problems.groups is None else [str(name) or None for name in problems.groups.tolist()]
    others["group"] = None if groups is None else pa.array(groups, pa.string())  # null in lists without groups
    return columns | {name: values for name, values in others.items() if values is not None}


def _quota_column(array: NDArray[Any], as_lists: bool) -> Any:
    """Return numbers, or lists of them for nested groups and for budgets, of which other lists may have more."""
    if not as_lists:
        return array.reshape(-1)
    starts = np.arange(0, array.size + 1, array.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(starts, array.reshape(-1))


def read_log(source: Any, given: Mapping[str, str | None], options: Mapping[str, Any]) -> ReadLog:
    table = _table_of(source, given)
    by_role = roles(table.names, given, table.source)
    check_needed(by_role, table.source)
    wanted, dropped = dict(options), 0
    if wanted.pop("drop_bad", False):
        table, dropped = drop_lists(table, by_role, _features_of(table, by_role, wanted))
    problems, columns = _problems(table, by_role, wanted)
    for fault in suspicious_columns(table, by_role):
        names = [name.removeprefix("feature: ") for name in fault.examples]
        used = [name for name in names if name in (*columns.features, *columns.context)]
        if used:
            message = f"{table.source}: {fault.message} are used as features: {', '.join(used)}."
            warn(f"{message} Leave them out with ignore=.", DataWarning)
    groups = group_rows(table, by_role["list"])
    return ReadLog(_parts(table, by_role, problems, groups), columns, dropped)


def _features_of(table: ColumnTable, by_role: Mapping[str, str], options: Mapping[str, Any]) -> list[str]:
    """Return the columns of numbers whose gaps are faults, as far as the options say."""
    numbers, columns = other_numbers(table, by_role), options.get("columns")
    if options.get("missing") == "auto":
        return []
    if columns is not None:
        used = (*columns.features, *columns.context)
        return [name for name in numbers if name in used or name.removeprefix("feature: ") in used]
    named = {role: options.get(role) for role in ("features", "ignore")}
    matching = {role: [n for p in some or () for n in table.matching(p, role)] for role, some in named.items()}
    chosen = numbers if named["features"] is None else [name for name in numbers if name in matching["features"]]
    return [name for name in chosen if name not in matching["ignore"]]


def read_faults(source: Any, given: Mapping[str, str | None], ignored: Sequence[str] = ()) -> list[LogFault]:
    table = _table_of(source, given)
    left_out = {name for pattern in ignored for name in fnmatch.filter(table.names, pattern)}
    table = replace(table, columns={name: values for name, values in table.columns.items() if name not in left_out})
    by_role = roles(table.names, given, table.source)
    check_needed(by_role, table.source)
    return log_faults(table, by_role)


def alike_files(
    paths: Sequence[str | Path], given: Mapping[str, str | None]
) -> list[tuple[list[str | Path], dict[str, str | None]]]:
    """Return the files in groups that are read as one table, each with the named columns that it has."""
    there = [columns_in([path]) for path in paths] if len(paths) > 1 else []
    if len(set(map(tuple, there))) < 2:
        return [(list(paths), dict(given))]
    for name in filter(None, given.values()):
        if not any(name in names for names in there):
            raise InputError(f"None of the files has a column {name!r}. {paths[0]} has {', '.join(there[0][:12])}.")
    own = [{role: name if name in names else None for role, name in given.items()} for names in there]
    return [([path], named) for path, named in zip(paths, own, strict=True)]


def _table_of(source: Any, given: Mapping[str, str | None]) -> ColumnTable:
    """Return the source as a `ColumnTable`; id columns of text files are read as text, so that "007" stays "007"."""
    if isinstance(source, ColumnTable):
        return source
    several = source if isinstance(source, list | tuple) else [source]
    if not all(isinstance(path, str | Path) for path in several):
        return as_table(source)
    names = {name for role in ("list", "item", "problem") for name in (*NAMES[role], given.get(role)) if name}
    unknown = all(Path(path).is_file() and format_of(Path(path)) is None for path in several)
    return read_table(several, ColumnOptions(problem="list"), names, format="parquet" if unknown else None)


def _problems(table: ColumnTable, by_role: dict[str, str], options: dict[str, Any]) -> tuple[Problems, Columns]:
    marks = {kind: prefixed_columns(table.names, kind) for kind in MARKS}
    if (known := options.get("columns")) is not None:  # in the order of an earlier file
        names = (*known.features, *known.context, *known.vectors)
        marks = {kind: {n: some[n] for n in (*names, *some) if n in some} for kind, some in marks.items()}
    own = ("catalogue", "list", "version", "problem") if options.keys() & {"features", "catalogue"} else ("catalogue",)
    is_marked = any(marks.values()) or all(name in table.names for name in own)
    table = _with_all_sizes(table) if is_marked else table
    marks = {kind: _chosen(table, some, kind, options) for kind, some in marks.items()}
    wanted = _by_marks(table, marks, by_role, options) if is_marked else _by_options(table, by_role, options)
    problems, columns = build_problems(table, wanted)
    if is_marked:
        names = tuple(marks["feature"])
        numbered = names == tuple(str(j) for j in range(len(names)))
        problems = problems._with(feature_names=None if numbered else names or None)
        if wanted.catalogue_names is not None:
            problems = problems._with(catalogue_names=None)  # which were numbers
        columns = replace(columns, features=names, context=tuple(marks["context"]), vectors=tuple(marks["vector"]))
        problems = _with_quotas(table, by_role, problems)
    if by_role.get("problem"):
        problems = _with_problem_ids(table, by_role, problems)
        columns = replace(columns, problem=by_role["problem"])
    return _plain_items(problems), columns


def _chosen(table: ColumnTable, marked: Mapping[str, str], kind: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Return those of the marked columns that the options name, with or without the mark."""
    wanted, left_out = options.get("features") if kind == "feature" else None, options.get("ignore")
    for pattern in wanted or () if marked else ():
        if not _matching(marked, [pattern]):
            raise InputError(f"{table.source} has no column {pattern!r} among its features: {', '.join(marked)}.")
    some = marked.keys() if wanted is None else _matching(marked, wanted)
    return {name: marked[name] for name in marked if name in some and name not in _matching(marked, left_out or ())}


def _matching(marked: Mapping[str, str], patterns: Sequence[str]) -> set[str]:
    return {name for name in marked for each in patterns for n in (name, marked[name]) if fnmatch.fnmatch(n, each)}


def _with_all_sizes(table: ColumnTable) -> ColumnTable:
    """Return the table with a size for every item, if any has one: that of lists without a budget does not matter."""
    sizes = table.columns.get("size")
    if sizes is None or not sizes.null_count:
        return table
    others = {name: column for name, column in table.columns.items() if name != "size"}
    return replace(table, columns=others if sizes.null_count == len(sizes) else others | {"size": sizes.fill_null(1.0)})


def _by_marks(
    table: ColumnTable, marks: Mapping[str, Mapping[str, str]], by_role: dict[str, str], options: dict[str, Any]
) -> ColumnOptions:
    named = {kind: list(columns.values()) for kind, columns in marks.items()}
    catalogue, numbered = options.get("catalogue", "catalogue" if "catalogue" in table.names else None), None
    if catalogue == "catalogue" and pa.types.is_integer(table.columns[catalogue].type):
        codes = table.columns[catalogue].combine_chunks().to_numpy()
        numbered = [str(code) for code in range(int(codes.max(initial=-1)) + 1)]
    return ColumnOptions(
        problem=by_role["list"],
        item=by_role["item"],
        features=named["feature"],
        context=named["context"],
        vectors=named["vector"],
        catalogue=catalogue,
        catalogue_names=numbered,
    )


def _by_options(table: ColumnTable, by_role: Mapping[str, str], options: dict[str, Any]) -> ColumnOptions:
    if options.get("columns") is not None:
        known: Columns = options["columns"]
        catalogue = by_role["item"] if known.catalogue == known.item else known.catalogue
        columns = replace(known, problem=by_role["list"], item=by_role["item"], catalogue=catalogue)
        columns = replace(columns, catalogue_names=())  # items are compared by name, and new ones may come
        return ColumnOptions(columns=columns, new_levels=options.get("new_levels", "error"))
    own = [name for role, name in by_role.items() if role not in ("list", "item")]
    options["ignore"] = [*(options.get("ignore") or ()), *own]
    others = [name for name in table.names if name not in (*options["ignore"], by_role["list"], by_role["item"])]
    nothing = options.get("features") is None and not any(
        name in table.columns and is_number(table.columns[name].type) for name in others
    )
    if nothing and not any(options.get(name) for name in ("catalogue", "categorical", "vectors")):
        options["catalogue"] = by_role["item"]  # nothing else tells the items apart
    defaults = {"context": None, "catalogue": None, "missing": "error"}
    return ColumnOptions(**(defaults | options | {"problem": by_role["list"], "item": by_role["item"]}))


def _with_quotas(table: ColumnTable, by_role: Mapping[str, str], problems: Problems) -> Problems:
    order = group_rows(table, by_role["list"])
    there = {name: values for name, values in table.columns.items() if values.null_count < len(values)}
    arrays = {
        name: order.sort(_quota_array(table.source, there[column], column, none))
        for name, (column, none) in QUOTAS.items()
        if column in there
    }
    if "group" in there:
        labels = order.sort(np.array(there["group"].fill_null("").to_pylist(), dtype=object))
        problems = problems._with(groups=labels)
        if arrays.keys() & {"most", "least"}:
            arrays.setdefault("groups", number_within(labels, problems.offsets)[:, None])
    if not arrays:
        return problems
    for names in ALIKE:
        shapes = [arrays[name].shape for name in names if name in arrays]
        for name in names if shapes else ():
            if arrays.setdefault(name, np.full(shapes[0], QUOTAS[name][1])).shape != shapes[0]:
                columns = ", ".join(QUOTAS[other][0] for other in names)
                raise InputError(f"{table.source}: the lists of the columns {columns} differ in length.")
    arrays = {name: array.reshape(-1) if name == "pinned" else array for name, array in arrays.items()}
    return problems._with(quotas=replace(Quotas.free(problems.n_rows), **arrays))


def _quota_array(source: str, column: pa.ChunkedArray, name: str, none: Any) -> NDArray[Any]:
    """Return numbers, or lists of them, as (rows, longest list); shorter lists are padded in front."""
    values, lengths = column.combine_chunks(), np.ones(len(column), dtype=np.int64)
    if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        lengths = values.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        values = values.flatten()
    if not is_number(values.type):
        raise InputError(f"{source}: column {name!r} must hold numbers, or lists of them. Got {column.type}.")
    array = np.full((len(column), max(1, lengths.max(initial=1))), none)
    array[np.arange(array.shape[1]) >= array.shape[1] - lengths[:, None]] = values.fill_null(none)
    return array


def _with_problem_ids(table: ColumnTable, by_role: Mapping[str, str], problems: Problems) -> Problems:
    """Problem ids, unless one problem was shown several times: then they are numbers."""
    groups = group_rows(table, by_role["list"])
    ids = groups.sort(np.array(table.columns[by_role["problem"]].to_pylist(), dtype=object))[groups.offsets[:-1]]
    if len(set(ids.tolist())) < len(ids):
        return problems._with(problem_ids=np.arange(len(ids)), numbered=True)
    plain = all(isinstance(name, int) for name in ids.tolist())
    return problems._with(problem_ids=ids.astype(np.int64) if plain else ids, numbered=False)


def _plain_items(problems: Problems) -> Problems:
    """Items without ids where these only number the candidates of a list."""
    places = np.arange(problems.n_rows) - problems.offsets[problems.owners]
    ids = problems.item_ids
    numbered = ids is not None and ids.dtype.kind in "iu" and np.array_equal(ids, places)
    return problems._with(item_ids=None) if numbered else problems


def _parts(
    table: ColumnTable, by_role: Mapping[str, str], problems: Problems, groups: RowGroups
) -> list[tuple[Recommendations, Floats, dict[str, Floats]]]:
    names = [str(name) for name in groups.ids.tolist()]
    outcome = groups.sort(_numbers(table, by_role["outcome"]))
    position = _positions(table, by_role, groups, outcome)
    shape = len(names), max(1, int(position.max(initial=0)))
    where = np.flatnonzero(position)
    places = problems.owners[where], position[where] - 1
    rows, chances, gains = np.full(shape, -1), np.full(shape, np.nan), np.full(shape, np.nan)
    rows[places] = where
    if "propensity" in by_role:
        chances[places] = groups.sort(_numbers(table, by_role["propensity"]))[where]
    gains[places] = outcome[where]
    versions, budget = (_by_list(table, by_role, groups, role) for role in ("version", "budget"))
    versions = None if versions is None else np.nan_to_num(versions)
    budget = None if budget is None or np.isnan(budget).all() else np.where(np.isnan(budget), np.inf, budget)
    others = {}  # numbers without a role, such as the chances of another policy
    for name, values in table.columns.items():
        if name not in by_role.values() and ":" not in name and is_number(values.type):
            others[name] = np.full(shape, np.nan)
            others[name][places] = groups.sort(_numbers(table, name))[where]
    cuts = np.flatnonzero(np.diff(versions)) + 1 if versions is not None else np.zeros(0, dtype=np.int64)
    parts = []
    for run in np.split(np.arange(len(names)), cuts):
        some = problems if len(run) == len(names) else problems[run]
        lists = Recommendations(
            some,
            np.where(rows[run] >= 0, rows[run] - problems.offsets[run[0]], -1),
            list_ids=tuple(names[run[0] : run[-1] + 1]),
            propensities=chances[run],
            version=0 if versions is None else int(versions[run[0]]),
            budgets=None if budget is None else budget[run],
        )
        parts.append((lists, gains[run], {name: values[run] for name, values in others.items()}))
    return parts


def _positions(table: ColumnTable, by_role: Mapping[str, str], groups: RowGroups, outcome: Floats) -> Ints:
    for role in by_role.keys() & {"shown", "position"}:
        _numbers(table, by_role[role])  # which raises for any other type
    position, shown = positions_of(table, by_role, groups)
    for bad, fault in (
        (wrong_positions(position, shown, groups.offsets), POSITIONS),
        (not_shown(shown, outcome), NOT_SHOWN),
    ):
        if bad.any():
            row = groups.row_of(int(bad.argmax()))
            item, name = (table.columns[by_role[role]][row].as_py() for role in ("item", "list"))
            raise InputError(f"{table.source}: {fault}. See item {item!s} of list {name!s}.")
    return np.where(shown, position, 0.0).astype(np.int64)


def _by_list(table: ColumnTable, by_role: Mapping[str, str], groups: RowGroups, role: str) -> NDArray[Any] | None:
    if role not in by_role:
        return None
    column, values = table.columns.get(by_role[role]), np.zeros(0)
    if role == "version" and column is not None and not is_number(column.type):  # texts are numbered in their order
        values = np.unique([str(text or "") for text in column.to_pylist()], return_inverse=True)[1].astype(np.float64)
    return groups.sort(values if len(values) else _numbers(table, by_role[role]))[groups.offsets[:-1]]


def _numbers(table: ColumnTable, name: str) -> Floats:
    column = table.column(name, name)
    if not (is_number(column.type) or pa.types.is_null(column.type)):
        raise InputError(f"{table.source}: column {name!r} must hold numbers. Got {column.type}.")
    return np.full(table.n_rows, np.nan) if pa.types.is_null(column.type) else as_floats(column)


def columns_in(paths: Sequence[str | Path]) -> list[str]:
    """Return the column names of the first of some files; of Parquet, without reading its rows."""
    first = next(iter(all_files(list(paths), None)), None)
    if first is not None and format_of(first) in (None, "parquet"):
        try:
            return list(pq.read_schema(first).names)
        except (OSError, pa.ArrowException) as error:
            raise unreadable(first, error) from None
    return _table_of(list(paths), {}).names


def write_parquet(table: pa.Table, path: str | Path, *, cascade: bool) -> None:
    pq.write_table(table.replace_schema_metadata(file_mark(cascade)), path)


def file_mark(cascade: bool) -> dict[bytes, bytes]:
    return {MARK: json.dumps({"cascade": cascade}).encode()}


def file_cascade(path: str | Path) -> bool:
    try:
        about = json.loads((pq.read_schema(path).metadata or {}).get(MARK, b"{}"))
    except (ValueError, OSError, pa.ArrowException):
        return False
    return isinstance(about, dict) and about.get("cascade") is True


# The first name of each is the one that `Log.to_frame` writes.
NAMES = {
    "list": (
        "list", "list_id", "request", "request_id", "impression", "impression_id", "slate", "slate_id", "session",
        "session_id", "search_id", "query", "query_id", "qid", "visit", "visit_id", "page_view", "page_view_id",
    ),
    "item": ("item", "item_id", "product", "product_id", "article", "article_id", "doc", "doc_id", "document",
             "document_id", "movie", "movie_id", "candidate", "candidate_id", "action"),
    "position": ("position", "pos", "rank", "slot"),
    "shown": ("shown", "displayed", "exposed", "impressed", "is_shown", "was_shown"),
    "outcome": ("outcome", "reward", "clicked", "click", "clicks", "gain", "is_clicked", "label"),
    "propensity": ("propensity", "propensity_score", "pscore", "probability", "prob", "chance", "action_prob"),
    "version": ("version", "policy_version", "model_version"),
    "problem": ("problem", "problem_id"),
    "budget": ("budget",),
}  # fmt: skip
OPTIONS = {
    role: "list_id" if role == "list" else role
    for role in ("list", "item", "position", "shown", "outcome", "propensity", "version")
}  # by role: the option that names its column
MARKS = ("feature", "context", "vector")  # columns that `Log.to_frame` writes are marked as "feature: price"


def roles(columns: Iterable[str], given: Mapping[str, str | None], source: str) -> dict[str, str]:
    there = list(columns)
    by_role = {}
    for role, usual in NAMES.items():
        name = given.get(role)
        if name is not None and name not in there:
            raise InputError(f"{source} has no column {name!r}. It has {', '.join(map(repr, there[:12]))}.")
        column = _usual(role, usual, there, set(given.values()), source) if name is None else name
        if column is not None:
            by_role[role] = column
    if "problem" in by_role and "list" not in by_role:
        by_role["list"] = by_role.pop("problem")
    return by_role


def check_needed(by_role: Mapping[str, str], source: str) -> None:
    lacking = [role for role in ("list", "item", "outcome") if role not in by_role]
    if "position" not in by_role and "shown" not in by_role:
        lacking.append("position")
    if lacking:
        role = lacking[0]
        some = ", ".join(NAMES[role][:5])
        raise InputError(
            f"{source}: a log needs a column for the {role}, named {some} or otherwise. Missing: {', '.join(lacking)}. "
            f"Name it with {OPTIONS[role]}=."
        )


def prefixed_columns(columns: Iterable[str], kind: str) -> dict[str, str]:
    """Return the columns with the prefix `kind: `, which `Log.to_frame` writes, keyed by their name without it."""
    mark = f"{kind}: "
    return {name[len(mark) :]: name for name in columns if name.startswith(mark)}


def _usual(role: str, usual: tuple[str, ...], there: list[str], taken: set[str | None], source: str) -> str | None:
    plain = {name: "_".join(name.strip().lower().replace("-", " ").split()) for name in there if name not in taken}
    matching = [name for name in there if plain.get(name) in usual]
    if len(matching) > 1:
        exact = [name for name in matching if name == usual[0]]
        if not exact or role not in ("list", "problem"):
            several = ", ".join(matching)
            raise InputError(
                f"{source} has several columns that could be the {role}: {several}. Name the right one with "
                f"{OPTIONS.get(role, role)}=, and leave the others out of the features with ignore=."
            )
        return exact[0]
    return matching[0] if matching else None
