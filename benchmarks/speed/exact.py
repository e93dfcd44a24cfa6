"""What exact selection costs beside one bare product of all pairs, and beside apricot on similarities that are ready:
`python -m benchmarks.speed.exact`. Processor time, so that other work on the machine matters little.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from apricot import FacilityLocationSelection

import listwright as lw
from benchmarks.gpu.data import vectors
from benchmarks.speed.timing import must

N, D, K = 20_000, 384, 1000


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of all threads, and what was returned."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def product(rows: Any) -> None:
    """All pairs, by blocks that are thrown away."""
    for low in range(0, len(rows), 2000):
        for first in range(0, len(rows), 2000):
            rows[low : low + 2000] @ rows[first : first + 2000].T


def main() -> None:
    """Three lines."""
    warnings.simplefilter("ignore")  # the peer's own
    table = vectors(N, D)
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    lw.select(table[:500], 10, progress=False)
    took, ours = seconds(lambda: lw.select(table, K, progress=False, device="cpu").rows)
    print(f"lw.select, {N:,} x {D}, k={K:,}: {took:.1f} s", flush=True)
    print(f"the bare blocked product of all pairs: {seconds(lambda: product(unit))[0]:.1f} s", flush=True)
    similar = np.maximum(unit @ unit.T, 0.0).astype(np.float64)
    FacilityLocationSelection(5, metric="precomputed").fit(similar[:300, :300].copy())
    took, theirs = seconds(lambda: FacilityLocationSelection(K, metric="precomputed").fit(similar).ranking)
    print(f"apricot lazy, similarity ready ({similar.nbytes / 1e9:.1f} GB): {took:.1f} s")
    values = [similar[rows].max(axis=0).sum() for rows in (ours, theirs)]
    must(values[0] >= values[1] * (1 - 1e-6), "exact selection")


if __name__ == "__main__":
    main()
