"""The single writer of a process: groups queued writes into transactions (group commit).

A durable commit costs a disk flush, and threads that take turns at every statement cost as much. So while one group is
being committed the next one gathers, and a group is handed over only when the event loop has nothing else to do. Under
load one flush serves many requests, and an idle service commits at once. Callers are answered once their write is
durable.

Replicas share a store without deadlocks, by construction. There is one lock, the row "event" of the clock, and a
transaction takes it before anything else, so that all of them run one after the other. Only new lists, contexts and the
lists of shadows do without: they are rows with ids of their own, and counts in rows that belong to their replica.
"""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from time import perf_counter
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError

from listwright.serve.refusals import Refused, busy, unavailable
from listwright.serve.store.database import cause_of
from listwright.serve.store.journal import add_lists, add_shadows, lock_store
from listwright.serve.store.records import add_contexts

# Writes several things of one kind; for each a result, or the refusal of that one alone.
Work = Callable[[Connection, Sequence[Any]], Sequence[Any]]
LOCK_FREE = (add_contexts, add_lists, add_shadows)
RETRIES = 4  # of a transaction that the database gave up in favour of another
CONFLICTS = ("40001", "40P01")  # serialisation failure and deadlock of PostgreSQL
MOST = 512  # writes of one transaction
QUEUE = 4_096  # writes that may wait
LONGEST = 0.05  # seconds until a group is handed over although the event loop is busy
log = logging.getLogger("listwright.serve")


@dataclass(frozen=True, eq=False)
class Job:
    """A queued write: the function, its argument, and the future of whoever waits for it."""

    work: Work
    argument: Any
    waiting: asyncio.Future[Any]


class Writer:
    """A thread that executes all writes of a process."""

    def __init__(
        self, engine: Engine, observe: Callable[[int, float], None], on_failure: Callable[[], None] = lambda: None
    ) -> None:
        """Start the thread; must be called in a running event loop."""
        self.engine = engine
        self.observe = observe  # called with the size and the seconds of each group
        self.on_failure = on_failure  # called for each transaction that the store did not take
        self.jobs: deque[Job] = deque()
        self.queue: SimpleQueue[bool] = SimpleQueue()  # wakes the thread: True for jobs, False to stop
        self.woken = False  # whether it will be, once the event loop has run what is ready now
        self.gathering = 0.0  # since when
        self.timer: asyncio.TimerHandle | None = None  # of jobs that may wait
        self.loop = asyncio.get_running_loop()
        self.failure: str | None = None  # of the last transaction
        self.thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self.thread.start()

    def submit(self, work: Work, argument: Any, *, within: float = 0.0) -> asyncio.Future[Any]:
        """Queue a write that begins within so many seconds, or with the next one that may not wait."""
        if len(self.jobs) >= QUEUE:
            raise busy("Too many writes are waiting. Try again.")
        waiting = self.loop.create_future()
        self.jobs.append(Job(work, argument, waiting))
        if not within:
            self._hurry()
        elif self.timer is None:
            self.timer = self.loop.call_later(within, self._hurry)
        return waiting

    async def write(self, work: Work, argument: Any) -> Any:
        return await self.submit(work, argument)

    def _hurry(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if not self.woken:
            self.woken, self.gathering = True, self.loop.time()
            self.loop.call_soon(self._wake, 0)

    def _wake(self, seen: int) -> None:
        """Pass on what has gathered, once a turn of the event loop has added nothing to the `seen` jobs."""
        count = len(self.jobs)
        if seen < count < MOST and self.loop.time() - self.gathering < LONGEST:
            self.loop.call_soon(self._wake, count)
            return
        self.woken = False
        self.queue.put(True)

    def write_from_thread(self, work: Work, argument: Any) -> Any:
        """Execute a write from a thread other than the event loop's; blocks until it is durable."""
        return asyncio.run_coroutine_threadsafe(self.write(work, argument), self.loop).result()

    def stop(self) -> None:
        self.queue.put(False)
        self.thread.join()

    def _run(self) -> None:
        going = True
        while going:
            going = self.queue.get()
            left = len(self.jobs)  # others that come meanwhile are handed over later
            while left > 0:
                taken = [self.jobs.popleft() for _ in range(min(left, MOST))]
                left -= len(taken)
                jobs = [job for job in taken if not job.waiting.done()]  # for others nobody waits any more
                if jobs:
                    self._write(jobs)

    def _write(self, jobs: list[Job]) -> None:
        start = perf_counter()
        results = self._attempt(jobs)
        self.observe(len(jobs), perf_counter() - start)
        self.loop.call_soon_threadsafe(answer_all, [job.waiting for job in jobs], results)

    def _attempt(self, jobs: list[Job], *, again: int = RETRIES) -> list[Any]:
        try:
            with self.engine.begin() as connection:
                if any(job.work not in LOCK_FREE for job in jobs):
                    lock_store(connection)
                results = _execute(connection, jobs)
            self.failure = None
        except (OperationalError, InterfaceError) as error:
            if again and getattr(error.orig, "sqlstate", None) in CONFLICTS:  # nothing of it was stored
                time.sleep(random.uniform(0.0, 0.02))
                return self._attempt(jobs, again=again - 1)
            self.failure = cause_of(error)
            self.on_failure()
            log.warning("a transaction failed", extra={"writes": len(jobs), "cause": self.failure})
            return [unavailable()] * len(jobs)
        except IntegrityError as error:  # somebody else wrote the same at the same time: the second try sees it
            if again:
                return self._attempt(jobs, again=0)
            return self._one_by_one(jobs, error)
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must be answered
            return self._one_by_one(jobs, error)
        return results

    def _one_by_one(self, jobs: list[Job], error: Exception) -> list[Any]:
        """Write each job in a transaction of its own, so that the one at fault fails alone."""
        if len(jobs) > 1:
            return [self._attempt([job], again=0)[0] for job in jobs]
        log.error("a write failed", exc_info=error, extra={"cause": type(error).__name__})
        return [Refused(500, "internal", "This could not be stored.")]


def _execute(connection: Connection, jobs: list[Job]) -> list[Any]:
    results: list[Any] = [None] * len(jobs)
    # Lists first: there may be feedback on them in the same group.
    for work in sorted(dict.fromkeys(job.work for job in jobs), key=lambda work: work not in LOCK_FREE):
        mine = [i for i, job in enumerate(jobs) if job.work is work]
        for i, result in zip(mine, work(connection, [jobs[i].argument for i in mine]), strict=True):
            results[i] = result
    return results


def answer_all(waiting: Sequence[asyncio.Future[Any]], results: Sequence[Any]) -> None:
    """Complete futures, in their event loop, with results or exceptions; nobody waits for those that are done."""
    for future, result in zip(waiting, results, strict=True):
        if future.done():
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
