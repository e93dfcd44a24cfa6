"""Jobs whose results are kept on disk, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchmarks.quality.methods import OURS
from benchmarks.quality.protocol import RIVALS_ROOMS, fingerprint

CACHE = Path(__file__).parent / "cache"


class Job(NamedTuple):
    """One method on one part of one family. `run` gives one row per list: set, part, method, train, seed, at (its
    length or budget), problem, value."""

    stage: str
    family: str
    part: str
    method: str
    run: Callable[[], list[dict[str, Any]]]

    @property
    def key(self) -> str:
        """How the job is named."""
        return f"{self.stage}/{self.family}/{self.part}/{self.method}"

    @property
    def file(self) -> Path:
        """Where the result is kept: apart for each state of the code that it depends on."""
        code = fingerprint() if self.method in OURS else fingerprint(RIVALS_ROOMS)
        return CACHE / self.stage / code / self.family / self.part / f"{self.method}.parquet"


def run_all(jobs: Iterable[Job], *, workers: int, tell: Callable[[str], None] = print) -> None:
    """Runs what has no result yet, with one process per worker."""
    todo = [job for job in jobs if not job.file.is_file()]
    with ProcessPoolExecutor(workers) as pool:
        running = {pool.submit(_run, job, job.file): job for job in todo}
        for done, future in enumerate(as_completed(running), start=1):
            tell(f"{done}/{len(todo)} {running[future].key}: {future.result():.1f} s")


def _run(job: Job, file: Path) -> float:
    began = time.process_time()
    table = pd.DataFrame(job.run())
    seconds = time.process_time() - began
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(".part")
    table.assign(seconds=seconds).to_parquet(beside, compression="zstd")
    beside.replace(file)
    return seconds


def results(jobs: Iterable[Job]) -> pd.DataFrame:
    """The rows of all jobs that have a result, with their family."""
    done = [job for job in jobs if job.file.is_file()]
    return pd.concat([pd.read_parquet(job.file).assign(family=job.family) for job in done], ignore_index=True)
