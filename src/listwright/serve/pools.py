"""Threads for work that would hold up the event loop, with a bound on what may wait for them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from listwright.serve.messages import ListQuery
from listwright.serve.models.building import Built
from listwright.serve.refusals import Refused, busy

T = TypeVar("T")
TOGETHER = 32  # lists that are built at once, at most


class Pool:
    """A thread pool for use from an event loop that refuses work with 429 when its queue is full.

    Building lists, reading from the store and background work each have a pool of their own, so that a burst of one
    kind cannot starve the others.
    """

    def __init__(self, name: str, threads: int, queue: int) -> None:
        self.executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self.most, self.running = threads + queue, 0

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run `work(*arguments)` in a thread and return its result."""
        # If the awaiting task is cancelled while the call is still queued, the call never starts.
        if self.running >= self.most:
            raise busy()
        self.running += 1
        future = self.executor.submit(work, *arguments)
        future.add_done_callback(partial(self._done, asyncio.get_running_loop()))
        return await asyncio.wrap_future(future)  # which cancels it where this is cancelled

    def _done(self, loop: asyncio.AbstractEventLoop, future: Any) -> None:
        """Schedule the decrement of `running` in the event loop; called by the thread that finished."""
        with suppress(RuntimeError):  # the loop has ended, and nobody asks any more
            loop.call_soon_threadsafe(self._count_down)

    def _count_down(self) -> None:
        self.running -= 1

    def stop(self) -> None:
        """Shut the pool down without waiting: queued calls are cancelled, running ones finish in their threads."""
        self.executor.shutdown(wait=False, cancel_futures=True)


class Gathering:
    """Builds lists that take long in a thread: those that come while others are being built, together."""

    def __init__(self, pool: Pool, build: Callable[[Sequence[ListQuery]], list[Built | Refused]]) -> None:
        self.pool, self.build_all = pool, build
        self.waiting: deque[tuple[ListQuery, asyncio.Future[Built]]] = deque()
        self.task: asyncio.Task[None] | None = None

    async def build(self, query: ListQuery) -> Built:
        """Build one list; refuses with 429 where too many wait."""
        if len(self.waiting) >= self.pool.most:
            raise busy()
        future: asyncio.Future[Built] = asyncio.get_running_loop().create_future()
        self.waiting.append((query, future))
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        """Build what waits, until nothing does."""
        while self.waiting:
            some = [self.waiting.popleft() for _ in range(min(len(self.waiting), TOGETHER))]
            some = [(query, future) for query, future in some if not future.done()]  # for others nobody waits any more
            results: Sequence[Built | Exception]
            try:
                results = await self.pool.run(self.build_all, [query for query, _ in some])
            except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must be answered
                results = [error] * len(some)
            for (_, future), result in zip(some, results, strict=True):
                if future.done():
                    continue
                if isinstance(result, Exception):
                    future.set_exception(result)
                else:
                    future.set_result(result)
