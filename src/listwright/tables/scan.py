"""Problems that never are in memory all at once: Parquet files, read in blocks of whole problems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import PurePath
from typing import Any, Unpack
from zlib import crc32

import pyarrow as pa

from listwright.errors import InputError
from listwright.frames.columns import ColumnKeywords, ColumnOptions, Columns
from listwright.frames.frame import read_arrays
from listwright.frames.reward_text import RewardSpec
from listwright.frames.rewards import as_spec
from listwright.frames.table import ColumnTable, FileRows
from listwright.frames.values import to_ints
from listwright.problems import Problems
from listwright.tables.files import Paths, known_references
from listwright.tables.shards import (
    ScanShard,
    as_bytes,
    as_streamed,
    batches_of,
    choose_scan_columns,
    make_plan,
    parquet_files,
)

ROWS_AT_ONCE = 25_000  # of a block: what the processor's cache likes
WORKING = 96  # measured: bytes for each column of a block's row while it is learned from


@dataclass(frozen=True, eq=False, repr=False)
class Scan:
    """Problems in Parquet files that are read block by block; made by `scan`.

    Use it for data that does not fit in memory, or to distribute work over a cluster. For data that fits, `read` gives
    `Problems`, which are faster and can be sliced. `len` gives the number of problems, and iterating yields blocks as
    `Problems`, in the order of the files.

    Attributes
    ----------
    columns : Columns
        How the files are read.
    reward : RewardSpec or None
        What lists are worth.
    references : dict or None
        Reference texts by problem id.
    new_levels : str
        "error" or "zeros", for levels that are not in `columns`.
    max_memory : int
        Bytes for data.
    shards : tuple of ScanShard
        Parts of the data that workers own.
    width : int
        Numbers kept per row: features, context and vectors.
    read : tuple of str
        Columns that are read from the files.
    fixed : bool
        Whether a model has chosen the columns.
    """

    columns: Columns
    reward: RewardSpec | None
    references: dict[str, list[str]] | None
    new_levels: str
    max_memory: int
    shards: tuple[ScanShard, ...]
    width: int
    read: tuple[str, ...]
    fixed: bool

    def __len__(self) -> int:
        return sum(shard.n_problems for shard in self.shards)

    @property
    def n_rows(self) -> int:
        """Number of candidates of all problems together."""
        return sum(shard.n_rows for shard in self.shards)

    @property
    def n_features(self) -> int:
        """Number of features, where a categorical column counts once per level."""
        return sum(len(self.columns.levels.get(name, (name,))) for name in self.columns.features)

    @property
    def groups(self) -> str | None:
        """Name of the column of group labels, or None."""
        return self.columns.group

    @property
    def sizes(self) -> str | None:
        """Name of the column of sizes, or None."""
        return self.columns.size

    @property
    def row_bytes(self) -> int:
        """Approximate bytes that a row takes in memory as part of `Problems`."""
        return 4 * self.width + 32

    @property
    def block_rows(self) -> int:
        """Number of rows that are processed at a time, limited by `max_memory` and by the processor's cache."""
        return max(1, min(ROWS_AT_ONCE, self.max_memory // (2 * WORKING * self.width)))

    @property
    def block_bytes(self) -> int:
        """Approximate bytes that learning from a block takes."""
        return WORKING * self.width * self.block_rows

    def __iter__(self) -> Iterator[Problems]:
        return (block for shard in self.shards for block in self.blocks(shard.number))

    def blocks(self, number: int) -> Iterator[Problems]:
        """Iterate over the problems of one shard in blocks.

        Parameters
        ----------
        number : int
            Index of the shard.

        Yields
        ------
        Problems
            About `block_rows` candidates, always whole problems.
        """
        return map(self._build, self._tables(self.shards[number]))

    def fingerprint(self) -> str:
        """Hash of the shards that ignores the folders of the files; a checkpoint is resumed only if it is unchanged."""
        text = [[(PurePath(piece.path).name, *piece[1:]) for piece in shard.pieces] for shard in self.shards]
        return sha256(repr(text).encode()).hexdigest()

    def without_reward(self) -> Scan:
        """Return the same problems without reward and references, as a policy may see them."""
        return replace(self, reward=None, references=None)

    def sample(self, max_memory: int | str | None = None) -> Problems:
        """Load a sample of the problems into memory, or all of them if they fit.

        Problems are drawn by a hash of their ids, so the sample is the same in every call and independent of row order.

        Parameters
        ----------
        max_memory : int, str or None
            The sample takes about half of this, such as "500MB". None uses the limit of the scan.

        Returns
        -------
        Problems
            With the reward of the scan.
        """
        limit = self.max_memory if max_memory is None else as_bytes(max_memory, "max_memory")
        share = limit / (2.0 * 3.0 * self.row_bytes * self.n_rows)  # as read, as features, and once more in a method
        parts: list[FileRows] = []
        rows: list[pa.Table] = []
        for shard in self.shards:
            for table in self._tables(shard):
                kept = _sample_rows(table, self.columns.problem, share)
                if kept.num_rows:
                    parts.append(FileRows(table.source, kept.num_rows))
                    rows.append(kept)
        if not rows:
            raise InputError(f"No problem fits into max_memory={limit}. Raise it.")
        return self._build(as_streamed(tuple(parts), pa.concat_tables(rows), fixed=self.fixed))

    def _build(self, table: ColumnTable) -> Problems:
        arrays = read_arrays(table, self.columns, self.reward, references=self.references, new_levels=self.new_levels)
        return Problems.from_arrays(**arrays)

    def _tables(self, shard: ScanShard) -> Iterator[ColumnTable]:
        parts: list[FileRows] = []
        rows: list[pa.Table] = []
        waiting = 0
        for piece in shard.pieces:
            for part, batch in batches_of(piece, list(self.read), self.block_rows):
                parts.append(part)
                rows.append(batch)
                waiting += batch.num_rows
                if waiting < self.block_rows:
                    continue
                together = pa.concat_tables(rows)
                end = _last_start(together.column(self.columns.problem))
                if end:
                    yield as_streamed(_head(parts, end), together.slice(0, end), fixed=self.fixed)
                    parts, rows, waiting = _tail(parts, end), [together.slice(end)], waiting - end
        if waiting:
            yield as_streamed(tuple(parts), pa.concat_tables(rows), fixed=self.fixed)

    def __repr__(self) -> str:
        reward = "no reward" if self.reward is None else f"reward {self.reward.kind}:{self.reward.argument}"
        shards = f"{len(self.shards):,} shard{'' if len(self.shards) == 1 else 's'}"
        return (
            f"Scan: {len(self):,} problems, {self.n_rows:,} candidates in {shards}, "
            f"{reward}, within {self.max_memory / 1e9:g} GB"
        )


def scan(
    paths: Paths,
    *,
    reward: Any = None,
    references: Any = None,
    max_memory: int | str = "1GB",
    shard_size: int | str = "64MB",
    **options: Unpack[ColumnKeywords],
) -> Scan:
    """Problems in Parquet files that need not fit in memory, for fit, partial_fit, predict, evaluate and compare.

    One pass over the ids finds where files can be cut into shards of whole problems. The rows of a problem must be
    contiguous; they may continue in the next row group or file.

    Parameters
    ----------
    paths : Paths
        A file, a folder, a pattern such as "data/*.parquet", or several of these; on many machines, files that all of
        them can read.
    reward, references
        As in `read`; the reward as text, such as "any:clicked".
    max_memory : int or str
        Bytes for data, such as "1GB" or "500MB"; on many machines, those of each worker. The program itself takes
        about 0.3 GB in addition.
    shard_size : int or str
        Approximate size of the parts that workers own. Smaller parts balance the load better; a shard is at least a row
        group. The result of a fit depends on it in the last digits.
    options
        Which column is what, as in `Problems.from_frame`.

    Raises
    ------
    InputError
        If a file is not Parquet, files differ in their columns, the rows of a problem are not contiguous, or the
        largest problem does not fit into `max_memory`.

    See Also
    --------
    read : Reads everything into memory; simpler and faster for data that fits.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pyarrow import parquet
    >>> table = pa.table({"problem": [1, 1, 2, 2, 2], "price": [3, 2, 5, 1, 4], "clicked": [0, 1, 0, 0, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parquet.write_table(table, Path(folder, "log.parquet"))
    ...     data = scan(folder, reward="any:clicked")
    ...     data, next(iter(data)), len(data)
    (Scan: 2 problems, 5 candidates in 1 shard, reward any:clicked, within 1 GB,
     Problems: 2 problems, 5 candidates (2 to 3 each), 1 feature, reward AnySuccess, 2)
    """
    chosen = ColumnOptions(**options)
    limit, size = as_bytes(max_memory, "max_memory"), as_bytes(shard_size, "shard_size")
    spec = as_spec(reward)
    if reward is not None and spec is None:
        raise InputError("A scan takes its reward as text, such as 'any:clicked'. For others, read the problems.")
    files = parquet_files(paths)
    columns, read = choose_scan_columns(files, chosen, spec)
    fixed = chosen.columns is not None
    plan = make_plan(files, columns, spec, rows=max(1, size // (8 * len(read))), fixed=fixed)
    texts = known_references(references, chosen)
    new_levels = chosen.new_levels or columns.new_levels
    data = Scan(plan.columns, plan.reward, texts, new_levels, limit, plan.shards, 1, tuple(read), fixed)
    data = replace(data, width=_width(next(data.blocks(0))))
    _fits(data, *plan.largest)
    return data


def _width(problems: Problems) -> int:
    """Numbers per row: features, context and vectors; at least 1."""
    context = 0 if problems.context is None else problems.context.shape[1]
    return max(1, problems.n_features + context + (0 if problems.vectors is None else problems.vectors.shape[1]))


def _fits(data: Scan, name: Any, count: int) -> None:
    needed = WORKING * data.width * count
    if needed > data.max_memory:
        raise InputError(
            f"Problem {name!s} has {count:,} candidates, which take about {needed / 1e6:,.0f} MB at a time. "
            f"max_memory is {data.max_memory / 1e6:,.0f} MB: raise it."
        )


def _last_start(ids: pa.ChunkedArray) -> int:
    codes = to_ints(ids.combine_chunks().dictionary_encode().indices)
    other = (codes != codes[-1]).nonzero()[0]
    return int(other[-1]) + 1 if len(other) else 0


def _head(parts: list[FileRows], end: int) -> tuple[FileRows, ...]:
    kept, start = [], 0
    for part in parts:
        if start < end:
            kept.append(replace(part, n_rows=min(part.n_rows, end - start)))
        start += part.n_rows
    return tuple(kept)


def _tail(parts: list[FileRows], end: int) -> list[FileRows]:
    kept, start = [], 0
    for part in parts:
        cut = min(max(end - start, 0), part.n_rows)
        if cut < part.n_rows:
            kept.append(replace(part, n_rows=part.n_rows - cut, first=part.first + cut))
        start += part.n_rows
    return kept


def _sample_rows(table: ColumnTable, problem: str, share: float) -> pa.Table:
    rows = pa.table(dict(table.columns))
    if share >= 1.0:
        return rows
    encoded = rows.column(problem).combine_chunks().dictionary_encode()
    kept = [crc32(str(name).encode()) < share * 2**32 for name in encoded.dictionary.to_pylist()]
    return rows.filter(pa.array(kept).take(encoded.indices)) if any(kept) else rows.slice(0, 0)
