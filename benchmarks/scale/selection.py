"""Selection dealt out to a cluster against one process: `python -m benchmarks.scale.selection`.

200,000 rows, both measured on the same sample of them; values are over all rows. Writes docs/snippets/select_ray.md.
"""

from __future__ import annotations

import time
from pathlib import Path

import ray

import listwright as lw
from benchmarks.gpu.data import vectors
from listwright.engines import Ray

TEXT = Path(__file__).parents[2] / "docs" / "snippets" / "select_ray.md"
N, D, K, SAMPLE, WORKERS = 200_000, 64, 200, 10_000, 4


def main() -> None:
    """Both, and the share of the value that the cluster reaches."""
    ray.init(
        num_cpus=WORKERS,
        include_dashboard=False,
        _node_ip_address="127.0.0.1",
        logging_level="error",
        log_to_driver=False,
    )
    table, seen = vectors(N, D), {}
    for name, engine in (("one process", "local"), (f"Ray, {WORKERS} workers", Ray(workers=WORKERS))):
        start = time.perf_counter()
        selection = lw.select(table, K, sample=SAMPLE, random_state=0, progress=False, device="cpu", engine=engine)
        seen[name] = selection.value
        print(
            f"{name}: value {selection.value:.1f}, {time.perf_counter() - start:.0f} s, {selection.bound}", flush=True
        )
    alone, dealt = seen.values()
    text = (
        f"n = {N:,}, d = {D}, k = {K}, `sample={SAMPLE:_}`: dealt out to {WORKERS} workers, the selection is worth "
        f"{100 * dealt / alone:.2f} % of that of one process (`python -m benchmarks.scale.selection`).\n"
    )
    TEXT.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
