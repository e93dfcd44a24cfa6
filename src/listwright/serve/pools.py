"""Thread pools with bounded queues, one per kind of work.

Building lists, reading from the store and background work each have a pool of their own, so that a burst of one kind
cannot starve the others. A full queue is answered with 429 at once instead of letting latency grow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from listwright.serve.refusals import busy

T = TypeVar("T")


class Pool:
    """A thread pool for use from an event loop that refuses work when its queue is full."""

    def __init__(self, name: str, threads: int, queue: int) -> None:
        """Create the threads."""
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
        """Decrement the number of running calls."""
        self.running -= 1

    def stop(self) -> None:
        """Shut the pool down without waiting: queued calls are cancelled, running ones finish in their threads."""
        self.executor.shutdown(wait=False, cancel_futures=True)
