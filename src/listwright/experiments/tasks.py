"""Repetitions of an experiment, one after the other or in several processes, with the same results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from listwright.errors import InputError

Result = TypeVar("Result")
Tick = Callable[[int, int], None]  # (done, all)


def repeat(work: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], *, jobs: int, tick: Tick) -> list[Result]:
    """`work(*task)` for every task, in the order of the tasks; `tick` hears of each that is done.

    >>> repeat(max, [(1, 2), (4, 3)], jobs=1, tick=lambda done, total: None)
    [2, 4]
    """
    if jobs < 1:
        raise InputError(f"jobs must be at least 1. Got {jobs}.")
    results: list[Result] = []
    for result in _stream(work, tasks, jobs):
        results.append(result)
        tick(len(results), len(tasks))
    return results


def _stream(work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], jobs: int) -> Any:
    if jobs == 1:
        return (work(*task) for task in tasks)
    from joblib import Parallel, delayed

    return Parallel(n_jobs=jobs, return_as="generator")(delayed(work)(*task) for task in tasks)


def check_repetitions(seeds: int) -> None:
    """At least one repetition."""
    if seeds < 1:
        raise InputError(f"seeds must be at least 1. Got {seeds}.")


def quiet(done: int, total: int) -> None:
    """Hears of progress and says nothing."""
