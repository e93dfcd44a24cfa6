"""The interface of engines: run a task on many shards, and return the results in the order of the shards."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numba
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from listwright._internal.arrays import at_least_one
from listwright._internal.files import whole_file
from listwright._internal.progress import progress_to, report_progress
from listwright._internal.threads import one_thread
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.tables import Scan

Task = Callable[[Iterator[Any], int], Any]  # takes the blocks of a shard and its number
Done = Callable[[], None]  # called after each shard that is done


class Shard(Protocol):
    """Some whole problems that one worker owns; `str` says where they come from."""

    @property
    def number(self) -> int: ...
    @property
    def n_problems(self) -> int: ...
    @property
    def n_rows(self) -> int: ...


class Shards(Protocol):
    """Problems in parts: the files of a `listwright.scan`, or problems in memory that are split among workers."""

    @property
    def shards(self) -> Sequence[Shard]: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def max_memory(self) -> int: ...
    @property
    def row_bytes(self) -> int: ...
    @property
    def block_bytes(self) -> int: ...
    def blocks(self, number: int) -> Iterator[Any]: ...
    def fingerprint(self) -> str: ...


@dataclass(frozen=True)
class MemoryShard:
    number: int
    n_problems: int
    n_rows: int

    def __str__(self) -> str:
        return f"part {self.number} of the data"


class MemoryShards:
    """What an engine asks of shards, for data that are in memory already: nothing is limited."""

    max_memory = 1 << 62  # bytes
    width = 1
    row_bytes = 0
    block_bytes = 1


class WorkerPool(ABC):
    """Abstract base of running workers, which apply a task to shards of a data set."""

    @abstractmethod
    def each(self, task: Task, shards: Sequence[int], done: Done | None = None) -> Iterator[Any]:
        """Return an iterator over the task's result for each shard, in the given order, whichever finishes first."""


class Engine(ABC):
    """Base class of engines, which start workers for shards.

    An engine is only settings: it can be copied and compared. Use `Local` unless the data need several machines.
    Subclass it to run on another system, with a `pool` that returns results in the order of the shards.
    """

    @abstractmethod
    def pool(self, shards: Shards) -> AbstractContextManager[WorkerPool]:
        """Return a context manager that provides workers for these shards and ends them when it is left."""

    def connection(self) -> AbstractContextManager[None]:
        return nullcontext()

    def about(self) -> str:
        """Return a line for people who want to watch the work, while connected."""
        return ""


class ShardCache:
    """One worker's view of the shards: keeps those that fit into `remaining` bytes, so that they are read once."""

    def __init__(self, shards: Shards, remaining: int) -> None:
        self.shards, self.remaining = shards, remaining
        self.kept: dict[int, list[Any]] = {}
        self.lock = threading.Lock()

    def do(self, task: Task, shard: int) -> Any:
        try:
            return task(self.blocks(shard), shard)
        except MemoryError as error:
            raise out_of_memory(self.shards, shard) from error

    def blocks(self, shard: int) -> Iterator[Any]:
        if shard in self.kept:
            return iter(self.kept[shard])
        needed = self.shards.row_bytes * self.shards.shards[shard].n_rows
        with self.lock:
            fits = needed <= self.remaining
            self.remaining -= needed if fits else 0
        return self._kept(shard) if fits else self.shards.blocks(shard)

    def _kept(self, shard: int) -> Iterator[Any]:
        blocks = []
        for block in self.shards.blocks(shard):
            blocks.append(block)
            yield block
        self.kept[shard] = blocks


def out_of_memory(shards: Shards, number: int) -> InputError:
    return InputError(
        f"A worker ran out of memory on {shards.shards[number]}. Lower max_memory (now {shards.max_memory / 1e6:,.0f} "
        "MB for each worker), start fewer workers on a machine, or write files with smaller row groups."
    )


@dataclass
class Counter:
    what: str
    total: int = 0
    done: int = 0

    def __call__(self) -> None:
        self.done += 1
        report_progress(self.what, self.done, self.total)


@dataclass(frozen=True)
class Worth:
    value: Callable[[Problems], float]

    def __call__(self, blocks: Iterator[Problems], shard: int) -> tuple[float, int]:
        parts = [(self.value(block) * len(block), len(block)) for block in blocks]
        return sum(total for total, _ in parts), sum(n for _, n in parts)


