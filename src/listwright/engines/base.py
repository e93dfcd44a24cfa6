"""What an engine is: it does one task on many shards, and gives the results back in the order of the shards."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

from listwright.errors import InputError
from listwright.problems import Problems
from listwright.tables import Scan

ENGINES = {"local": "Local", "ray": "Ray"}

Task = Callable[[Iterator[Problems], int], Any]  # what to do with the blocks of the shard of this number
Told = Callable[[], None]  # hears of each shard that is done


class Crew(ABC):
    """Workers on the shards of one scan. Each keeps what it has read of its shards, as far as `max_memory` goes."""

    @abstractmethod
    def each(self, task: Task, shards: Sequence[int], told: Told | None = None) -> Iterator[Any]:
        """The task's result for each shard, in the order given, whoever is done first."""


class Engine(ABC):
    """Makes crews. An engine itself is only settings: it can be copied and compared."""

    @abstractmethod
    def crew(self, scan: Scan) -> AbstractContextManager[Crew]:
        """Workers for a scan, gone at the end of the `with`."""

    def connected(self) -> AbstractContextManager[None]:
        """Inside, what crews need is there; crews connect by themselves where it is not."""
        return nullcontext()

    def about(self) -> str:
        """A line for people who want to watch, while connected."""
        return ""


class Hand:
    """One worker's view of a scan: reads shards, and keeps those that fit so that they are read once."""

    def __init__(self, scan: Scan, room: int) -> None:
        self.scan = scan
        self.room = room  # bytes left for shards to keep
        self.kept: dict[int, list[Problems]] = {}
        self.lock = threading.Lock()

    def do(self, task: Task, shard: int) -> Any:
        """The task's result for a shard."""
        try:
            return task(self.blocks(shard), shard)
        except MemoryError as error:
            raise out_of_memory(self.scan, shard) from error

    def blocks(self, shard: int) -> Iterator[Problems]:
        """The problems of a shard, from memory or from its files."""
        if shard in self.kept:
            return iter(self.kept[shard])
        return self._kept(shard) if self._takes(shard) else self.scan.blocks(shard)

    def _takes(self, shard: int) -> bool:
        needed = self.scan.row_bytes * self.scan.shards[shard].n_rows
        with self.lock:
            fits = needed <= self.room
            self.room -= needed if fits else 0
        return fits

    def _kept(self, shard: int) -> Iterator[Problems]:
        blocks = []
        for block in self.scan.blocks(shard):
            blocks.append(block)
            yield block
        self.kept[shard] = blocks


def out_of_memory(scan: Scan, shard: int) -> InputError:
    """What to change where a worker has too little memory."""
    return InputError(
        f"A worker ran out of memory on {scan.shards[shard]}. Lower max_memory (now {scan.max_memory / 1e6:,.0f} MB a "
        "worker), start fewer workers on a machine, or write files with smaller row groups."
    )


def as_engine(engine: Any) -> Engine:
    """An engine from its name, or itself.

    >>> as_engine("local")
    Local(threads=None)
    """
    if isinstance(engine, str) and engine in ENGINES:
        made: Engine = getattr(import_module("listwright.engines"), ENGINES[engine])()
        return made
    if isinstance(engine, Engine):
        return engine
    raise InputError(f"engine must be one of {', '.join(ENGINES)}, or come from listwright.engines. Got {engine!r}.")
