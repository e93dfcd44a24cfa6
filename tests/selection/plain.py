"""What `select` must give, by plain definitions on whole matrices in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from listwright.selection.gpu import device

Worth = Callable[[list[int]], float]


def clustered(n: int, d: int, seed: int = 0, clusters: int = 12) -> Any:
    """Rows around some centres, float32."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(clusters, d))
    return (centres[rng.integers(clusters, size=n)] + 0.5 * rng.normal(size=(n, d))).astype(np.float32)


def similarity(x: Any, y: Any, metric: str, gamma: float | None = None) -> Any:
    """(rows of x, rows of y)."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if metric == "dot":
        return np.maximum(x @ y.T, 0.0)
    if metric == "cosine":
        lengths = np.linalg.norm(x, axis=1)[:, None] * np.linalg.norm(y, axis=1)
        return np.maximum(x @ y.T / lengths, 0.0)
    squared = ((x[:, None] - y[None]) ** 2).sum(axis=2)
    if metric == "rbf":
        return np.exp(-(gamma or 1 / x.var(axis=0).sum()) * squared)
    far = max(((x - x.mean(axis=0)) ** 2).sum(axis=1).max(), ((y - x.mean(axis=0)) ** 2).sum(axis=1).max())
    return 4 * far - squared


def facility(table: Any, weights: Any = None) -> Worth:
    """Of a matrix (candidates, targets)."""
    weights = np.ones(table.shape[1]) if weights is None else np.asarray(weights)
    return lambda rows: float(weights @ table[rows].max(axis=0)) if rows else 0.0


def log_det(kernel: Any, scale: float = 1.0) -> Worth:
    """Of a kernel matrix."""
    return lambda rows: float(np.linalg.slogdet(np.eye(len(rows)) + scale * kernel[np.ix_(rows, rows)])[1])


def saturated(table: Any, alpha: float = 0.1, weights: Any = None) -> Worth:
    """Of a matrix (candidates, targets)."""
    caps = alpha * table.sum(axis=0)
    weights = np.ones(table.shape[1]) if weights is None else np.asarray(weights)
    return lambda rows: float(weights @ np.minimum(table[rows].sum(axis=0), caps)) if rows else 0.0


def greedy(
    worth: Worth,
    n: int,
    k: int,
    *,
    given: Any = (),
    groups: Any = None,
    per_group: Any = None,
    costs: Any = None,
    budget: float = np.inf,
) -> tuple[list[int], list[float]]:
    """Rows and gains, one worth after the other; ties up to rounding go to the lowest row."""
    prices = np.ones(n) if costs is None else np.asarray(costs)
    rows, gains, left = list(given), [], budget
    while len(rows) < k + len(given):
        now, best, top, top_gain = worth(rows), -1, -np.inf, 0.0
        for row in range(n):
            if row in rows or prices[row] > left or (groups is not None and _full(row, rows, groups, per_group)):
                continue
            gain = worth([*rows, row]) - now
            if gain / prices[row] > top * (1 + 1e-9) + 1e-12 or best < 0:
                best, top, top_gain = row, gain / prices[row], gain
        if best < 0:
            break
        rows.append(best)
        gains.append(top_gain)
        left -= prices[best]
    return rows[len(given) :], gains


def _full(row: int, rows: list[int], groups: Any, per_group: Any) -> bool:
    most = per_group[groups[row]] if isinstance(per_group, dict) else per_group
    return sum(groups[other] == groups[row] for other in rows) >= most


def limits(old: Any, new: Any, noise: float) -> tuple[Any, Any]:
    """From which similarity on a gain decreases, and by how much at most, when a best one goes from old to new."""
    # Only rises above `noise` count, so that rounding does not.
    return old + noise, new - old


def falls(similar: Any, low: Any, most: Any, weights: Any) -> Any:
    """Return by candidate (column) the weighted sum over targets (rows) of how much its gain decreases."""
    fallen = np.minimum(np.maximum(similar - low[:, None], 0.0), most[:, None])
    return np.asarray(weights, dtype=np.float64) @ fallen.astype(np.float64)


def from_products(product: Any, kind: int, of_targets: Any, of_candidates: Any, ceiling: float, gamma: float) -> Any:
    """Return similarities from dot products and squared lengths, as the kernel computes them."""
    if kind == device.DOT:
        return product
    squared = np.maximum(of_targets[:, None] + of_candidates - 2.0 * product, 0.0)
    return ceiling - squared if kind == device.EUCLIDEAN else np.exp(-gamma * squared)
