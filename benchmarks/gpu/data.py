"""Embeddings to select from: clusters of very different sizes and widths."""

from __future__ import annotations

from typing import Any

import numpy as np


def vectors(n: int, d: int, seed: int = 0) -> Any:
    """float32, (n, d), in host memory; one cluster for a hundred rows, sizes by a power law."""
    rng = np.random.default_rng(seed)
    clusters = max(n // 100, 10)
    centres = rng.standard_normal((clusters, d), dtype=np.float32)
    chances = 1.0 / np.arange(1, clusters + 1) ** 0.8
    which = rng.choice(clusters, n, p=chances / chances.sum())
    widths = rng.random((clusters, 1), dtype=np.float32)
    table = rng.standard_normal((n, d), dtype=np.float32)
    table *= widths[which]
    table += centres[which]
    return table
