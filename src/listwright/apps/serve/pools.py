"""Threads for what takes long, with a bound on what may wait: a pool of its own for each kind of work, so that none
can keep the others from being done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from listwright.apps.serve.refusals import busy

T = TypeVar("T")


class Pool:
    """Some threads, and at most `queue` things that wait for one."""

    def __init__(self, name: str, threads: int, queue: int) -> None:
        self.executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self.most, self.running = threads + queue, 0

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """What `work` gives. Given up while it waits, it is never begun."""
        if self.running >= self.most:
            raise busy()
        self.running += 1
        future = self.executor.submit(work, *arguments)
        future.add_done_callback(partial(self._done, asyncio.get_running_loop()))
        return await asyncio.wrap_future(future)  # which cancels it where this is cancelled

    def _done(self, loop: asyncio.AbstractEventLoop, future: Any) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody asks any more
            loop.call_soon_threadsafe(self._count_down)

    def _count_down(self) -> None:
        self.running -= 1

    def stop(self) -> None:
        """Ends the threads; what waits is not done."""
        self.executor.shutdown(wait=False, cancel_futures=True)
