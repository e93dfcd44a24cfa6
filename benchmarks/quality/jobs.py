"""Jobs in processes, the longest first; results are kept on disk, so that a run that was stopped goes on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchmarks.quality.methods import OURS
from benchmarks.quality.protocol import RIVALS_CODE, fingerprint

CACHE = Path(__file__).parent / "cache"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1")
# Processor time of a job beside that of other methods, about, to begin with the longest.
COSTS = {"SCP": 40.0, "ConSeqOpt": 8.0, "boosting top-k": 6.0, "forest cover": 5.0, "extra-trees top-k": 3.0}


class Job(NamedTuple):
    """One method on one part of one family. `run` gives one row per list: set, part, method, train, seed, at (its
    length or budget), problem, value."""

    stage: str
    family: str
    part: str
    method: str
    run: Callable[[], list[dict[str, Any]]]
    size: float = 1.0  # how much there is to learn from, beside other jobs

    @property
    def key(self) -> str:
        """How the job is named."""
        return f"{self.stage}/{self.family}/{self.part}/{self.method}"

    @property
    def file(self) -> Path:
        """Where the result is kept: apart for each state of the code that it depends on."""
        code = fingerprint() if self.method in OURS else fingerprint(RIVALS_CODE)
        return CACHE / self.stage / code / self.family / self.part / f"{self.method}.parquet"

    @property
    def cost(self) -> float:
        """How long the job takes, beside others."""
        return self.size * COSTS.get(self.method, 1.0)


def run_all(jobs: Iterable[Job], *, workers: int, tell: Callable[[str], None] = print) -> list[str]:
    """Runs what has no result yet, one process of one thread per worker; returns the names of jobs that failed."""
    todo = sorted((job for job in jobs if not job.file.is_file()), key=lambda job: -job.cost)
    failed = []
    with processes(workers) as pool:
        running = {pool.submit(_run, job, job.file): job for job in todo}
        for done, future in enumerate(as_completed(running), start=1):
            key, error = running[future].key, future.exception()
            tell(f"{done}/{len(todo)} {key}: {f'{future.result():.1f} s' if error is None else repr(error)}")
            failed += [] if error is None else [key]
    return failed


def processes(workers: int) -> ProcessPoolExecutor:
    """New processes of one thread each, so that as many as there are cores run side by side."""
    os.environ.update(ONE_THREAD)  # read when libraries are loaded
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


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
