"""`listwright fit` on more data than memory: `python -m benchmarks.scale [--gigabytes 12] [--max-memory 600MB]`.

Makes the set in a temporary folder, fits it once through a scan, and once a part of it in memory; prints and writes
rows per second and the peak of resident memory of both.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.scale.data import FEATURES, ITEMS, generate

RESULTS = Path(__file__).parent / "results.json"
RUN = "from listwright.cli import main; main()"
IN_MEMORY = 2_000_000_000  # bytes of the part that is read whole


def fitted(data: list[Path], out: Path, *options: str) -> dict[str, float]:
    """Seconds, and the peak of resident memory, of one command."""
    settings = ["--reward", "any:clicked", "--length", "2", "--passes", "1", "--json", "-o", str(out)]
    command = [sys.executable, "-c", RUN, "fit", *map(str, data), *settings, *options]
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed.")
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "cpu_seconds": usage.ru_utime + usage.ru_stime, "peak_bytes": usage.ru_maxrss * 1024.0}


def measure(folder: Path, gigabytes: float, max_memory: str) -> dict[str, Any]:
    """Both ways."""
    n_rows = generate(folder, int(gigabytes * 1e9))
    files = sorted(folder.glob("*.parquet"))
    n_bytes = sum(path.stat().st_size for path in files)
    few = files[: max(1, round(len(files) * min(1.0, IN_MEMORY / n_bytes)))]
    few_rows = n_rows * sum(path.stat().st_size for path in few) / n_bytes
    print(f"{n_rows:,} rows of {FEATURES} features, {n_bytes / 1e9:.2f} GB in {len(files)} files", flush=True)
    fitted(few[:1], folder / "warm.listwright")  # compiles, and is not counted
    held = fitted(few, folder / "held.listwright")
    streamed = fitted(files, folder / "streamed.listwright", "--max-memory", max_memory)
    result: dict[str, Any] = {
        "bytes": n_bytes,
        "rows": n_rows,
        "features": FEATURES,
        "items": ITEMS,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[1], 1),
        "max_memory": max_memory,
        "in_memory": held | {"rows": few_rows, "rows_per_second": few_rows / held["seconds"]},
        "scan": streamed | {"rows": n_rows, "rows_per_second": n_rows / streamed["seconds"]},
    }
    result["share"] = result["scan"]["rows_per_second"] / result["in_memory"]["rows_per_second"]
    result["share_of_cpu_speed"] = (n_rows / streamed["cpu_seconds"]) / (few_rows / held["cpu_seconds"])
    return result


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=12.0)
    parser.add_argument("--max-memory", default="600MB")
    parser.add_argument("--folder", help="where the files are made, for a while; by default the system's temporary one")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        result = measure(Path(folder), given.gigabytes, given.max_memory)
    text = json.dumps(result, indent=1)
    print(text)
    RESULTS.write_text(text + "\n")


if __name__ == "__main__":
    main()
