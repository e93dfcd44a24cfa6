"""Lists of problems that do not fit into memory: built block by block, and written as they are built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from listwright._internal.files import whole_file
from listwright._internal.progress import progress_to
from listwright._internal.threads import one_thread
from listwright.engines.base import Counter, Engine
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.tables import Scan


@dataclass(frozen=True)
class Build:
    """Task: the lists of a shard as a table with one row per pick."""

    lists: Callable[[Problems, np.random.Generator], Lists]
    seed: int

    def __call__(self, blocks: Iterator[Problems], shard: int) -> pa.Table:
        """Return the lists of all blocks, with random numbers that depend on the seed and the shard."""
        rng = np.random.default_rng([self.seed, shard])
        return pa.concat_tables([pa.table(self.lists(block, rng).to_dict()) for block in blocks])


@dataclass(frozen=True, eq=False, repr=False)
class StreamedLists:
    """What `predict` returns for a scan. Lists are built only when they are needed."""

    scan: Scan  # the problems, without their reward
    engine: Engine  # where `to_parquet` builds the lists
    build: Build  # builds the lists of a block

    def __len__(self) -> int:
        """Number of lists."""
        return len(self.scan)

    def __iter__(self) -> Iterator[Lists]:
        """Yield the lists of one block of problems at a time, in order."""
        for shard in self.scan.shards:
            rng = np.random.default_rng([self.build.seed, shard.number])
            yield from (self.build.lists(block, rng) for block in self.scan.blocks(shard.number))

    def to_parquet(self, path: str | Path, *, progress: Any = "auto") -> None:
        """Write all lists with one row per pick, with the columns of `Lists.to_frame`."""
        path = Path(path)
        if not path.parent.is_dir():
            raise InputError(f"There is no folder {path.parent} to write {path.name} to. Create it first.")
        counter = Counter("shards", len(self.scan.shards))
        with whole_file(path) as beside, one_thread(), self.engine.pool(self.scan) as pool, progress_to(progress):
            _write(pool.each(self.build, [shard.number for shard in self.scan.shards], counter), beside)

    def __repr__(self) -> str:
        shards = f"{len(self.scan.shards):,} shard{'' if len(self.scan.shards) == 1 else 's'}"
        return f"StreamedLists: {len(self):,} lists, to be built from {shards}"


def streamed_lists(
    scan: Scan, engine: Engine, lists: Callable[[Problems, np.random.Generator], Lists], seed: int
) -> StreamedLists:
    """Return the lists of a scan, given a function that builds those of a block."""
    return StreamedLists(scan.without_reward(), engine, Build(lists, seed))


def _write(tables: Iterator[pa.Table], path: Path) -> None:
    """Write tables into one Parquet file, all with the schema of the first."""
    first = next(tables)
    with parquet.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table.cast(first.schema))
