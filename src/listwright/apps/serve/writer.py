"""The single writer: many queued writes in one transaction, answered when it is durable (group commit)."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from time import perf_counter, sleep
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import InterfaceError, OperationalError

from listwright.apps.serve.refusals import Refused, unavailable

# Writes several things of one kind; for each a result, or the refusal of that one alone.
Work = Callable[[Connection, Sequence[Any]], Sequence[Any]]
MOST = 512  # writes of one transaction
GATHER = 0.005  # seconds that a first write waits for company: one transaction for several costs far less
log = logging.getLogger("listwright.apps.serve")


@dataclass(frozen=True, eq=False)
class Job:
    """One thing to write, and who waits for it."""

    work: Work
    argument: Any
    waiting: asyncio.Future[Any]


class Writer:
    """A thread that writes. While it commits, the next group gathers; so a busy service syncs once for many."""

    def __init__(self, engine: Engine, observe: Callable[[int, float], None]) -> None:
        self.engine = engine
        self.observe = observe  # hears of each group: its size and seconds
        self.queue: SimpleQueue[Job | None] = SimpleQueue()
        self.loop = asyncio.get_running_loop()
        self.healthy = True
        self.thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self.thread.start()

    async def write(self, work: Work, argument: Any) -> Any:
        """Waits until it is durable; its result."""
        waiting = self.loop.create_future()
        self.queue.put(Job(work, argument, waiting))
        return await waiting

    def write_from_thread(self, work: Work, argument: Any) -> Any:
        """The same for other threads than the event loop's."""
        return asyncio.run_coroutine_threadsafe(self.write(work, argument), self.loop).result()

    def stop(self) -> None:
        """Writes what is queued, then ends."""
        self.queue.put(None)
        self.thread.join()

    def _run(self) -> None:
        while (first := self.queue.get()) is not None:
            jobs = [first]
            sleep(GATHER)
            while len(jobs) < MOST and not self.queue.empty():
                job = self.queue.get()
                if job is None:
                    self.queue.put(None)
                    break
                jobs.append(job)
            self._write(jobs)

    def _write(self, jobs: list[Job]) -> None:
        start = perf_counter()
        results = self._attempt(jobs)
        self.observe(len(jobs), perf_counter() - start)
        self.loop.call_soon_threadsafe(_answer, jobs, results)

    def _attempt(self, jobs: list[Job]) -> list[Any]:
        try:
            with self.engine.begin() as connection:
                results = _worked(connection, jobs)
            self.healthy = True
        except (OperationalError, InterfaceError) as error:
            self.healthy = False
            log.warning("a transaction of %d writes failed: %s", len(jobs), type(error.orig).__name__)
            return [unavailable()] * len(jobs)
        except Exception:
            log.exception("a transaction of %d writes failed", len(jobs))
            if len(jobs) > 1:  # one of them spoils it for all: each on its own
                return [self._attempt([job])[0] for job in jobs]
            return [Refused(500, "internal", "This could not be stored.")]
        return results


def _worked(connection: Connection, jobs: list[Job]) -> list[Any]:
    """Results in the order of the jobs; those of one kind are written together."""
    results: list[Any] = [None] * len(jobs)
    for work in dict.fromkeys(job.work for job in jobs):
        mine = [i for i, job in enumerate(jobs) if job.work is work]
        for i, result in zip(mine, work(connection, [jobs[i].argument for i in mine]), strict=True):
            results[i] = result
    return results


def _answer(jobs: list[Job], results: list[Any]) -> None:
    for job, result in zip(jobs, results, strict=True):
        if job.waiting.done():  # nobody waits any more
            continue
        if isinstance(result, Exception):
            job.waiting.set_exception(result)
        else:
            job.waiting.set_result(result)
