"""Runs shards on the threads of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numba

from listwright._internal.arrays import at_least_one
from listwright.engines.base import Crew, Done, Engine, Hand, Shards, Task


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
    def crew(self, shards: Shards) -> Iterator[Crew]:
        """Provide threads that share one view of the shards."""
        if self.threads is not None:
            at_least_one("threads", self.threads)
        most = numba.get_num_threads() if self.threads is None else self.threads
        n_threads = max(1, min(most, shards.max_memory // shards.block_bytes))
        pool = ThreadPoolExecutor(n_threads)
        try:
            yield Threads(pool, Hand(shards, (shards.max_memory - n_threads * shards.block_bytes) // 2))
        finally:
            pool.shutdown(cancel_futures=True)


class Threads(Crew):
    """The workers of `Local`."""

    def __init__(self, pool: ThreadPoolExecutor, hand: Hand) -> None:
        self.pool, self.hand = pool, hand

    def each(self, task: Task, shards: Sequence[int], done: Done | None = None) -> Iterator[Any]:
        """Yield the results in order; every thread works on one shard at a time."""
        running: list[Future[Any]] = [self.pool.submit(self.hand.do, task, shard) for shard in shards]
        running.reverse()  # popped from the end, so that each result is freed once it is used
        while running:
            result = running.pop().result()
            if done is not None:
                done()
            yield result
