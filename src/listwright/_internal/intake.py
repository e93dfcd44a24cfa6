"""Where a user's arrays come in: shapes and values are checked, and errors name the problem and the item."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import (
    Floats,
    Floats32,
    Ints,
    as_numbers,
    as_whole_numbers,
    codes_of,
    first_bad,
    starts_of,
)
from listwright._internal.quotas import Quotas
from listwright.errors import InputError


@dataclass(frozen=True)
class Intake:
    """Shape of the input (which rows belong to which problem), with the names that messages use."""

    table: Any  # (rows, d), not yet checked
    offsets: Ints  # where each problem starts, and the number of rows
    items_each: int | None  # number of candidates of every problem when features came as (problems, items, d)
    problem_ids: NDArray[Any]  # unique ids; 0, 1, 2, ... where none were given
    item_ids: NDArray[Any] | None  # ids of the candidates, unique within a problem

    @classmethod
    def of(cls, features: Any, offsets: Any, problem_ids: Any, item_ids: Any) -> Intake:
        table, starts, items_each = _layout(features, offsets)
        ids = _problem_ids(problem_ids, len(starts) - 1)
        empty = first_bad(starts[1:] == starts[:-1])
        if empty is not None:
            raise InputError(f"Problem {ids[empty]!s} has no candidates. Leave it out.")
        shape = cls(table, starts, items_each, ids, None)
        return shape if item_ids is None else replace(shape, item_ids=shape._item_ids(item_ids))

    @property
    def n_problems(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_rows(self) -> int:
        return int(self.offsets[-1])

    def name(self, row: int) -> str:
        """Return a row as messages name it, such as "item 3 of problem q7"."""
        owner = int(np.searchsorted(self.offsets, row, side="right")) - 1
        item = row - int(self.offsets[owner]) if self.item_ids is None else self.item_ids[row]
        return f"item {item!s} of problem {self.problem_ids[owner]!s}"

    def features(self) -> Any:
        numbers = self.table.data if sparse.issparse(self.table) else self.table
        if not np.isfinite(numbers).all():
            bad = tuple(np.argwhere(~np.isfinite(numbers))[0])
            row, column = bad[0], bad[-1]
            if sparse.issparse(self.table):
                row, column = np.searchsorted(self.table.indptr, row, side="right") - 1, self.table.indices[row]
            what = f"Feature {column} of {self.name(int(row))} is {numbers[bad]}"
            raise InputError(f"{what}. Features must be finite numbers in float32.")
        return self.table

    def vectors(self, values: Any) -> Any:
        if values is None:
            return None
        table = self._row_table(values, "vectors")
        numbers = table.data if sparse.issparse(table) else table
        if not np.isfinite(numbers).all():
            raise InputError("vectors must be finite numbers in float32.")
        return table

    def _row_table(self, values: Any, name: str) -> Any:
        """A table with one row per candidate in float32, dense or CSR; three dimensions are flattened."""
        if sparse.issparse(values):
            table = sparse.csr_array(values, dtype=np.float32)
        else:
            table = as_numbers(values, name, np.float32)
            table = table.reshape(-1, table.shape[-1]) if table.ndim == 3 else table
        if table.ndim != 2 or table.shape[0] != self.n_rows:
            raise InputError(f"{name} must have one row per candidate ({self.n_rows}). Got shape {table.shape}.")
        return table

    def links(self, tables: Any) -> dict[str, sparse.csr_array] | None:
        """CSR (rows, w) by name: entry (i, j) links row i to candidate j of its own problem."""
        return _by_name(tables, "links", self._link_table)

    def _link_table(self, values: Any, name: str) -> sparse.csr_array:
        table = sparse.csr_array(self._row_table(values, name))
        rows = np.repeat(np.arange(self.n_rows), np.diff(table.indptr))
        counts = np.repeat(np.diff(self.offsets), np.diff(self.offsets))
        bad = first_bad(table.indices >= counts[rows])
        if bad is not None:
            where = f"{self.name(int(rows[bad]))} to candidate {table.indices[bad]}"
            raise InputError(f"{name} links {where}, but its problem has {counts[rows[bad]]} candidates.")
        if not np.isfinite(table.data).all():
            raise InputError(f"{name} must hold finite numbers.")
        return table

    def aspects(self, tables: Any) -> dict[str, Floats32] | None:
        return _by_name(tables, "aspects", self._aspect_table)

    def _aspect_table(self, values: Any, name: str) -> Floats32:
        table = self._row_table(as_numbers(values, name, np.float32), name)
        bad = first_bad(np.asarray(~((table >= 0) & (table <= 1)).all(axis=1)))
        if bad is not None:
            wrong = table[bad][~((table[bad] >= 0) & (table[bad] <= 1))][0]
            raise InputError(
                f"{name} of {self.name(bad)} is {wrong}. Scale each aspect from 0 to 1 within its problem; 0 for none."
            )
        return table

    def context(self, values: Any) -> Floats32 | None:
        if values is None:
            return None
        table = as_numbers(values, "context", np.float32)
        if table.ndim != 2 or len(table) != self.n_problems:
            raise InputError(f"context must have one row per problem: ({self.n_problems}, c). Got shape {table.shape}.")
        if not np.isfinite(table).all():
            owner, column = np.argwhere(~np.isfinite(table))[0]
            raise InputError(
                f"Context {column} of problem {self.problem_ids[owner]!s} is {table[owner, column]}. "
                "Contexts must be finite numbers in float32."
            )
        return table

    def catalogue(self, values: Any) -> Ints | None:
        """Catalogue item of each row: whole numbers from 0, at most once per problem."""
        if values is None:
            return None
        items = self._by_row(as_whole_numbers(values, "catalogue"), "catalogue")
        bad = first_bad(items < 0)
        if bad is not None:
            raise InputError(f"catalogue of {self.name(bad)} is {items[bad]}. It must be 0, 1, 2, ...")
        self._once_a_problem(items, "catalogue item")
        return items

    def sizes(self, values: Any) -> Floats | None:
        if values is None:
            return None
        sizes = self._by_row(as_numbers(values, "sizes"), "sizes")
        bad = first_bad(~(np.isfinite(sizes) & (sizes > 0)))
        if bad is not None:
            raise InputError(f"The size of {self.name(bad)} is {sizes[bad]}. Sizes must be above 0.")
        return sizes

    def groups(self, values: Any) -> NDArray[Any] | None:
        return None if values is None else self._by_row(_names(values), "groups")

    def names(self, names: Sequence[str] | None) -> tuple[str, ...] | None:
        if names is None:
            return None
        if len(names) != self.table.shape[1]:
            raise InputError(f"feature_names must have one name per column ({self.table.shape[1]}). Got {len(names)}.")
        return tuple(str(name) for name in names)

    def _item_ids(self, values: Any) -> NDArray[Any]:
        ids = self._by_row(_names(values), "item_ids")
        self._once_a_problem(ids, "item id")
        return ids

    def _by_row(self, values: NDArray[Any], name: str) -> NDArray[Any]:
        """One entry per row, from (rows,), (problems, items) or, where features came in three dimensions, (items,)."""
        equal = (np.diff(self.offsets) == self.offsets[1]).all()
        if values.shape == (self.n_rows,) or (equal and values.shape == (self.n_problems, self.offsets[1])):
            return values.reshape(-1)
        if self.items_each is not None and values.shape == (self.items_each,):
            return np.tile(values, self.n_problems)
        raise InputError(f"{name} must have one entry per row ({self.n_rows}). Got shape {values.shape}.")

    def _once_a_problem(self, values: NDArray[Any], what: str) -> None:
        """Raise InputError, naming the problem and the value, where a value occurs twice in a problem."""
        _, codes = np.unique(values, return_inverse=True) if values.dtype != object else (None, codes_of(values))
        owners = np.repeat(np.arange(self.n_problems), np.diff(self.offsets))
        keys = owners * (int(codes.max()) + 1) + codes
        order = np.argsort(keys, kind="stable")
        bad = first_bad(np.diff(keys[order]) == 0)
        if bad is not None:
            row = int(order[bad + 1])
            twice = f"{what} {values[row]!s} twice. List an item only once per problem."
            raise InputError(f"Problem {self.problem_ids[owners[row]]!s} has {twice}")


def _layout(features: Any, offsets: Any) -> tuple[Any, Ints, int | None]:
    """Return the float32 table (rows, d), the offsets, and the items per problem of features with three dimensions."""
    if sparse.issparse(features):
        with np.errstate(over="ignore"):  # a number too large for float32 turns into inf, which is reported
            table = sparse.csr_array(features).astype(np.float32, copy=False)
        return table, _offsets(offsets, table.shape[0]), None
    array = as_numbers(features, "features", np.float32)
    if array.ndim == 3 and offsets is None:
        if array.shape[0] == 0 or array.shape[1] == 0:
            raise InputError(f"There are no candidates: features has shape {array.shape}.")
        starts = np.arange(array.shape[0] + 1) * array.shape[1]
        return array.reshape(array.shape[0] * array.shape[1], array.shape[2]), starts, array.shape[1]
    if array.ndim != 2:
        raise InputError(f"features must be (rows, d) with offsets, or (problems, items, d). Got shape {array.shape}.")
    return array, _offsets(offsets, len(array)), None


def _offsets(offsets: Any, n_rows: int) -> Ints:
    if offsets is None:
        raise InputError("Features in rows need offsets. For a single problem pass offsets=[0, number of rows].")
    starts = as_whole_numbers(offsets, "offsets")
    if starts.ndim != 1 or len(starts) < 2 or n_rows == 0:
        raise InputError(f"There are no problems: offsets has shape {starts.shape} and features {n_rows} rows.")
    if starts[0] != 0 or starts[-1] != n_rows:
        raise InputError(f"offsets must run from 0 to the number of rows, {n_rows}. Got {starts[0]} to {starts[-1]}.")
    bad = first_bad(starts[1:] < starts[:-1])
    if bad is not None:
        raise InputError(f"offsets must not fall. Got {starts[bad]} and then {starts[bad + 1]} at position {bad + 1}.")
    return starts


def _problem_ids(values: Any, n_problems: int) -> NDArray[Any]:
    """Problem ids, checked to be unique; 0, 1, 2, ... where none were given."""
    if values is None:
        return np.arange(n_problems)
    ids = _names(values)
    if ids.shape != (n_problems,):
        raise InputError(f"problem_ids must have one id per problem ({n_problems}). Got shape {ids.shape}.")
    _, first, counts = np.unique(codes_of(ids), return_index=True, return_counts=True)
    bad = first_bad(counts > 1)
    if bad is not None:
        raise InputError(f"Problem id {ids[first[bad]]!s} occurs {counts[bad]} times. Ids must be unique.")
    return ids


def _names(values: Any) -> NDArray[Any]:
    """Return an array of names in which numbers stay numbers and mixed types stay as they are (dtype object)."""
    array = np.asarray(values)
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        names = np.asarray(values, dtype=object)
        return array if all(isinstance(value, str) for value in names.flat) else names
    return array


def _by_name(tables: Any, kind: str, read: Callable[[Any, str], Any]) -> dict[str, Any] | None:
    if tables is None:
        return None
    if not isinstance(tables, Mapping) or not tables:
        raise InputError(f"{kind} must be a dictionary of tables by name. Got {type(tables).__name__}.")
    return {str(name): read(table, f"{kind}[{name!r}]") for name, table in tables.items()}


KINDS_OF_DATA = (
    *("context", "catalogue", "sizes", "reward", "item_ids", "vectors"),
    *("links", "aspects", "query_terms", "groups"),
)  # that all parts of a batch have, or none


def join_fields(parts: Sequence[Any]) -> dict[str, Any]:
    first, others = parts[0], parts[1:]
    for part in others:
        _same_shape(first, part)
    ids, numbered = _join_ids(parts)
    by_row = ("context", "catalogue", "sizes", "item_ids", "groups")
    arrays = {name: [getattr(part, name) for part in parts] for name in by_row}
    return {name: None if some[0] is None else np.concatenate(some) for name, some in arrays.items()} | {
        "features": _stack([part.features for part in parts]),
        "offsets": starts_of(np.concatenate([part.counts for part in parts])),
        "reward": None if first.reward is None else first.reward.join([part.reward for part in others]),
        "problem_ids": ids,
        "vectors": None if first.vectors is None else _stack([part.vectors for part in parts]),
        "links": _stack_by_name([part.links for part in parts]),
        "aspects": _stack_by_name([part.aspects for part in parts]),
        "query_terms": first.query_terms and first.query_terms.join([part.query_terms for part in others]),
        "quotas": join_quotas(parts),
        "numbered": numbered,
    }


def join_quotas(parts: Sequence[Any]) -> Quotas | None:
    if all(part.quotas is None for part in parts):
        return None
    return Quotas.join([Quotas.free(part.n_rows) if part.quotas is None else part.quotas for part in parts])


def _same_shape(first: Any, other: Any) -> None:
    if first.n_features != other.n_features:
        raise InputError(f"Cannot concat problems of {first.n_features} and {other.n_features} features.")
    if (first.feature_names or ()) != (other.feature_names or ()):
        raise InputError(f"Cannot concat features named {first.feature_names} and {other.feature_names}.")
    for field in KINDS_OF_DATA:
        if (getattr(first, field) is None) != (getattr(other, field) is None):
            raise InputError(f"Cannot concat problems with and without {field}.")
    if first.context is not None and other.context is not None and first.context.shape[1] != other.context.shape[1]:
        raise InputError(f"Cannot concat contexts of {first.context.shape[1]} and {other.context.shape[1]} columns.")
    for field in ("links", "aspects"):
        mine, theirs = getattr(first, field), getattr(other, field)
        if mine is not None and theirs is not None and set(mine) != set(theirs):
            raise InputError(f"Cannot concat {field} named {', '.join(mine)} and {', '.join(theirs)}.")


def _stack(tables: list[Any]) -> Any:
    """Stack tables of rows; the result is CSR if any of them is."""
    if any(sparse.issparse(table) for table in tables):
        return sparse.vstack(tables, format="csr", dtype=np.float32)
    return np.concatenate(tables)


def _stack_by_name(parts: list[Any]) -> Any:
    """Stack tables by name, with zeros for the columns that narrower ones lack; None where there are none."""
    return None if parts[0] is None else {name: _stack_wide([part[name] for part in parts]) for name in parts[0]}


def _stack_wide(tables: list[Any]) -> Any:
    width = max(table.shape[1] for table in tables)
    if sparse.issparse(tables[0]):
        return _stack([sparse.csr_array((t.data, t.indices, t.indptr), shape=(t.shape[0], width)) for t in tables])
    return np.concatenate([np.pad(table, ((0, 0), (0, width - table.shape[1]))) for table in tables])


def _join_ids(parts: Sequence[Any]) -> tuple[NDArray[Any], bool]:
    """Return the ids of all parts and whether they are just numbers; numbered problems are numbered anew."""
    ids = np.concatenate([part.problem_ids for part in parts])
    numbered = all(part.numbered for part in parts)
    codes = codes_of(ids)
    repeated = first_bad(np.bincount(codes)[codes] > 1)
    if repeated is None:
        return ids, numbered
    if numbered:
        return np.arange(len(ids)), True
    raise InputError(f"Problem {ids[repeated]!s} is in two of the parts. Give each problem its own id.")
