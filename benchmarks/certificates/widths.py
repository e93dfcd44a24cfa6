"""How far lower confidence bounds lie below the mean: ours beside those of other papers, on the same samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from listwright.guarantees import lower_mean, lower_share

GRID = np.arange(1, 1_000) / 1_000
DRAWN: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "0 or 1, mean 0.9": lambda rng, n: (rng.random(n) < 0.9).astype(float),
    "Beta(5, 2)": lambda rng, n: rng.beta(5, 2, n),
    "Beta(0.2, 5)": lambda rng, n: rng.beta(0.2, 5, n),
    "Beta(10, 30)": lambda rng, n: rng.beta(10, 30, n),
}


def ours(values: np.ndarray, delta: float) -> float:
    """The bound of a certificate: exact for values of 0 and 1, otherwise by STaR's bets."""
    if np.isin(values, (0, 1)).all():
        return lower_share(int(values.sum()), len(values), delta)
    return lower_mean(values, delta, at_most_one=True)


def waudby_smith_ramdas(values: np.ndarray, delta: float) -> float:
    """Bets that are set from the number of values and the variance so far (2023, predictable plug-in)."""
    n = len(values)
    counts = np.arange(1, n + 1)
    means = (0.5 + np.cumsum(values)) / (1 + counts)
    variances = (0.25 + np.cumsum((values - means) ** 2)) / (1 + counts)
    before = np.concatenate([[0.25], variances[:-1]])
    stakes = np.sqrt(2 * np.log(1 / delta) / (n * before))
    capital = np.zeros(len(GRID))
    most = capital.copy()
    for stake, value in zip(stakes, values, strict=True):
        capital += np.log1p(np.minimum(stake, 0.75 / GRID) * (value - GRID))
        most = np.maximum(most, capital)
    lost = np.flatnonzero(most < np.log(1 / delta))
    return float(GRID[lost[0] - 1]) if len(lost) and lost[0] else 0.0


def empirical_bernstein(values: np.ndarray, delta: float) -> float:
    """The bound of Maurer and Pontil (2009)."""
    n, log = len(values), np.log(2 / delta)
    return max(0.0, float(values.mean() - np.sqrt(2 * values.var(ddof=1) * log / n) - 7 * log / (3 * (n - 1))))


def hoeffding(values: np.ndarray, delta: float) -> float:
    """The bound of Hoeffding (1963)."""
    return max(0.0, float(values.mean() - np.sqrt(np.log(1 / delta) / (2 * len(values)))))


METHODS = {
    "listwright": ours,
    "Waudby-Smith & Ramdas": waudby_smith_ramdas,
    "empirical Bernstein": empirical_bernstein,
    "Hoeffding": hoeffding,
}


def widths(delta: float, sizes: Sequence[int], draws: int) -> list[dict[str, Any]]:
    """One row for each kind of values and sample size: the mean distance of each bound to the sample's mean."""
    rows = []
    for name, draw in DRAWN.items():
        for n in sizes:
            rng = np.random.default_rng(n)
            samples = [draw(rng, n) for _ in range(draws)]
            below = {
                method: float(np.mean([values.mean() - bound(values, delta) for values in samples]))
                for method, bound in METHODS.items()
            }
            rows.append({"values": name, "n": n, "below": below})
    return rows
