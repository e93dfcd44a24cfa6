"""Seconds and bytes of a round on 1, 2 and 4 Ray workers: `python -m benchmarks.scale.workers`.

Rounds are timed once all shards are in the workers' memory. Beside the time on the clock, which says little where cores
are shared with other work, it gives the CPU time that workers spend on learning and the driver on handing out and
adding up.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import cloudpickle
import ray

import listwright as lw
from benchmarks.scale.data import FEATURES, generate
from listwright._internal.threads import one_thread
from listwright.engines import Engine, Local, Ray, WorkerPool
from listwright.problems import Problems
from listwright.tables import Scan, scan
from listwright.training.round import Training
from listwright.training.sources import LearnShard

RESULTS = Path(__file__).parent / "workers.json"
LENGTH, ROUNDS = 2, 4


@dataclass(frozen=True)
class Timed:
    """A task, and the CPU time that it takes."""

    task: LearnShard

    def __call__(self, blocks: Iterator[Problems], shard: int) -> tuple[Any, float]:
        """Its result, and the seconds."""
        started = time.thread_time()
        return self.task(blocks, shard), time.thread_time() - started


def a_round(crew: WorkerPool, training: Training, shards: list[int]) -> tuple[float, float, float]:
    """Seconds on the clock, CPU seconds of the workers, and of the driver."""
    clock, own, theirs = time.perf_counter(), time.process_time(), 0.0
    for part, seconds in crew.each(Timed(LearnShard(training.fork(), (0, 0))), shards):
        training.join(*part)
        theirs += seconds
    training.update()
    return time.perf_counter() - clock, theirs, time.process_time() - own


def rounds(data: Scan, engine: Engine, model: lw.SCP) -> dict[str, float]:
    """Medians of the second and third pass."""
    training = model.training_.for_new_problems()
    with one_thread(), engine.pool(data) as crew:
        times = [a_round(crew, training, list(range(i % ROUNDS, len(data.shards), ROUNDS))) for i in range(3 * ROUNDS)]
    names = "seconds", "workers_cpu_seconds", "driver_cpu_seconds"
    return {name: median(values) for name, *values in zip(names, *times[ROUNDS:], strict=True)}


def main() -> None:
    """Measures, prints, writes."""
    with tempfile.TemporaryDirectory() as folder:
        n_rows = generate(Path(folder), 216_000_000)
        data = scan(folder, reward="any:clicked", max_memory="600MB", shard_size="10MB")
        model = lw.SCP(length=LENGTH, n_passes=1, effort="fast", random_state=0).fit(data)
        task = LearnShard(model.training_.fork(), (0, 0))
        result: dict[str, Any] = {
            "rows_a_round": n_rows / ROUNDS,
            "shards_a_round": len(data.shards) / ROUNDS,
            "features": FEATURES,
            "length": LENGTH,
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1),
            "bytes_out": len(cloudpickle.dumps(task)),
            "bytes_back_a_shard": len(cloudpickle.dumps(task(data.blocks(0), 0))),
            "local, 1 thread": rounds(data, Local(1), model),
        }
        os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - else workers give way to all other work
        ray.init(num_cpus=4, include_dashboard=False, logging_level="error", log_to_driver=False)
        for workers in (1, 2, 4):
            result[f"ray, {workers} workers"] = rounds(data, Ray(workers=workers), model)
        ray.shutdown()
    text = json.dumps(result, indent=1)
    print(text)
    RESULTS.write_text(text + "\n")


if __name__ == "__main__":
    main()
