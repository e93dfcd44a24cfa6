"""The single writer: many queued writes in one transaction, answered when it is durable (group commit)."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from time import perf_counter
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError

from listwright.apps.serve.refusals import Refused, busy, unavailable
from listwright.apps.serve.store.database import cause_of

# Writes several things of one kind; for each a result, or the refusal of that one alone.
Work = Callable[[Connection, Sequence[Any]], Sequence[Any]]
MOST = 512  # writes of one transaction
QUEUE = 4_096  # writes that may wait
log = logging.getLogger("listwright.serve")


@dataclass(frozen=True, eq=False)
class Job:
    """One thing to write, and who waits for it."""

    work: Work
    argument: Any
    waiting: asyncio.Future[Any]


class Writer:
    """A thread that writes. While it commits, the next group gathers; so a busy service syncs once for many."""

    def __init__(
        self, engine: Engine, observe: Callable[[int, float], None], on_failure: Callable[[], None] = lambda: None
    ) -> None:
        self.engine = engine
        self.observe = observe  # called with the size and the seconds of each group
        self.on_failure = on_failure  # called for each transaction that the store did not take
        self.queue: SimpleQueue[Job | None] = SimpleQueue()
        self.loop = asyncio.get_running_loop()
        self.failure: str | None = None  # of the last transaction
        self.thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self.thread.start()

    async def write(self, work: Work, argument: Any) -> Any:
        """Waits until it is durable; its result. Given up before its transaction began, it is not written."""
        if self.queue.qsize() >= QUEUE:
            raise busy("Too many writes wait. Try again.")
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
        going = True
        while going:
            jobs, going = self._gathered()
            if jobs:
                self._write(jobs)

    def _gathered(self) -> tuple[list[Job], bool]:
        """What is queued, and whether there is more to come."""
        jobs: list[Job] = []
        job = self.queue.get()
        while job is not None:
            if not job.waiting.done():  # else nobody waits any more
                jobs.append(job)
            if len(jobs) == MOST or self.queue.empty():
                return jobs, True
            job = self.queue.get()
        return jobs, False

    def _write(self, jobs: list[Job]) -> None:
        start = perf_counter()
        results = self._attempt(jobs)
        self.observe(len(jobs), perf_counter() - start)
        self.loop.call_soon_threadsafe(_answer, jobs, results)

    def _attempt(self, jobs: list[Job], *, again: bool = True) -> list[Any]:
        try:
            with self.engine.begin() as connection:
                results = _worked(connection, jobs)
            self.failure = None
        except (OperationalError, InterfaceError) as error:
            self.failure = cause_of(error)
            self.on_failure()
            log.warning("a transaction failed", extra={"writes": len(jobs), "cause": self.failure})
            return [unavailable()] * len(jobs)
        except IntegrityError as error:  # somebody else wrote the same at the same time: the second try sees it
            if again:
                return self._attempt(jobs, again=False)
            return self._one_by_one(jobs, error)
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must be answered
            return self._one_by_one(jobs, error)
        return results

    def _one_by_one(self, jobs: list[Job], error: Exception) -> list[Any]:
        """One of them spoils it for all, so each is written on its own."""
        if len(jobs) > 1:
            return [self._attempt([job], again=False)[0] for job in jobs]
        log.error("a write failed", exc_info=error, extra={"cause": type(error).__name__})
        return [Refused(500, "internal", "This could not be stored.")]


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
