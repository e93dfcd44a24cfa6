"""Time and memory of `lw.select` on the CPU by number of rows: `python -m benchmarks.speed.by_size`.

Each line is a process of its own, which says how long the call took after one on a few rows to compile, and the most
memory that it held. Writes docs/snippets/select_times.md.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numba

import listwright as lw
from benchmarks.gpu.data import vectors

TABLE = Path(__file__).parents[2] / "docs" / "snippets" / "select_times.md"
D, K = 384, 1000
SAMPLE: dict[str, Any] = {"sample": 10_000, "random_state": 0}
CASES: list[tuple[str, int, dict[str, Any]]] = [
    ("exact", 5_000, {}),
    ("exact", 20_000, {}),
    ("`neighbors=50`", 20_000, {"neighbors": 50}),
    ("`neighbors=50`", 100_000, {"neighbors": 50}),
    ("`sample=10_000`", 100_000, SAMPLE),
]


def measure(n: int, options: dict[str, Any]) -> dict[str, float]:
    """Seconds of the call, what it holds at most beside the vectors, and the share of the best value that is proved."""
    few = {**options, "sample": 500} if "sample" in options else options
    lw.select(vectors(2000, D), 10, progress=False, device="cpu", **few)
    table = vectors(n, D)
    start = time.perf_counter()
    selection = lw.select(table, K, progress=False, device="cpu", **options)
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    return {"seconds": took, "gib": peak, "ratio": selection.ratio or 0.0}


def main() -> None:
    """All lines, each in a process of its own."""
    lines = [
        f"k = {K:,} rows of {D} numbers, {numba.get_num_threads()} threads; memory is that of the whole process,",
        "vectors included. *Proved*: the value is at least this share of the best possible one.",
        "",
        "| how | rows | seconds | memory | proved |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, n, options in CASES:
        call = [sys.executable, "-m", "benchmarks.speed.by_size", str(n), json.dumps(options)]
        seen = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
        lines.append(f"| {name} | {n:,} | {seen['seconds']:.1f} | {seen['gib']:.2f} GiB | {seen['ratio']:.3f} |")
        print(lines[-1], flush=True)
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]), json.loads(sys.argv[2]))))
    else:
        main()
