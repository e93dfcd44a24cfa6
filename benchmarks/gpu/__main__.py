"""Selection on a GPU: `python -m benchmarks.gpu [--quick]` writes results.json beside it and docs/gpu.md."""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import triton

import listwright as lw
from benchmarks.gpu.data import vectors
from listwright.selection.gpu import kernels, objectives

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "gpu.md"
D, K = 384, 1000
SIZES = (1_000_000, 100_000, 20_000)
HUGE = (10_000_000, 128)  # rows and numbers per row of the largest table
WARM = 20_000  # rows of the call before, which compiles the same kernels as the timed one
OTHERS: dict[str, Any] = {
    "graph cut": "graph_cut",
    "saturated coverage": "saturated_coverage",
    "max min (k-center)": "max_min",
    "disparity sum": "disparity_sum",
    "facility location + 0.5 graph cut": {"facility_location": 1.0, "graph_cut": 0.5},
}
Line = dict[str, Any]


class Counting:
    """Counts the operations that the kernel is asked for."""

    def __init__(self) -> None:
        self.operations, self.kernel = 0.0, kernels.falls

    def __call__(self, targets: Any, candidates: Any, *others: Any) -> Any:
        self.operations += 2.0 * len(targets) * len(candidates) * targets.shape[1]
        return self.kernel(targets, candidates, *others)


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Wall clock of a call that ends with its result in host memory."""
    start = time.perf_counter()
    result = call()
    torch.cuda.synchronize()
    return time.perf_counter() - start, result


def limit() -> float:
    """Operations a second of a large matrix product in half precision, on random numbers."""
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.float16) for _ in range(2))
    median = triton.testing.do_bench(lambda: a @ b, warmup=100, rep=300, return_mode="median")
    return float(2 * 8192**3 / (median * 1e-3))


def timed(name: str, table: Any, most: float, **options: Any) -> Line:
    """One line: the public call on vectors in host memory, after one on a few rows to compile."""
    lw.select(table[:WARM], 20, device="cuda", progress=False, **options)
    counting = Counting()
    objectives.falls = counting
    try:
        took, selection = seconds(lambda: lw.select(table, K, device="cuda", progress=False, **options))
    finally:
        objectives.falls = counting.kernel
    n = len(table)
    line: Line = {
        "work": name,
        "n": n,
        "d": table.shape[1],
        "k": K,
        "seconds": took,
        "value": selection.value,
        "ratio": selection.ratio,
    }
    if counting.operations:
        line |= {
            "passes": counting.operations / (2.0 * n * n * table.shape[1]),
            "share": counting.operations / took / most,
        }
    print(json.dumps(line), flush=True)
    return line


def worth(table: Any, rows: Any) -> float:
    """Facility location of some rows in float64."""
    x = torch.nn.functional.normalize(torch.from_numpy(table).cuda().double(), dim=1)
    return float(sum((x[low : low + 4096] @ x[rows].T).clamp(min=0).max(dim=1).values.sum()
                     for low in range(0, len(x), 4096)))  # fmt: skip


def in_float64(table: Any) -> Any:
    """Plain greedy on the whole matrix in float64."""
    x = torch.nn.functional.normalize(torch.from_numpy(table).cuda().double(), dim=1)
    similar = (x @ x.T).clamp(min=0)
    best, gains, rows = torch.zeros(len(x), device="cuda", dtype=torch.float64), torch.empty(len(x), device="cuda"), []
    for _ in range(K):
        gains = torch.cat([(similar[:, low : low + 2000] - best[:, None]).clamp(min=0).sum(dim=0)
                           for low in range(0, len(x), 2000)])  # fmt: skip
        row = int((gains >= gains.max() * (1 - 1e-9)).int().argmax())  # ties up to rounding go to the lowest row
        rows.append(row)
        best = torch.maximum(best, similar[:, row])
    return np.array(rows)


def agreement() -> Line:
    """Half precision and `exact` against plain greedy in float64, n = 20,000."""
    table = vectors(20_000, D)
    plain = in_float64(table)
    best = worth(table, plain)
    fast = lw.select(table, K, device="cuda")
    exact, cpu = (lw.select(table, K, device=name, precision="exact") for name in ("cuda", "cpu"))
    line = {
        "value of fast / exact in float64": worth(table, fast.rows) / best,
        "value of precision='exact' / exact in float64": worth(table, exact.rows) / best,
        "same picks in order, precision='exact'": float((exact.rows == plain).mean()),
        "same picks in order, fast": float((fast.rows == plain).mean()),
        "same picks in order as on the CPU, precision='exact'": float((exact.rows == cpu.rows).mean()),
        "same picks in order, CPU": float((cpu.rows == plain).mean()),
        "same set, precision='exact'": len(set(exact.rows.tolist()) & set(plain.tolist())) / K,
    }
    print(json.dumps(line), flush=True)
    return line


def main(quick: bool) -> None:
    """All lines, and the page."""
    most = limit()
    about = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": torch.version.cuda,
        "python": platform.python_version(),
        "limit_tflops": most / 1e12,
    }
    print(json.dumps(about), flush=True)
    lines = []
    if not quick:
        lines.append(timed("facility location, sample=10,000", vectors(*HUGE), most, sample=10_000, random_state=0))
    for n in SIZES[1:] if quick else SIZES:
        table = vectors(n, D)
        lines += [
            timed("facility location", table, most),
            timed("log det", table, most, reward="log_det"),
            timed("facility location, neighbors=50", table, most, neighbors=50),
        ]
        if n <= 100_000:
            lines.append(timed("facility location, precision='exact'", table, most, precision="exact"))
        if n > 20_000:
            lines.append(timed("facility location, sample=10,000", table, most, sample=10_000, random_state=0))
        if n == 100_000:
            lines += [timed(name, table, most, reward=reward) for name, reward in OTHERS.items()]
            lines.append(timed("facility location, refine=10", table, most, refine=10.0))
    results = {"about": about, "lines": sorted(lines, key=lambda line: line["n"]), "agreement": agreement()}
    (HERE / "results.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    PAGE.write_text(page(results), encoding="utf-8")


def page(results: dict[str, Any]) -> str:
    """docs/gpu.md."""
    about = results["about"]
    text = f"""# Selection on a GPU

