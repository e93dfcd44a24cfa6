"""What an engine is: it runs one task on many shards, and gives the results back in the order of the shards."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from listwright.errors import InputError
from listwright.problems import Problems

Task = Callable[[Iterator[Problems], int], Any]  # what to do with the blocks of the shard of this number
Told = Callable[[], None]  # called after each shard that is done


class Shard(Protocol):
    """Some whole problems that one worker owns; `str` says where they come from."""

    @property
    def number(self) -> int: ...
    @property
    def n_problems(self) -> int: ...
    @property
    def n_rows(self) -> int: ...


class Shards(Protocol):
    """Problems in parts: the files of a `listwright.scan`, or problems in memory that are shared out."""

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
    """Workers on shards. Each keeps what it has read of its shards, as far as `max_memory` goes."""

    @abstractmethod
    def each(self, task: Task, shards: Sequence[int], told: Told | None = None) -> Iterator[Any]:
        """The task's result for each shard, in the order given, whoever is done first."""


class Engine(ABC):
    """Makes crews. An engine itself is only settings: it can be copied and compared."""

    @abstractmethod
    def crew(self, shards: Shards) -> AbstractContextManager[Crew]:
        """Workers for these shards, gone at the end of the `with`."""

    def connected(self) -> AbstractContextManager[None]:
        """Inside, what crews need is there; crews connect by themselves where it is not."""
        return nullcontext()

    def about(self) -> str:
        """A line for people who want to watch, while connected."""
        return ""


class Hand:
    """One worker's view of the shards: reads them, and keeps those that fit so that they are read once."""

    def __init__(self, shards: Shards, room: int) -> None:
        self.shards = shards
        self.room = room  # bytes left for shards to keep
        self.kept: dict[int, list[Problems]] = {}
        self.lock = threading.Lock()

    def do(self, task: Task, shard: int) -> Any:
        """The task's result for a shard."""
        try:
            return task(self.blocks(shard), shard)
        except MemoryError as error:
            raise out_of_memory(self.shards, shard) from error

    def blocks(self, shard: int) -> Iterator[Problems]:
        """The problems of a shard, from memory or from its files."""
        if shard in self.kept:
            return iter(self.kept[shard])
        return self._kept(shard) if self._takes(shard) else self.shards.blocks(shard)

    def _takes(self, shard: int) -> bool:
        needed = self.shards.row_bytes * self.shards.shards[shard].n_rows
        with self.lock:
            fits = needed <= self.room
            self.room -= needed if fits else 0
        return fits

    def _kept(self, shard: int) -> Iterator[Problems]:
        blocks = []
        for block in self.shards.blocks(shard):
            blocks.append(block)
            yield block
        self.kept[shard] = blocks


def out_of_memory(shards: Shards, number: int) -> InputError:
    """What to change where a worker has too little memory."""
    return InputError(
        f"A worker ran out of memory on {shards.shards[number]}. Lower max_memory (now {shards.max_memory / 1e6:,.0f} "
        "MB for each worker), start fewer workers on a machine, or write files with smaller row groups."
    )
