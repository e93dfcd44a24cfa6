"""Divide Parquet files into shards of whole problems, in one pass over the column of ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from listwright._internal.arrays import Ints, starts_of
from listwright.errors import InputError
from listwright.frames.arrays import catalogue_of, levels_of
from listwright.frames.columns import ColumnOptions, Columns, choose_columns
from listwright.frames.frame import as_chunked
from listwright.frames.reward_text import RewardSpec
from listwright.frames.streams import unreadable
from listwright.frames.table import ColumnTable, FileRows, no_repeats
from listwright.frames.values import names, numbers
from listwright.tables.files import Paths, all_files, format_of

ROWS_AT_ONCE = 1 << 16


class RowRange(NamedTuple):
    path: str  # the file
    first: int  # first row, and one more than the last
    end: int
    n_rows: int  # of the whole file, to notice when it changes


class ScanShard(NamedTuple):
    """Whole problems that are read together: the unit of work that one worker owns."""

    number: int
    pieces: tuple[RowRange, ...]
    n_problems: int
    n_rows: int

    def __str__(self) -> str:
        first, last = self.pieces[0], self.pieces[-1]
        end = f"row {last.end}" if first.path == last.path else f"{last.path}, row {last.end}"
        return f"shard {self.number} ({first.path}, row {first.first} to {end})"


class ShardPlan(NamedTuple):
    shards: tuple[ScanShard, ...]  # all rows of all files, in order
    columns: Columns  # with the levels and catalogue items that were found
    reward: RewardSpec | None  # with the highest grade filled in for "graded"
    largest: tuple[Any, int]  # the problem with the most candidates, and how many


def open_parquet(path: str) -> parquet.ParquetFile:
    """Open a Parquet file for small steps, without pre-buffering, which would hold whole row groups in memory."""
    try:
        return parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
    except (OSError, pa.ArrowException) as error:
        raise unreadable(path, error) from None


def batches_of(piece: RowRange, columns: list[str], rows_at_once: int) -> Iterator[tuple[FileRows, pa.Table]]:
    """Iterate over the rows of a piece in batches, each with the `FileRows` that tells its place in the file."""
    with open_parquet(piece.path) as file:
        if file.metadata.num_rows != piece.n_rows:
            raise InputError(f"{piece.path} has changed since the scan looked at it. Make a new scan.")
        ends = starts_of([file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)])
        groups = np.flatnonzero((ends[1:] > piece.first) & (ends[:-1] < piece.end))
        row = int(ends[groups[0]])
        try:
            for batch in file.iter_batches(rows_at_once, groups.tolist(), columns, use_threads=False):
                low, high = max(piece.first - row, 0), min(piece.end - row, batch.num_rows)
                if high > low:
                    part = FileRows(piece.path, high - low, first=row + low)
                    yield part, pa.Table.from_batches([batch.slice(low, high - low)])
                row += batch.num_rows
                if row >= piece.end:
                    return
        except (OSError, pa.ArrowException) as error:
            raise unreadable(piece.path, error) from None


def as_streamed(parts: tuple[FileRows, ...], rows: pa.Table, *, fixed: bool) -> ColumnTable:
    columns = {name: as_chunked(column) for name, column in zip(rows.column_names, rows.columns, strict=True)}
    return ColumnTable(columns, parts, fixed=fixed, streamed=True)


def make_plan(files: list[str], columns: Columns, reward: RewardSpec | None, *, rows: int, fixed: bool) -> ShardPlan:
    # A shard ends with the first problem that ends at or after the end of a row group once the shard has enough rows,
    # so that hardly any row group is read for two shards.
    planner = ShardPlanner(columns, reward, rows)
    columns_read = planner.read()
    for path in files:
        with open_parquet(path) as file:
            counts = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        planner.open(path, counts)
        for part, batch in batches_of(RowRange(path, 0, sum(counts), sum(counts)), columns_read, ROWS_AT_ONCE):
            planner.take(as_streamed((part,), batch, fixed=fixed))
    return planner.plan()


class ShardPlanner:
    """Accumulates what one pass over the ids reveals; keeps 16 bytes per problem."""

    def __init__(self, columns: Columns, reward: RewardSpec | None, rows: int) -> None:
        self.columns, self.reward, self.rows = columns, reward, rows
        self.open_levels = [name for name, given in columns.levels.items() if not given]
        self.open_catalogue = columns.catalogue if not columns.catalogue_names else None
        self.levels: dict[str, set[str]] = {name: set() for name in self.open_levels}
        self.catalogue: dict[str, None] = {}
        self.highest = 1.0
        self.files: list[tuple[str, int]] = []
        self.group_ends: list[int] = []  # row groups of all files, in rows from the first file on
        self.starts: list[Ints] = []  # of problems, in the same rows
        self.keys: list[Ints] = []
        self.n_rows = 0
        self.last: Any = None
        self.largest: tuple[Any, int] = (None, 0)
        self.last_start = 0

    def read(self) -> list[str]:
        """Columns to read in the pass: ids, categorical columns whose levels are unknown, and grades."""
        names = [self.columns.problem, *self.open_levels]
        names += [] if self.open_catalogue is None else [self.open_catalogue]
        names += [self.reward.argument] if self.reward is not None and self.reward.kind == "graded" else []
        return list(dict.fromkeys(names))

    def open(self, path: str, group_rows: list[int]) -> None:
        self.files.append((path, sum(group_rows)))
        self.group_ends += (self.n_rows + np.cumsum(group_rows)).tolist()

    def take(self, table: ColumnTable) -> None:
        """Process a batch of rows: record where problems start, the levels, the catalogue and the highest grade."""
        codes, values = names(table, self.columns.problem, "problem")
        new = np.flatnonzero(np.diff(codes, prepend=-1))
        if values[codes[0]] == self.last and type(values[codes[0]]) is type(self.last):
            new = new[1:]
        ids = [values[code] for code in codes[new]]
        self._measure(new + self.n_rows, ids)
        self.keys.append(np.array([name if isinstance(name, int) else hash(name) for name in ids], dtype=np.int64))
        self.last = values[codes[-1]]
        self.n_rows += table.n_rows
        for name in self.open_levels:
            self.levels[name].update(levels_of(table, name))
        if self.open_catalogue is not None:
            self.catalogue |= dict.fromkeys(catalogue_of(table, self.open_catalogue))
        if self.reward is not None and self.reward.kind == "graded":
            self.highest = max(self.highest, float(numbers(table, self.reward.argument, "reward").max()))

    def _measure(self, starts: Ints, ids: list[Any]) -> None:
        owners = [self.last, *ids]
        lengths = np.diff(np.concatenate([[self.last_start], starts]))
        if len(lengths) and lengths.max() > self.largest[1]:
            self.largest = owners[int(lengths.argmax())], int(lengths.max())
        self.last_start = int(starts[-1]) if len(starts) else self.last_start
        self.starts.append(starts)

    def plan(self) -> ShardPlan:
        """Return the plan; raise `InputError` if the rows of some problem are not contiguous."""
        starts, keys = np.concatenate(self.starts), np.concatenate(self.keys)
        self._once(starts, keys)
        if self.n_rows - self.last_start > self.largest[1]:
            self.largest = self.last, self.n_rows - self.last_start
        columns = replace(
            self.columns,
            levels={**self.columns.levels} | {name: tuple(sorted(levels)) for name, levels in self.levels.items()},
            catalogue_names=tuple(self.catalogue) or self.columns.catalogue_names,
        )
        reward = self.reward
        if reward is not None and reward.kind == "graded":
            reward = replace(reward, highest=self.highest)
        return ShardPlan(tuple(self._shards(starts)), columns, reward, self.largest)

    def _shards(self, starts: Ints) -> Iterator[ScanShard]:
        cuts = self._cuts(starts)
        firsts = np.searchsorted(starts, cuts)
        for number in range(len(cuts) - 1):
            low, high = cuts[number], cuts[number + 1]
            yield ScanShard(number, self._pieces(low, high), int(firsts[number + 1] - firsts[number]), high - low)

    def _cuts(self, starts: Ints) -> list[int]:
        cuts = [0]
        for end in self.group_ends:
            behind = int(np.searchsorted(starts, end))
            if end - cuts[-1] >= self.rows and behind < len(starts):
                cuts.append(int(starts[behind]))
        return [*cuts, self.n_rows]

    def _pieces(self, low: int, high: int) -> tuple[RowRange, ...]:
        pieces, start = [], 0
        for path, count in self.files:
            if start < high and start + count > low:
                pieces.append(RowRange(path, max(low - start, 0), min(high - start, count), count))
            start += count
        return tuple(pieces)

    def _once(self, starts: Ints, keys: Ints) -> None:
        """Raise `InputError` if an id starts twice, with both places and a command that sorts the files."""
        order = np.argsort(keys, kind="stable")
        again = np.flatnonzero(np.diff(keys[order]) == 0)
        if not len(again):
            return
        second = int(order[again + 1].min())
        first = int(np.flatnonzero(keys == keys[second])[0])
        places = [self._pieces(int(starts[i]), int(starts[i]) + 1)[0] for i in (first, second)]
        _, rows = next(batches_of(places[1], [self.columns.problem], 1 << 16))
        name = rows.column(0)[0].as_py()
        files = [path for path, _ in self.files]
        source = repr(files[0]) if len(files) == 1 else repr(files)
        raise InputError(
            f"The rows of problem {name!s} are not contiguous: {places[0].path}, row {places[0].first} and "
            f"{places[1].path}, row {places[1].first}. Sort the files by {self.columns.problem!r}, for example with: "
            f'python -c "import polars; polars.scan_parquet({source}).sort({self.columns.problem!r}, '
            "maintain_order=True).sink_parquet('sorted.parquet')\""
        )


_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", re.IGNORECASE)


def as_bytes(size: int | str, name: str) -> int:
    if isinstance(size, int) and not isinstance(size, bool) and size > 0:
        return size
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if match is None or not float(match[1]):
        raise InputError(f"{name} must be a size such as 1GB or 500MB. Got {size!r}.")
    return int(float(match[1]) * 1000 ** " kmgt".index(match[2].lower() or " "))


def parquet_files(paths: Paths) -> list[str]:
    files = all_files(paths, None)
    other = next((path for path in files if format_of(path) not in (None, "parquet")), None)
    if other is not None:
        got = f"{other} is {format_of(other)}"
        raise InputError(f"A scan reads Parquet files, and {got}. Read it, or write Parquet first.")
    return [str(path) for path in files]


def choose_scan_columns(files: list[str], options: ColumnOptions, spec: RewardSpec | None) -> tuple[Columns, list[str]]:
    first = _kinds(files[0])
    table = as_streamed((FileRows(files[0], 0),), first.empty_table(), fixed=options.columns is not None)
    taken = [] if spec is None else spec.columns_of(table)
    columns = choose_columns(table, options, set(taken))
    if columns.numbered or not (columns.features or columns.context or columns.catalogue):
        raise InputError(f"{files[0]} has no features: no numeric column is left. Name some with features=.")
    single = [name for name in (columns.item, columns.size, columns.catalogue, columns.group) if name is not None]
    several = (columns.features, columns.context, columns.vectors, columns.links, tuple(columns.levels))
    used = [columns.problem, *single, *(name for names in several for name in names), *taken]
    for name in used:
        table.column(name, "features")
    every = options.features is None and not table.fixed
    for path in files[1:]:
        _require_alike(files[0], first, path, _kinds(path), used, all_columns=every)
    return columns, list(dict.fromkeys(used))


def _kinds(path: str) -> pa.Schema:
    with open_parquet(path) as file:
        no_repeats(file.schema_arrow.names, path)
        if file.metadata.num_rows == 0:
            raise InputError(f"{path} has no rows. Leave it out, or write it again.")
        return file.schema_arrow


def _require_alike(
    first: str, kinds: pa.Schema, other: str, others: pa.Schema, used: list[str], *, all_columns: bool
) -> None:
    for name in kinds.names if all_columns else used:
        if name not in others.names:
            raise InputError(f"{other} has no column {name!r}, which {first} has. Make the files alike.")
    extra = [name for name in others.names if name not in kinds.names]
    if all_columns and extra:
        raise InputError(f"{first} has no column {extra[0]!r}, which {other} has. Make the files alike.")
    for name in used:
        mine, theirs = (as_chunked(pa.array([], table.field(name).type)).type for table in (kinds, others))
        if mine != theirs:
            raise InputError(f"Column {name!r} is {mine} in {first} and {theirs} in {other}. Make the files alike.")
