"""The sums of the GPU kernel in plain terms: tests on any machine hold the kernel to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._internal.arrays import Floats

DOT, EUCLIDEAN, RBF = 0, 1, 2  # how a similarity follows from a dot product
ROWS, CANDIDATES = 128, 256  # of a tile: targets and candidates
PROGRAMS = 1056  # that are started at least, eight for each multiprocessor of an H200


def limits(old: Any, new: Any, noise: float) -> tuple[Any, Any]:
    """From which similarity on a gain falls, and by how much at most, when a best similarity goes from old to new.

    max(s - old, 0) - max(s - new, 0) = min(max(s - old, 0), new - old). A rise counts from `noise` on, so that rounding
    is none.
    """
    return old + noise, new - old


def falls(similar: Any, low: Any, most: Any, weights: Any) -> Floats:
    """By candidate (column), the weighted sum over targets (rows) of how much the gain falls."""
    fallen = np.minimum(np.maximum(similar - low[:, None], 0.0), most[:, None])
    return np.asarray(weights, dtype=np.float64) @ fallen.astype(np.float64)


def similarities(product: Any, kind: int, of_targets: Any, of_candidates: Any, ceiling: float, gamma: float) -> Any:
    """Similarities from dot products and squared lengths, as the kernel makes them."""
    if kind == DOT:
        return product
    squared = np.maximum(of_targets[:, None] + of_candidates - 2.0 * product, 0.0)
    return ceiling - squared if kind == EUCLIDEAN else np.exp(-gamma * squared)


def parts_of(n_targets: int, n_candidates: int) -> tuple[int, int]:
    """Into how many parts the targets are cut, and tiles of a part, so that there are programs enough.

    Examples
    --------
    >>> parts_of(1_000_000, 256)
    (1117, 7)
    >>> parts_of(100, 100_000)
    (1, 1)
    """
    tiles, blocks = -(-n_targets // ROWS), -(-n_candidates // CANDIDATES)
    each = min(max(tiles * blocks // PROGRAMS, 1), max(tiles, 1))
    return -(-tiles // each), each