Written by `make bench-gpu`: `lw.select(vectors, 1000, device="cuda")`, vectors of d numbers in host memory, copies and
checks included, kernels compiled before. This run: {about["device"]}, PyTorch {about["torch"]},
Triton {about["triton"]}, CUDA {about["cuda"]}.

*Passes* are the similarities that were computed, in units of all n x n of them. *Share of the limit* is over the whole
call, of the {about["limit_tflops"]:.0f} TFLOP/s that a plain product of half-precision matrices reached in this run.
*Proved*: the value is at least this share of the best possible one. All rewards run there but `feature_based` and own
ones; tables of similarities (`metric="precomputed"`) are read on the CPU.

| work | n | d | seconds | passes | share of the limit | proved |
|---|---:|---:|---:|---:|---:|---:|
"""
    for line in results["lines"]:
        passes, share = line.get("passes"), line.get("share")
        cells = [line["work"], f"{line['n']:,}", str(line["d"]), f"{line['seconds']:.2f}"]
        cells += [f"{passes:.2f}" if passes else "", f"{100 * share:.0f} %" if share else ""]
        cells.append("" if line["ratio"] is None else f"{line['ratio']:.3f}")
        text += f"| {' | '.join(cells)} |\n"
    text += "\nAgainst plain greedy on the whole matrix in float64, n = 20,000, k = 1,000:\n\n| | |\n|---|---:|\n"
    return text + "".join(f"| {name} | {value:.6f} |\n" for name, value in results["agreement"].items())


if __name__ == "__main__":
    main("--quick" in sys.argv)
