"""Jobs whose results are kept on disk, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

CACHE = Path(__file__).parent / "cache"


class Job(NamedTuple):
    """One method on one part of one set. `run` gives a row for each list: set, part, method, train, seed, at (its
    length or budget), problem, value."""

    key: str
    run: Callable[[], list[dict[str, Any]]]

    @property
    def file(self) -> Path:
        """Where the result is kept."""
        return CACHE / f"{self.key}.parquet"


def run_all(jobs: Iterable[Job], *, workers: int, tell: Callable[[str], None] = print) -> None:
    """Runs what has no result yet, a process for each worker."""
    todo = [job for job in jobs if not job.file.is_file()]
    with ProcessPoolExecutor(workers) as pool:
        running = {pool.submit(_run, job): job for job in todo}
        for done, future in enumerate(as_completed(running), start=1):
            tell(f"{done}/{len(todo)} {running[future].key}: {future.result():.1f} s")


def _run(job: Job) -> float:
    began = time.perf_counter()
    table = pd.DataFrame(job.run())
    seconds = time.perf_counter() - began
    job.file.parent.mkdir(parents=True, exist_ok=True)
    beside = job.file.with_suffix(".part")
    table.assign(seconds=seconds).to_parquet(beside, compression="zstd")
    beside.replace(job.file)
    return seconds


def results(jobs: Iterable[Job]) -> pd.DataFrame:
    """The rows of all jobs that have a result, with the family of their set."""
    done = [job for job in jobs if job.file.is_file()]
    return pd.concat([pd.read_parquet(job.file).assign(family=job.key.split("/")[0]) for job in done])
