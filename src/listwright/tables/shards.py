"""Where a set of Parquet files can be cut: shards of whole problems, found in one pass over the column of ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from listwright._internal.arrays import Ints, starts_of
from listwright.errors import InputError
from listwright.tables.categories import catalogue_of, levels_of
from listwright.tables.columns import Columns
from listwright.tables.frame import plain
from listwright.tables.spec import RewardSpec
from listwright.tables.streams import unreadable
from listwright.tables.table import Part, Table
from listwright.tables.values import names, numbers

ROWS_AT_ONCE = 1 << 16


class Piece(NamedTuple):
    """Some rows of one file."""

    path: str
    first: int
    end: int
    n_rows: int  # of the whole file, to notice when it changes


class Shard(NamedTuple):
    """Whole problems that are read together: what one worker owns, and what one sum is made of."""

    number: int
    pieces: tuple[Piece, ...]
    n_problems: int
    n_rows: int

    def __str__(self) -> str:
        first, last = self.pieces[0], self.pieces[-1]
        end = f"row {last.end}" if first.path == last.path else f"{last.path}, row {last.end}"
        return f"shard {self.number} ({first.path}, row {first.first} to {end})"


class Plan(NamedTuple):
    """What one pass over the ids (and the columns whose values must be known beforehand) has found."""

    shards: tuple[Shard, ...]
    columns: Columns
    reward: RewardSpec | None
    largest: tuple[Any, int]  # the problem with the most candidates, and how many


def opened(path: str) -> parquet.ParquetFile:
    """A Parquet file, to be read in small steps."""
    try:
        return parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
    except (OSError, pa.ArrowException) as error:
        raise unreadable(path, error) from None


def batches_of(piece: Piece, columns: list[str], rows_at_once: int) -> Iterator[tuple[Part, pa.Table]]:
    """The rows of a piece, some at a time, with where they stand; only the row groups that hold them are read."""
    with opened(piece.path) as file:
        if file.metadata.num_rows != piece.n_rows:
            raise InputError(f"{piece.path} has changed since the scan looked at it. Make a new scan.")
        ends = starts_of([file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)])
        groups = np.flatnonzero((ends[1:] > piece.first) & (ends[:-1] < piece.end))
        row = int(ends[groups[0]])
        try:
            for batch in file.iter_batches(rows_at_once, groups.tolist(), columns, use_threads=False):
                low, high = max(piece.first - row, 0), min(piece.end - row, batch.num_rows)
                if high > low:
                    part = Part(piece.path, high - low, first=row + low)
                    yield part, pa.Table.from_batches([batch.slice(low, high - low)])
                row += batch.num_rows
                if row >= piece.end:
                    return
        except (OSError, pa.ArrowException) as error:
            raise unreadable(piece.path, error) from None


def as_streamed(parts: tuple[Part, ...], rows: pa.Table, *, fixed: bool) -> Table:
    """Rows of a scan as a table."""
    columns = {name: plain(column) for name, column in zip(rows.column_names, rows.columns, strict=True)}
    return Table(columns, parts, fixed=fixed, streamed=True)


def make_plan(files: list[str], columns: Columns, reward: RewardSpec | None, *, rows: int, fixed: bool) -> Plan:
    """Cuts the files into shards of about so many rows, where a problem ends at or behind the end of a row group."""
    planner = Planner(columns, reward, rows)
    wanted = planner.read()
    for path in files:
        with opened(path) as file:
            counts = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        planner.open(path, counts)
        for part, batch in batches_of(Piece(path, 0, sum(counts), sum(counts)), wanted, ROWS_AT_ONCE):
            planner.take(as_streamed((part,), batch, fixed=fixed))
    return planner.plan()


class Planner:
    """Goes over the ids once and keeps 16 bytes a problem."""

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
        """The columns that must be looked at before anything is learned."""
        found = [self.columns.problem, *self.open_levels]
        found += [] if self.open_catalogue is None else [self.open_catalogue]
        found += [self.reward.argument] if self.reward is not None and self.reward.kind == "graded" else []
        return list(dict.fromkeys(found))

    def open(self, path: str, group_rows: list[int]) -> None:
        """A file, with the rows of each of its groups."""
        self.files.append((path, sum(group_rows)))
        self.group_ends += (self.n_rows + np.cumsum(group_rows)).tolist()

    def take(self, table: Table) -> None:
        """Some more rows."""
        codes, values = names(table, self.columns.problem, "problem")
        new = np.flatnonzero(np.diff(codes, prepend=-1))
        if values[codes[0]] == self.last and type(values[codes[0]]) is type(self.last):
            new = new[1:]
        ids = [values[code] for code in codes[new]]
        self._measure(new + self.n_rows, ids)
        self.keys.append(np.array([one if isinstance(one, int) else hash(one) for one in ids], dtype=np.int64))
        self.last = values[codes[-1]]
        self.n_rows += table.n_rows
        for name in self.open_levels:
            self.levels[name].update(levels_of(table, name))
        if self.open_catalogue is not None:
            self.catalogue |= dict.fromkeys(catalogue_of(table, self.open_catalogue))
        if self.reward is not None and self.reward.kind == "graded":
            self.highest = max(self.highest, float(numbers(table, self.reward.argument, "reward").max()))

    def _measure(self, starts: Ints, ids: list[Any]) -> None:
        """Notes where problems start, and the largest of those that have ended."""
        owners = [self.last, *ids]
        lengths = np.diff(np.concatenate([[self.last_start], starts]))
        if len(lengths) and lengths.max() > self.largest[1]:
            self.largest = owners[int(lengths.argmax())], int(lengths.max())
        self.last_start = int(starts[-1]) if len(starts) else self.last_start
        self.starts.append(starts)

    def plan(self) -> Plan:
        """The shards, after a check that every problem stands in one place."""
        starts, keys = np.concatenate(self.starts), np.concatenate(self.keys)
        self._once(starts, keys)
        if self.n_rows - self.last_start > self.largest[1]:
            self.largest = self.last, self.n_rows - self.last_start
        columns = replace(
            self.columns,
            levels={**self.columns.levels} | {name: tuple(sorted(found)) for name, found in self.levels.items()},
            catalogue_names=tuple(self.catalogue) or self.columns.catalogue_names,
        )
        graded = self.reward is not None and self.reward.kind == "graded"
        reward = replace(self.reward, highest=self.highest) if graded and self.reward is not None else self.reward
        return Plan(tuple(self._shards(starts)), columns, reward, self.largest)

    def _shards(self, starts: Ints) -> Iterator[Shard]:
        cuts = self._cuts(starts)
        firsts = np.searchsorted(starts, cuts)
        for number in range(len(cuts) - 1):
            low, high = cuts[number], cuts[number + 1]
            yield Shard(number, self._pieces(low, high), int(firsts[number + 1] - firsts[number]), high - low)

    def _cuts(self, starts: Ints) -> list[int]:
        """Rows at which shards start, and the end."""
        cuts = [0]
        for end in self.group_ends:
            behind = int(np.searchsorted(starts, end))
            if end - cuts[-1] >= self.rows and behind < len(starts):
                cuts.append(int(starts[behind]))
        return [*cuts, self.n_rows]

    def _pieces(self, low: int, high: int) -> tuple[Piece, ...]:
        pieces, start = [], 0
        for path, count in self.files:
            if start < high and start + count > low:
                pieces.append(Piece(path, max(low - start, 0), min(high - start, count), count))
            start += count
        return tuple(pieces)

    def _once(self, starts: Ints, keys: Ints) -> None:
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
            f"The rows of problem {name!s} do not stand together: {places[0].path}, row {places[0].first} and "
            f"{places[1].path}, row {places[1].first}. Sort the files by {self.columns.problem!r}, for example with: "
            f'python -c "import polars; polars.scan_parquet({source}).sort({self.columns.problem!r}, '
            "maintain_order=True).sink_parquet('sorted.parquet')\""
        )
