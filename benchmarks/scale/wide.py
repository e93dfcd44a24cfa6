"""Tables with many columns: `python -m benchmarks.scale.wide`.

Fits `SCP(effort="fast")` on made-up problems, each in a process of its own, and prints and writes the seconds, the peak
of resident memory, the size of the model file, the estimate of memory that `listwright fit` would print, and what lists
are worth on other problems beside those of the full solve where that is feasible.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import listwright as lw
from listwright.estimators.wide import learning_bytes
from listwright.features import Candidate, Distance, Position

RESULTS = Path(__file__).parent / "wide.json"
SHAPES = (
    (10, 5, 1000),
    (500, 20, 64),
    (500, 20, 256),
    (500, 20, 1536),
    (500, 20, 3072),
)  # problems, candidates, columns
FULL = 256  # columns up to which the full solve is feasible


def made_up(n: int, items: int, width: int, seed: int) -> lw.Problems:
    """Items of two kinds, of which a problem wants one that nobody knows; quality and kind are directions."""
    rng, along = np.random.default_rng(seed), np.random.default_rng(99).standard_normal((2, width)) / np.sqrt(width)
    x = rng.standard_normal((n, items, width)).astype(np.float32)
    x += 2 * np.sign(x @ along[1])[..., None].astype(np.float32) * along[1].astype(np.float32)
    wanted = rng.random((n, 1)) < 0.5
    success = (x @ along[0] + 0.3 * rng.standard_normal((n, items)) > 0.8) & ((x @ along[1] > 0) == wanted)
    ids = [f"{seed}-{i}" for i in range(n)]
    return lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(success), problem_ids=ids)


def resident(kind: str) -> int:
    """Bytes of memory that this process holds (VmRSS), or held at most (VmHWM), as Linux tells."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(kind))


def measured(n: int, items: int, width: int) -> dict[str, Any]:
    """One fit, in this process."""
    lw.SCP(3, effort="fast", random_state=0).fit(made_up(20, 5, 3, 0))  # compiles
    problems, others = made_up(n, items, width, 0), made_up(200, items, width, 1)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = resident("VmRSS")
    wall, cpu = time.perf_counter(), time.process_time()
    model = lw.SCP(3, effort="fast", random_state=0).fit(problems)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resident("VmHWM")
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        file_bytes = (Path(folder) / "model").stat().st_size
    result = {
        "problems": n,
        "candidates": items,
        "columns": width,
        "seconds": wall,
        "cpu_seconds": cpu,
        "peak_bytes": peak,
        "learning_bytes": peak - before,
        "estimated_bytes": learning_bytes(problems),
        "file_bytes": file_bytes,
        "value": model.score(others),
        "greedy_value": float(lw.baselines.Oracle(3).fit(others).score(others)),
    }
    if width <= FULL:
        full = lw.SCP(3, effort="fast", features=Candidate() + Distance() + Position(), random_state=0).fit(problems)
        same = np.all(full.predict(others).rows == model.predict(others).rows, axis=1)
        result |= {"full_value": full.score(others), "same_lists": float(same.mean())}
    return result


def main() -> None:
    """Every shape in a fresh process; prints and writes."""
    if len(sys.argv) > 1:
        print(json.dumps(measured(*map(int, sys.argv[1:4]))))
        return
    fits = []
    for shape in SHAPES:
        command = [sys.executable, "-m", "benchmarks.scale.wide", *map(str, shape)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        fits.append(json.loads(done.stdout))
        print(fits[-1], flush=True)
    RESULTS.write_text(json.dumps({"cores": os.cpu_count(), "fits": fits}, indent=1) + "\n")


if __name__ == "__main__":
    main()
