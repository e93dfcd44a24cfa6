"""Problems that are never all in memory: Parquet files, read in blocks of whole problems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import PurePath
from typing import Any, Unpack
from zlib import crc32

import pyarrow as pa

from listwright.errors import InputError
from listwright.problems import Problems
from listwright.tables.columns import Columns, Wanted, choose
from listwright.tables.files import Options, Paths, all_files, format_of, known_references
from listwright.tables.frame import assembled, plain
from listwright.tables.rewards import as_spec
from listwright.tables.shards import Shard, as_streamed, batches_of, make_plan, opened
from listwright.tables.spec import RewardSpec
from listwright.tables.table import Part, Table, no_repeats

ROWS_AT_ONCE = 25_000  # of a block: what the processor's cache likes
WORKING = 96  # measured: bytes for each column of a block's row while it is learned from
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", re.IGNORECASE)


@dataclass(frozen=True, eq=False, repr=False)
class Scan:
    """Problems in Parquet files, read block by block; made by `scan`. Iterating gives `Problems`, in order."""

    columns: Columns
    reward: RewardSpec | None
    references: dict[str, list[str]] | None
    new_levels: str
    max_memory: int
    shards: tuple[Shard, ...]
    width: int  # numbers that are kept of a row
    read: tuple[str, ...]  # columns of the files
    fixed: bool  # whether a model says which column is what

    def __len__(self) -> int:
        return sum(shard.n_problems for shard in self.shards)

    @property
    def n_rows(self) -> int:
        """Number of candidates of all problems together."""
        return sum(shard.n_rows for shard in self.shards)

    @property
    def n_features(self) -> int:
        """Number of columns of features."""
        return sum(len(self.columns.levels.get(name, (name,))) for name in self.columns.features)

    @property
    def groups(self) -> str | None:
        """The column of groups, where there is one."""
        return self.columns.group

    @property
    def sizes(self) -> str | None:
        """The column of sizes, where there is one."""
        return self.columns.size

    @property
    def row_bytes(self) -> int:
        """About how many bytes a row takes in memory."""
        return 4 * self.width + 32

    @property
    def block_rows(self) -> int:
        """Rows that are worked on at a time."""
        return max(1, min(ROWS_AT_ONCE, self.max_memory // (2 * WORKING * self.width)))

    @property
    def block_bytes(self) -> int:
        """About how many bytes that takes."""
        return WORKING * self.width * self.block_rows

    def __iter__(self) -> Iterator[Problems]:
        return (block for shard in self.shards for block in self.blocks(shard.number))

    def blocks(self, number: int) -> Iterator[Problems]:
        """The problems of one shard, some at a time."""
        for table in self._tables(self.shards[number]):
            yield self._built(table, self.reward)

    def fingerprint(self) -> str:
        """Tells whether two scans have the same shards, wherever the files are."""
        text = [[(PurePath(piece.path).name, *piece[1:]) for piece in shard.pieces] for shard in self.shards]
        return sha256(repr(text).encode()).hexdigest()

    def without_reward(self) -> Scan:
        """The same problems as a policy may see them."""
        return replace(self, reward=None, references=None)

    def sample(self, max_memory: int | str | None = None) -> Problems:
        """As many of the problems as take half of `max_memory`, drawn by their ids, as `Problems` in memory; all of
        them where they fit."""
        limit = self.max_memory if max_memory is None else as_bytes(max_memory, "max_memory")
        share = limit / (2.0 * 3.0 * self.row_bytes * self.n_rows)  # as read, as features, and once more in a method
        parts: list[Part] = []
        rows: list[pa.Table] = []
        for shard in self.shards:
            for table in self._tables(shard):
                kept = _chosen(table, self.columns.problem, share)
                if kept.num_rows:
                    parts.append(Part(table.source, kept.num_rows))
                    rows.append(kept)
        if not rows:
            raise InputError(f"No problem fits into max_memory={limit}. Raise it.")
        return self._built(as_streamed(tuple(parts), pa.concat_tables(rows), fixed=self.fixed), self.reward)

    def _built(self, table: Table, reward: RewardSpec | None) -> Problems:
        return assembled(table, self.columns, reward, references=self.references, new_levels=self.new_levels)

    def _tables(self, shard: Shard) -> Iterator[Table]:
        """Rows of whole problems; what follows the last whole problem waits for the rows to come."""
        parts: list[Part] = []
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
                    yield as_streamed(_before(parts, end), together.slice(0, end), fixed=self.fixed)
                    parts, rows, waiting = _behind(parts, end), [together.slice(end)], waiting - end
        if waiting:
            yield as_streamed(tuple(parts), pa.concat_tables(rows), fixed=self.fixed)

    def __repr__(self) -> str:
        reward = "no reward" if self.reward is None else f"reward {self.reward.kind}:{self.reward.argument}"
        return (
            f"Scan: {len(self):,} problems, {self.n_rows:,} candidates in {len(self.shards):,} shards, "
            f"{reward}, within {self.max_memory / 1e9:g} GB"
        )


def scan(
    paths: Paths,
    *,
    reward: Any = None,
    references: Any = None,
    max_memory: int | str = "1GB",
    shard_size: int | str = "64MB",
    **options: Unpack[Options],
) -> Scan:
    """Problems in Parquet files that need not fit in memory, for fit, partial_fit, predict, evaluate and compare.

    One pass over the ids finds where files can be cut into shards of whole problems. The rows of a problem must stand
    together; they may go on in the next row group or file.

    Parameters
    ----------
    paths : Paths
        A file, a folder, a pattern such as "data/*.parquet", or several of these; on many machines, files that all
        of them can read.
    reward, references
        As in `read`; the reward as text, such as "any:clicked".
    max_memory : int or str
        Bytes for data, such as "1GB" or "500MB"; on many machines, those of each worker. The program itself
        takes about 0.3 GB beside.
    shard_size : int or str
        About how large the parts are that workers own. Smaller ones share out better; a shard is at least a
        row group. The result of a fit depends on it in the last digits.
    options
        Which column is what, as in `from_frame`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pyarrow import parquet
    >>> table = pa.table({"problem": [1, 1, 2, 2, 2], "price": [3, 2, 5, 1, 4], "clicked": [0, 1, 0, 0, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parquet.write_table(table, Path(folder, "log.parquet"))
    ...     data = scan(folder, reward="any:clicked")
    ...     data, next(iter(data))
    (Scan: 2 problems, 5 candidates in 1 shards, reward any:clicked, within 1 GB,
     Problems: 2 problems, 5 candidates (2 to 3 each), 1 feature, reward AnySuccess)
    """
    wanted = Wanted(**options)
    limit, size = as_bytes(max_memory, "max_memory"), as_bytes(shard_size, "shard_size")
    spec = as_spec(reward)
    if reward is not None and spec is None:
        raise InputError("A scan takes its reward as text, such as 'any:clicked'. For others, read the problems.")
    files = _parquet_files(paths)
    columns, read = _settled(files, wanted, spec)
    fixed = wanted.columns is not None
    row_bytes = 8 * len(read)
    plan = make_plan(files, columns, spec, rows=max(1, size // row_bytes), fixed=fixed)
    texts = known_references(references, wanted)
    found = Scan(plan.columns, plan.reward, texts, wanted.new_levels, limit, plan.shards, 1, tuple(read), fixed)
    found = replace(found, width=_width(next(found.blocks(0))))
    _fits(found, *plan.largest)
    return found


def as_bytes(size: int | str, name: str) -> int:
    """A number of bytes from a number or text.

    Examples
    --------
    >>> as_bytes("1.5GB", "max_memory"), as_bytes("64 MB", "max_memory")
    (1500000000, 64000000)
    """
    if isinstance(size, int) and not isinstance(size, bool) and size > 0:
        return size
    found = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if found is None or not float(found[1]):
        raise InputError(f"{name} must be a size such as 1GB or 500MB. Got {size!r}.")
    return int(float(found[1]) * 1000 ** " kmgt".index(found[2].lower() or " "))


def _parquet_files(paths: Paths) -> list[str]:
    files = all_files(paths, None)
    other = next((path for path in files if format_of(path) not in (None, "parquet")), None)
    if other is not None:
        raise InputError(
            f"A scan reads Parquet files, and {other} is {format_of(other)}. Read it, or write Parquet first."
        )
    return [str(path) for path in files]


def _settled(files: list[str], wanted: Wanted, spec: RewardSpec | None) -> tuple[Columns, list[str]]:
    """Which column is what, the same in all files; and which of them are read."""
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
    with opened(path) as file:
        no_repeats(file.schema_arrow.names, path)
        if file.metadata.num_rows == 0:
            raise InputError(f"{path} has no rows. Leave it out, or write it again.")
        return file.schema_arrow


def _alike(one: str, kinds: pa.Schema, other: str, others: pa.Schema, used: list[str], *, all_columns: bool) -> None:
    """Refuses a file with other columns, or with columns of other types."""
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
    return pa.array([], type=kinds.field(name).type)


def _width(problems: Problems) -> int:
    """Numbers of a row: features, context, vectors."""
    context = 0 if problems.context is None else problems.context.shape[1]
    return max(1, problems.n_features + context + (0 if problems.vectors is None else problems.vectors.shape[1]))


def _fits(found: Scan, name: Any, count: int) -> None:
    needed = WORKING * found.width * count
    if needed > found.max_memory:
        raise InputError(
            f"Problem {name!s} has {count:,} candidates, which take about {needed / 1e6:,.0f} MB at a time. "
            f"max_memory is {found.max_memory / 1e6:,.0f} MB: raise it."
        )


def _last_start(ids: pa.ChunkedArray) -> int:
    """The row at which the last problem starts."""
    codes = ids.combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
    other = (codes != codes[-1]).nonzero()[0]
    return int(other[-1]) + 1 if len(other) else 0


def _before(parts: list[Part], end: int) -> tuple[Part, ...]:
    """The parts of the first `end` rows."""
    kept, start = [], 0
    for part in parts:
        if start < end:
            kept.append(replace(part, n_rows=min(part.n_rows, end - start)))
        start += part.n_rows
    return tuple(kept)


def _behind(parts: list[Part], end: int) -> list[Part]:
    """The parts of the rows behind `end`."""
    kept, start = [], 0
    for part in parts:
        cut = min(max(end - start, 0), part.n_rows)
        if cut < part.n_rows:
            kept.append(replace(part, n_rows=part.n_rows - cut, first=part.first + cut))
        start += part.n_rows
    return kept


def _chosen(table: Table, problem: str, share: float) -> pa.Table:
    """The rows of the problems that belong to the sample."""
    rows = pa.table(dict(table.columns))
    if share >= 1.0:
        return rows
    encoded = rows.column(problem).combine_chunks().dictionary_encode()
    kept = [crc32(str(name).encode()) < share * 2**32 for name in encoded.dictionary.to_pylist()]
    return rows.filter(pa.array(kept).take(encoded.indices)) if any(kept) else rows.slice(0, 0)
