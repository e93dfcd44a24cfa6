"""Which of a problem's needs a candidate and its parts meet, as bits, and what the list leaves unmet."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._kernels import inner, outer

MOST_NEEDS = 64


@inner()
def worth(mask: Any, weights: Any) -> float:
    total, bit = 0.0, 0
    while mask:
        if mask & np.uint64(1):
            total += weights[bit]
        mask >>= np.uint64(1)
        bit += 1
    return total


@inner()
def best_part(parts: Any, start: int, end: int, met: Any, weights: Any) -> float:
    best = 0.0
    for part in range(start, end):
        best = max(best, worth(parts[part] & ~met, weights))
    return best


@outer()
def unmet_rows(offsets: Any, starts: Any, parts: Any, wholes: Any, weights: Any, met: Any, table: Any) -> None:
    """Fill `table` by row with four shares of its problem's needs."""
    for problem in range(len(offsets) - 1):
        own, total = weights[problem], 0.0
        for weight in own:
            total += weight
        total = max(total, 1e-9)
        before = worth(met[problem], own)
        for row in range(offsets[problem], offsets[problem + 1]):
            new = worth(wholes[row] & ~met[problem], own)
            table[row, 0] = new / total
            table[row, 1] = best_part(parts, starts[row], starts[row + 1], met[problem], own) / total
            table[row, 2] = (before + new) / total
            table[row, 3] = 1.0 - before / total
