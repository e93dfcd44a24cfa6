"""Means over problems, with 95 % intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Floats
from listwright.errors import InputError

INTERVALS = ("normal", "bootstrap")
Z95 = 1.959963984540054
RESAMPLES = 1000


@dataclass(frozen=True)
class Estimate:
    """A mean over problems, and where the mean over all problems of the kind lies with 95 % confidence."""

    mean: float
    low: float | None  # None where a single problem says nothing of others
    high: float | None
    n_problems: int

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.mean:.3f}"
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


def estimate(values: Floats, *, interval: str = "normal", rng: np.random.Generator | None = None) -> Estimate | None:
    """The mean of one value a problem; problems where it is nan are left out, and where all are, there is none.

    Parameters
    ----------
    interval : "normal" (mean -+ 1.96 standard errors) or "bootstrap" (percentiles of 1,000 resamples of problems).

    >>> print(estimate(np.array([0.0, 1.0, 1.0, np.nan])))
    0.667 (0.013 to 1.320)
    """
    if interval not in INTERVALS:
        raise InputError(f"interval must be one of {', '.join(INTERVALS)}. Got {interval!r}.")
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    mean = float(known.mean())
    if len(known) == 1:
        return Estimate(mean, None, None, 1)
    if interval == "normal":
        error = Z95 * float(known.std(ddof=1)) / float(np.sqrt(len(known)))
        return Estimate(mean, mean - error, mean + error, len(known))
    low, high = np.percentile(_resampled(known, np.random.default_rng(0) if rng is None else rng), [2.5, 97.5])
    return Estimate(mean, float(low), float(high), len(known))


def _resampled(values: Floats, rng: np.random.Generator) -> Floats:
    return np.array([values[rng.integers(len(values), size=len(values))].mean() for _ in range(RESAMPLES)])
