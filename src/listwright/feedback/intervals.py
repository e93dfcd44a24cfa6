"""Estimates from logs with bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from listwright._internal.arrays import Floats

RESAMPLES = 1000


@dataclass(frozen=True)
class OffPolicyEstimate:
    """The value of a policy, and where it lies with the confidence asked for."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def bootstrap(parts: Floats, totals: Floats, *, confidence: float, rng: np.random.Generator) -> list[OffPolicyEstimate]:
    """sum(parts) / sum(totals) for each column, with intervals over resamples of the lists.

    The percentiles are corrected for bias and skewness (BCa, Efron 1987): a few lists with large weights make plain
    percentiles too low.

    Parameters
    ----------
    parts, totals : (lists, estimators). Totals of 1 make a mean; weights make a self-normalised one.

    >>> rng = np.random.default_rng(0)
    >>> print(bootstrap(rng.exponential(size=(400, 1)), np.ones((400, 1)), confidence=0.95, rng=rng)[0])
    1.126 (1.030 to 1.243)
    """
    n, count = parts.shape
    values = _ratio(parts.sum(axis=0), totals.sum(axis=0))
    both = np.concatenate([parts, totals], axis=1)
    resampled = np.empty((RESAMPLES, count))
    for i in range(RESAMPLES):
        sums = np.bincount(rng.integers(n, size=n), minlength=n) @ both
        resampled[i] = _ratio(sums[:count], sums[count:])
    skews = _skewness(parts - values * totals)
    ends = [_ends(*one, confidence=confidence) for one in zip(values, resampled.T, skews, strict=True)]
    return [OffPolicyEstimate(float(value), *end) for value, end in zip(values, ends, strict=True)]


def _ends(value: float, resampled: Floats, skewness: float, *, confidence: float) -> tuple[float, float]:
    """The corrected percentiles."""
    below = (resampled < value).mean() + 0.5 * (resampled == value).mean()
    shift = ndtri(np.clip(below, 0.5 / RESAMPLES, 1.0 - 0.5 / RESAMPLES))
    tails = ndtri(np.array([0.5 - confidence / 2, 0.5 + confidence / 2]))
    moved = shift + (shift + tails) / np.maximum(1.0 - skewness * (shift + tails), 0.1)
    low, high = np.percentile(resampled, 100.0 * ndtr(moved))
    return float(low), float(high)


def _skewness(influence: Floats) -> Floats:
    """By column: the acceleration of BCa, a sixth of the skewness of the mean."""
    spread = (influence**2).sum(axis=0) ** 1.5
    return _ratio((influence**3).sum(axis=0), 6.0 * spread)


def _ratio(parts: Floats, totals: Floats) -> Floats:
    """0 where nothing has any weight."""
    return np.divide(parts, totals, out=np.zeros_like(parts, dtype=np.float64), where=totals > 0)
