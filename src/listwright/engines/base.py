"""The interface of engines: run a task on many shards, and return the results in the order of the shards."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from listwright.errors import InputError
from listwright.problems import Problems

Task = Callable[[Iterator[Problems], int], Any]  # takes the blocks of a shard and its number
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
    def blocks(self, number: int) -> Iterator[Problems]: ...
    def fingerprint(self) -> str: ...


class Crew(ABC):
    """Abstract base of running workers, which apply a task to shards of a data set."""

    @abstractmethod
    def each(self, task: Task, shards: Sequence[int], done: Done | None = None) -> Iterator[Any]:
        """Return an iterator over the task's result for each shard, in the given order, whichever finishes first."""


class Engine(ABC):
    """Base class of engines, which start workers for shards.

    An engine is only settings: it can be copied and compared. Use `Local` unless the data need several machines.
    Subclass it to run on another system, with a `crew` that returns results in the order of the shards.
    """

    @abstractmethod
    def crew(self, shards: Shards) -> AbstractContextManager[Crew]:
        """Return a context manager that provides workers for these shards and ends them when it is left."""

    def connected(self) -> AbstractContextManager[None]:
        """Return a context manager within which the engine is connected to its cluster."""
        return nullcontext()

    def about(self) -> str:
        """Return a line for people who want to watch the work, while connected."""
        return ""


class Hand:
    """One worker's view of the shards: reads them, and keeps those that fit into `room` bytes so that they are read
    once.
    """

    def __init__(self, shards: Shards, room: int) -> None:
        self.shards = shards
        self.room = room  # bytes left for shards to keep
        self.kept: dict[int, list[Problems]] = {}
        self.lock = threading.Lock()

    def do(self, task: Task, shard: int) -> Any:
        """Return the task's result for a shard; raise an `InputError` with advice if memory runs out."""
        try:
            return task(self.blocks(shard), shard)
        except MemoryError as error:
            raise out_of_memory(self.shards, shard) from error

    def blocks(self, shard: int) -> Iterator[Problems]:
        """Return an iterator over the problems of a shard, from memory or from its files."""
        if shard in self.kept:
            return iter(self.kept[shard])
        return self._kept(shard) if self._takes(shard) else self.shards.blocks(shard)

    def _takes(self, shard: int) -> bool:
        """Return whether a shard still fits into memory; if so, its bytes are reserved."""
        needed = self.shards.row_bytes * self.shards.shards[shard].n_rows
        with self.lock:
            fits = needed <= self.room
            self.room -= needed if fits else 0
        return fits

    def _kept(self, shard: int) -> Iterator[Problems]:
        """Yield the blocks of a shard, and keep them once all were read."""
        blocks = []
        for block in self.shards.blocks(shard):
            blocks.append(block)
            yield block
        self.kept[shard] = blocks


def out_of_memory(shards: Shards, number: int) -> InputError:
    """Return the error that says what to change if a worker has too little memory."""
    return InputError(
        f"A worker ran out of memory on {shards.shards[number]}. Lower max_memory (now {shards.max_memory / 1e6:,.0f} "
        "MB for each worker), start fewer workers on a machine, or write files with smaller row groups."
    )