def mean_worth(pool: WorkerPool, value: Callable[[Problems], float], numbers: Iterable[int]) -> float:
    parts = list(pool.each(Worth(value), [int(number) for number in numbers]))
    return sum(total for total, _ in parts) / sum(n for _, n in parts)


def mean_worth_of_all(engine: Engine, shards: Shards, value: Callable[[Problems], float]) -> float:
    with one_thread(), engine.pool(shards) as pool:
        return mean_worth(pool, value, range(len(shards.shards)))


@dataclass(frozen=True)
class Local(Engine):
    """Threads of this process, as many as `max_memory` allows. The default engine.

    Use it on one machine. Results do not depend on the number of threads.

    Parameters
    ----------
    threads : int, optional
        The most threads; by default NUMBA_NUM_THREADS, or one per core.

    See Also
    --------
    Ray : Several machines.

    Examples
    --------
    >>> import listwright as lw
    >>> lw.SCP(length=3, engine=Local(threads=2)).engine
    Local(threads=2)
    """

    threads: int | None = None

    @contextmanager
    def pool(self, shards: Shards) -> Iterator[WorkerPool]:
        if self.threads is not None:
            at_least_one("threads", self.threads)
        most = numba.get_num_threads() if self.threads is None else self.threads
        n_threads = max(1, min(most, shards.max_memory // shards.block_bytes))
        pool = ThreadPoolExecutor(n_threads)
        try:
            yield Threads(pool, ShardCache(shards, (shards.max_memory - n_threads * shards.block_bytes) // 2))
        finally:
            pool.shutdown(cancel_futures=True)


class Threads(WorkerPool):
    def __init__(self, pool: ThreadPoolExecutor, cache: ShardCache) -> None:
        self.pool, self.cache = pool, cache

    def each(self, task: Task, shards: Sequence[int], done: Done | None = None) -> Iterator[Any]:
        running: list[Future[Any]] = [self.pool.submit(self.cache.do, task, shard) for shard in shards]
        running.reverse()  # popped from the end, so that each result is freed once it is used
        while running:
            result = running.pop().result()
            if done is not None:
                done()
            yield result


@dataclass(frozen=True)
class Build:
    """Task: the lists of a shard as a table with one row per pick."""

    lists: Callable[[Problems, np.random.Generator], Lists]
    seed: int

    def __call__(self, blocks: Iterator[Problems], shard: int) -> pa.Table:
        rng = np.random.default_rng([self.seed, shard])
        return pa.concat_tables([pa.table(self.lists(block, rng).to_dict()) for block in blocks])


@dataclass(frozen=True, eq=False, repr=False)
class StreamedLists:
    """What `predict` returns for a scan. Lists are built only when they are needed."""

    scan: Scan  # the problems, without their reward
    engine: Engine  # where `to_parquet` builds the lists
    build: Build  # builds the lists of a block

    def __len__(self) -> int:
        return len(self.scan)

    def __iter__(self) -> Iterator[Lists]:
        for shard in self.scan.shards:
            rng = np.random.default_rng([self.build.seed, shard.number])
            yield from (self.build.lists(block, rng) for block in self.scan.blocks(shard.number))

    def to_parquet(self, path: str | Path, *, progress: Any = "auto") -> None:
        path = Path(path)
        if not path.parent.is_dir():
            raise InputError(f"There is no folder {path.parent} to write {path.name} to. Create it first.")
        counter = Counter("shards", len(self.scan.shards))
        with whole_file(path) as beside, one_thread(), self.engine.pool(self.scan) as pool, progress_to(progress):
            tables = pool.each(self.build, [shard.number for shard in self.scan.shards], counter)
            first = next(tables)
            with parquet.ParquetWriter(beside, first.schema) as writer:
                writer.write_table(first)
                for table in tables:
                    writer.write_table(table.cast(first.schema))

    def __repr__(self) -> str:
        shards = f"{len(self.scan.shards):,} shard{'' if len(self.scan.shards) == 1 else 's'}"
        return f"StreamedLists: {len(self):,} lists, to be built from {shards}"


def streamed_lists(
    scan: Scan, engine: Engine, lists: Callable[[Problems, np.random.Generator], Lists], seed: int
) -> StreamedLists:
    return StreamedLists(scan.without_reward(), engine, Build(lists, seed))
