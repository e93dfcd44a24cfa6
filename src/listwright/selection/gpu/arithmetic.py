"""The sums of the GPU kernels in plain numpy. Tests compare the kernels with them on any machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._internal.arrays import Floats

DOT, EUCLIDEAN, RBF = 0, 1, 2  # how a similarity follows from a dot product
ROWS, CANDIDATES = 128, 256  # targets and candidates of a tile
PROGRAMS = 1056  # fewest programs to start: eight per multiprocessor of an H200


def limits(old: Any, new: Any, noise: float) -> tuple[Any, Any]:
    """Return from which similarity on a gain decreases, and by how much at most, when a best similarity goes from old
    to new.
    """
    # Only rises above `noise` count, so that rounding does not.
    return old + noise, new - old


def falls(similar: Any, low: Any, most: Any, weights: Any) -> Floats:
    """Return by candidate (column) the weighted sum over targets (rows) of how much its gain decreases."""
    fallen = np.minimum(np.maximum(similar - low[:, None], 0.0), most[:, None])
    return np.asarray(weights, dtype=np.float64) @ fallen.astype(np.float64)


def similarities(product: Any, kind: int, of_targets: Any, of_candidates: Any, ceiling: float, gamma: float) -> Any:
    """Return similarities from dot products and squared lengths, as the kernel computes them."""
    if kind == DOT:
        return product
    squared = np.maximum(of_targets[:, None] + of_candidates - 2.0 * product, 0.0)
    return ceiling - squared if kind == EUCLIDEAN else np.exp(-gamma * squared)


def parts_of(n_targets: int, n_candidates: int) -> tuple[int, int]:
    """Return into how many parts the targets are cut, and the tiles per part, so that there are enough programs."""
    tiles, blocks = -(-n_targets // ROWS), -(-n_candidates // CANDIDATES)
    each = min(max(tiles * blocks // PROGRAMS, 1), max(tiles, 1))
    return -(-tiles // each), each
