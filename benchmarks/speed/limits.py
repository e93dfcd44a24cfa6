"""How near the walk comes to what the memory and the cores allow, and what first use and memory cost."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

import numba
import numpy as np

from benchmarks.speed.many_lists import PROBLEMS, D, N
from benchmarks.speed.one_list import K, learned
from listwright import SCP, Problems
from listwright.features import Candidate, Distance, Position
from listwright.rewards import AnySuccess


class Limit(NamedTuple):
    """One line: what was seen, and what is required."""

    what: str
    seen: str
    asked: str


def limits() -> list[Limit]:
    """All of them."""
    return [*bandwidth(), *threads(), *first_use(), memory()]


def bandwidth() -> list[Limit]:
    """Bytes that the dense walk reads in a second, against those that a plain copy reads and writes."""
    problems = _problems()
    size = problems.features.nbytes
    copied = 2 * size / _seconds(problems.features.copy) / 1e9
    lines = [Limit("plain copy of the features, read and written", f"{copied:.1f} GB/s", "")]
    # Without distances the features are read once, from memory. With them, each further position reads them again and
    # the smallest distances too, which the cache holds.
    for name, distances, reads in (("once", False, 1), ("and distances, once per position", True, 1 + 2 * (K - 1))):
        policy = learned(D, distances=distances)
        rate = reads * size / _seconds(lambda policy=policy: policy.predict(problems)) / 1e9
        gap = copied / rate
        lines.append(Limit(f"dense walk, features read {name}", f"{rate:.1f} GB/s, gap {gap:.1f}x", "gap at most 3x"))
    return lines


def threads() -> list[Limit]:
    """One thread against two, with the same lists."""
    problems, policy, most = _problems(), learned(D), numba.config.NUMBA_NUM_THREADS
    if most < 2:
        return [Limit("speed-up on 2 threads", "not run: one core", "")]
    took = {}
    for count in (1, 2):
        numba.set_num_threads(count)
        took[count] = _seconds(lambda: policy.predict(problems))
    numba.set_num_threads(most)
    return [Limit("predict on 2 threads, speed-up", f"{took[1] / took[2]:.2f}x", "")]


def first_use() -> list[Limit]:
    """Import, and the demo with and without a cache of compiled kernels, in seconds of processor time."""
    bare, name, names = (_cpu("-c", code) for code in ("pass", "import listwright", "from listwright import SCP"))
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "page.html")
        demo = ("-c", "from listwright.cli import main; main()", "demo", "--out", page)
        cold, warm = (_cpu(*demo, NUMBA_CACHE_DIR=folder) for _ in range(2))
    return [
        Limit("import listwright", f"{name - bare:.2f} s", "under 0.5 s"),
        Limit("the first estimator from it, with scikit-learn and numba", f"{names - bare:.2f} s", ""),
        Limit("demo, kernels compiled on first use", f"{cold - warm:.1f} s more than later", "under 20 s"),
    ]


def memory() -> Limit:
    """The most that `fit` takes beside its input, by size of the input."""
    features = np.random.default_rng(0).random((8000, 50, D), dtype=np.float32)
    problems = Problems.from_arrays(features, reward=AnySuccess(features[:, :, 0] > 0.9))
    model = SCP(K, features=Candidate() + Distance() + Position(), n_passes=1, random_state=0)
    tracemalloc.start()
    model.fit(problems)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Limit("peak memory of fit, 8,000 x 50 x 32", f"{peak / features.nbytes:.1f}x the input", "at most 3x")


def _problems() -> Problems:
    return Problems.from_arrays(np.random.default_rng(0).random((PROBLEMS, N, D), dtype=np.float32))


def _cpu(*command: str, **environment: str) -> float:
    """Seconds of processor time of a Python process: other work on the machine does not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], check=True, capture_output=True, env=os.environ | environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _seconds(call: Callable[[], Any]) -> float:
    """Median of nine, after one to warm up."""
    call()
    seen = []
    for _ in range(9):
        start = time.perf_counter()
        call()
        seen.append(time.perf_counter() - start)
    return median(seen)
