"""A log as a table: one row a candidate of every shown list.

Columns: `list`, `version`, `problem`, `item`, `position` (from 1; null for what was not shown), `propensity`, `outcome`
(null where nothing came back, or where a cascade had stopped before), then `feature: name`, and where there are any
`context: 0`, ..., `vector: 0`, ..., `catalogue`, `size`, `budget`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import Floats, Ints, starts_of
from listwright.errors import InputError
from listwright.feedback.recommendations import Recommendations
from listwright.lists import installed_backend
from listwright.problems import Problems

NEEDED = ("list", "item", "position", "propensity", "outcome")
MARK = b"listwright log"

Columns = dict[str, Any]


def as_frame(parts: Sequence[Recommendations], outcomes: Mapping[str, Floats], backend: Any) -> Any:
    """The frame of some shown lists and their outcomes."""
    if not parts:
        raise InputError("This log is empty. Append lists first.")
    tables = [pa.table(_columns(part, outcomes)) for part in parts]
    frame = nw.from_native(pa.concat_tables(tables), eager_only=True)
    wanted = backend or installed_backend()
    return frame.to_native() if wanted == "pyarrow" else frame.to_pandas() if wanted == "pandas" else frame.to_polars()


def _columns(lists: Recommendations, outcomes: Mapping[str, Floats]) -> Columns:
    problems, shown = lists.problems, lists.rows >= 0
    if sparse.issparse(problems.features) or problems.links is not None:
        raise InputError("A log with sparse features or links has no table form.")
    owners, n = problems.owners, problems.n_rows
    position, chance, gain = np.zeros(n), np.full(n, np.nan), np.full(n, np.nan)
    order = np.nonzero(shown)[1]
    position[lists.rows[shown]], chance[lists.rows[shown]] = order + 1, lists.propensities[shown]
    for i, name in enumerate(lists.list_ids):
        if name in outcomes:
            gain[lists.rows[i, : len(outcomes[name])]] = outcomes[name]
    items = problems.item_ids if problems.item_ids is not None else np.arange(n) - problems.offsets[owners]
    columns: Columns = {
        "list": np.array(lists.list_ids)[owners],
        "version": np.full(n, lists.version),
        "problem": problems.problem_ids[owners],
        "item": items,
        "position": pa.array(position.astype(np.int64), mask=position == 0),
        "propensity": pa.array(chance, mask=np.isnan(chance)),
        "outcome": pa.array(gain, mask=np.isnan(gain)),
    }
    return {name: pa.array(values) for name, values in (columns | _known(problems, lists.room)).items()}


def _known(problems: Problems, room: Floats | None) -> Columns:
    names = problems.feature_names or range(problems.n_features)
    columns: Columns = {f"feature: {name}": problems.features[:, j] for j, name in enumerate(names)}
    if problems.context is not None:
        context = problems.context[problems.owners]
        columns |= {f"context: {j}": context[:, j] for j in range(context.shape[1])}
    if problems.vectors is not None:
        columns |= {f"vector: {j}": problems.vectors[:, j] for j in range(problems.vectors.shape[1])}
    if problems.catalogue is not None:
        columns["catalogue"] = problems.catalogue
    if problems.sizes is not None:
        columns["size"] = problems.sizes
    if room is not None:
        columns["budget"] = room[problems.owners]
    return columns


def read_frame(
    frame: Any, *, features: Sequence[str] | None, context: Sequence[str] | None
) -> tuple[list[Recommendations], dict[str, Floats]]:
    """The shown lists, one part a policy version, and the outcomes by list."""
    table = nw.from_native(frame, eager_only=True)
    missing = [name for name in NEEDED if name not in table.columns]
    if missing:
        raise InputError(f"A log needs the columns {', '.join(NEEDED)}. Missing: {', '.join(missing)}.")
    columns = {name: _values(table[name]) for name in table.columns}
    names, first, owners = np.unique(columns["list"].astype(str), return_index=True, return_inverse=True)
    rank = np.empty(len(names), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(names))  # lists in order of first appearance
    order = np.argsort(rank[owners], kind="stable")
    columns = {name: values[order] for name, values in columns.items()}
    names, counts = names[np.argsort(first)], np.bincount(rank[owners])
    offsets = starts_of(counts)
    problems = _problems(columns, offsets, features, context)
    return _parts(columns, problems, offsets, names), _outcomes(columns, offsets, names)


def _values(column: Any) -> NDArray[Any]:
    """Numbers with nan for null; anything else as it is."""
    if column.dtype.is_numeric():
        whole = column.cast(nw.Float64).fill_null(float("nan")) if column.is_null().any() else column
        return whole.to_numpy()
    return np.array(column.to_list(), dtype=object)


def _problems(
    columns: Columns, offsets: Ints, features: Sequence[str] | None, context: Sequence[str] | None
) -> Problems:
    tables = {kind: _marked(columns, kind) for kind in ("feature", "context", "vector")}
    wanted = {"feature": features, "context": context}
    tables |= {kind: {name: columns[name] for name in given} for kind, given in wanted.items() if given is not None}
    stacked = {kind: np.stack(list(table.values()), axis=1) if table else None for kind, table in tables.items()}
    names = list(tables["feature"])
    starts, places = offsets[:-1], np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    items = columns["item"]
    numbered = items.dtype.kind in "iuf" and np.array_equal(items, places)
    rows_features = stacked["feature"]
    return Problems.from_arrays(
        np.zeros((offsets[-1], 0), dtype=np.float32) if rows_features is None else rows_features,
        offsets=offsets,
        context=None if stacked["context"] is None else stacked["context"][starts],
        vectors=stacked["vector"],
        catalogue=columns.get("catalogue"),
        sizes=columns.get("size"),
        problem_ids=_once(columns["problem"][starts]) if "problem" in columns else None,
        item_ids=None if numbered else items,
        feature_names=None if names == [str(j) for j in range(len(names))] else names,
    )


def _once(ids: NDArray[Any]) -> NDArray[Any] | None:
    """Problem ids, unless one problem was shown several times: then they are numbers."""
    return ids if len(set(ids.tolist())) == len(ids) else None


def _marked(columns: Columns, kind: str) -> Columns:
    mark = f"{kind}: "
    return {name[len(mark) :]: values for name, values in columns.items() if name.startswith(mark)}


def _parts(columns: Columns, problems: Problems, offsets: Ints, names: NDArray[Any]) -> list[Recommendations]:
    position = np.nan_to_num(columns["position"].astype(np.float64)).astype(np.int64)
    longest = max(1, int(position.max(initial=0)))
    rows, chances = np.full((len(names), longest), -1), np.full((len(names), longest), np.nan)
    where = np.flatnonzero(position)
    rows[problems.owners[where], position[where] - 1] = where
    chances[problems.owners[where], position[where] - 1] = columns["propensity"].astype(np.float64)[where]
    _check_positions(rows, position, offsets, names)
    versions = columns.get("version", np.zeros(len(position)))[offsets[:-1]].astype(np.int64)
    budget = columns.get("budget")
    parts = []
    for run in np.split(np.arange(len(names)), np.flatnonzero(np.diff(versions)) + 1):
        some = problems[run]
        local = np.where(rows[run] >= 0, rows[run] - offsets[run[0]], -1)
        room = None if budget is None else budget[offsets[run]].astype(np.float64)
        ids, version = tuple(names[run].tolist()), int(versions[run[0]])
        parts.append(Recommendations(some, local, list_ids=ids, propensities=chances[run], version=version, room=room))
    return parts


def _check_positions(rows: Ints, position: Ints, offsets: Ints, names: NDArray[Any]) -> None:
    """Positions of a list must be 1, 2, ... without a gap or a repeat."""
    shown = np.add.reduceat((position > 0).astype(np.int64), offsets[:-1])
    filled = (rows >= 0).sum(axis=1)
    last = np.where(rows >= 0, np.arange(rows.shape[1]) + 1, 0).max(axis=1)
    bad = np.flatnonzero((shown != filled) | (last != filled))
    if len(bad):
        raise InputError(f"The positions of list {names[bad[0]]} must be 1, 2, ... with one item each.")


def _outcomes(columns: Columns, offsets: Ints, names: NDArray[Any]) -> dict[str, Floats]:
    position = np.nan_to_num(columns["position"].astype(np.float64)).astype(np.int64)
    gains = columns["outcome"].astype(np.float64)
    lost = np.flatnonzero(~np.isnan(gains) & (position == 0))
    if len(lost):
        item, name = columns["item"][lost[0]], columns["list"][lost[0]]
        raise InputError(f"Feedback for item {item!s} of list {name!s}, which did not show it.")
    found = {}
    for i, name in enumerate(names):
        mine = slice(offsets[i], offsets[i + 1])
        order = np.argsort(np.where(position[mine] > 0, position[mine], np.iinfo(np.int64).max), kind="stable")
        told = gains[mine][order][: int((position[mine] > 0).sum())]
        seen = np.flatnonzero(~np.isnan(told))
        if len(seen):
            found[str(name)] = told[: seen[-1] + 1]
    return found


def write_parquet(table: Any, path: str | Path, *, cascade: bool) -> None:
    """Writes a table, and whether its outcomes are those of a cascade."""
    pq.write_table(table.replace_schema_metadata({MARK: json.dumps({"cascade": cascade})}), path)


def read_parquet(path: str | Path) -> tuple[Any, bool]:
    """The table, and whether its outcomes are those of a cascade."""
    try:
        table = pq.read_table(path)
        about = json.loads((table.schema.metadata or {})[MARK])
    except (KeyError, ValueError, OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path} is no log that was written by Log.to_parquet: {error}.") from None
    return table, bool(about.get("cascade"))
