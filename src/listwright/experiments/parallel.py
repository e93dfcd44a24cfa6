"""Repetitions of an experiment, one after the other or in several processes, with the same results either way."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any, TypeVar

from listwright._internal.progress import progress_to, report_progress
from listwright._internal.threads import one_thread
from listwright.errors import InputError
from listwright.text.files import ReadingNote

Result = TypeVar("Result")


def repeat(work: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], *, jobs: int) -> list[Result]:
    """Call `work(*task)` for every task."""
    if jobs < 1:
        raise InputError(f"jobs must be at least 1. Got {jobs}.")
    results: list[Result] = []
    for result in _stream(work, tasks, jobs):
        results.append(result)
        report_progress("repetitions", len(results), len(tasks))
    return results


def _stream(work: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], jobs: int) -> Iterator[Result]:
    """Yield results in order, from this process or from freshly spawned ones."""
    if jobs == 1:
        for task in tasks:
            with progress_to(False):
                result = work(*task)
            yield result
        return
    # Fresh processes: a fork would copy the locks of threads that it does not copy.
    with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=get_context("spawn")) as pool:
        yield from pool.map(partial(_on_one_thread, work), tasks)


def _on_one_thread(work: Callable[..., Result], task: tuple[Any, ...]) -> Result:
    """Run a task with one thread: processes share the cores, and threads within them would compete."""
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingNote)  # the main process has read the same files and said so
        return work(*task)


def check_repetitions(seeds: int) -> None:
    """Raise unless there is at least one repetition."""
    if seeds < 1:
        raise InputError(f"seeds must be at least 1. Got {seeds}.")
