"""Confidence intervals of means and shares: the only place that turns values per problem into "0.71 (0.65 to 0.77)"."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy

from listwright._internal.arrays import Floats
from listwright.errors import InputError

INTERVALS = ("normal", "bootstrap")
CONFIDENCE = 0.95
RESAMPLES = 1000
BLOCKS = 500  # more cases than this are resampled in blocks: BCa takes time in the square of their number
ALIKE = 1e-9  # standard deviations up to this are rounding

Bounds = tuple[float, float]
SHARES: Bounds = (0.0, 1.0)


@dataclass(frozen=True)
class Estimate:
    """A mean over problems with the 95 % confidence interval of the mean over all problems of the same kind.

    Attributes
    ----------
    mean : float
        The mean over the problems that were measured.
    low, high : float or None
        The ends of the interval. None if these problems say nothing about others: there is only one, or all have the
        same value and the range of values is unknown.
    n_problems : int
        The number of problems with a value.

    See Also
    --------
    estimate : Makes an estimate.

    Examples
    --------
    >>> print(Estimate(mean=0.71, low=0.65, high=0.77, n_problems=200))
    0.710 (0.650 to 0.770)
    """

    mean: float
    low: float | None
    high: float | None
    n_problems: int

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.mean:.3f}"
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


class Means(NamedTuple):
    """Means over the last axis, their standard errors and intervals; nan where there is none."""

    mean: Floats  # the means and their standard errors
    error: Floats
    low: Floats  # the ends of the 95 % intervals
    high: Floats


def estimate(
    values: Floats, *, interval: str = "normal", bounds: Bounds | None = None, rng: np.random.Generator | None = None
) -> Estimate | None:
    """Mean of one value per problem, with its 95 % confidence interval.

    Parameters
    ----------
    values : ndarray of float, shape (problems,)
        Problems whose value is nan are left out.
    interval : {"normal", "bootstrap"}, default "normal"
        "normal" is Student's t, or Wilson's interval if all values are at the bounds. "bootstrap" is BCa over 1,000
        resamples of the problems: slower, and better for skewed values.
    bounds : tuple of float, optional
        The lowest and highest possible value. The interval stays inside, and has a width even if all values are the
        same.
    rng : numpy.random.Generator, optional
        Draws the resamples.

    Returns
    -------
    Estimate or None
        None if no problem has a value.

    Raises
    ------
    InputError
        If `interval` is unknown.

    See Also
    --------
    listwright.guarantees.lower_mean : A bound that holds for every sample size.

    Examples
    --------
    >>> print(estimate(np.array([0.7, 0.9, 1.0, np.nan]), bounds=(0, 1)))
    0.867 (0.487 to 1.000)
    >>> print(estimate(np.ones(4), bounds=(0, 1)))
    1.000 (0.510 to 1.000)
    >>> print(estimate(np.ones(4)))
    1.000
    """
    if interval not in INTERVALS:
        raise InputError(f"interval must be one of {', '.join(INTERVALS)}. Got {interval!r}.")
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    mean, _, low, high = map(float, means(known, bounds=bounds))
    if interval == "bootstrap":
        rng = np.random.default_rng(0) if rng is None else rng
        resampled = bootstrap(known, np.ones(len(known)), confidence=CONFIDENCE, rng=rng)
        low, high = (low, high) if np.isnan(resampled).any() else resampled
    return Estimate(mean, none_if_nan(low), none_if_nan(high), len(known))


def means(values: Floats, *, bounds: Bounds | None = None) -> Means:
    """Return means over the last axis with 95 % intervals: Wilson's if all are at the bounds, else Student's t."""
    n = values.shape[-1]
    variance = values.var(axis=-1, ddof=1) if n > 1 else np.full(values.shape[:-1], np.nan)
    interval = means_from_moments(values.mean(axis=-1), variance, n, bounds=bounds)
    if bounds is None or n < 2:
        return interval
    first, last = bounds
    binary = ((values == first) | (values == last)).all(axis=-1)
    if not binary.any():
        return interval
    wilson = np.vectorize(share_interval, otypes=[float, float])((values == last).sum(axis=-1), n)
    low, high = (first + (last - first) * end for end in wilson)
    return interval._replace(low=np.where(binary, low, interval.low), high=np.where(binary, high, interval.high))


def means_from_moments(
    mean: Floats | float, variance: Floats | float, n: int, *, bounds: Bounds | None = None
) -> Means:
    """Return Student's t intervals from means and variances (with n - 1 in the denominator) of `n` values."""
    mean, variance = np.asarray(mean, dtype=np.float64), np.asarray(variance, dtype=np.float64)
    if n < 2:
        unknown = np.full(mean.shape, np.nan)
        return Means(mean, unknown, unknown, unknown)
    error = np.sqrt(variance / n)
    half = scipy.stats.t.ppf(0.5 + CONFIDENCE / 2, n - 1) * error
    alike = variance <= (ALIKE * np.maximum(1.0, np.abs(mean))) ** 2
    if bounds is None:
        return Means(mean, error, np.where(alike, np.nan, mean - half), np.where(alike, np.nan, mean + half))
    first, last = np.minimum(bounds[0], mean), np.maximum(bounds[1], mean)
    others = share_interval(0, n)[1]
    low = np.where(alike, mean - others * (mean - first), np.maximum(mean - half, first))
    high = np.where(alike, mean + others * (last - mean), np.minimum(mean + half, last))
    return Means(mean, error, low, high)


@lru_cache(maxsize=4096)
def share_interval(hits: int, total: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Wilson (1927), which holds for few cases and near 0 and 1."""
    interval = scipy.stats.binomtest(int(hits), int(total)).proportion_ci(CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)


def bootstrap(parts: Floats, totals: Floats, *, confidence: float, rng: np.random.Generator) -> tuple[float, float]:
    """Return the bootstrap interval of sum(parts) / sum(totals) over resamples of the cases."""
    # Percentiles are corrected for bias and skewness (BCa, Efron 1987), because a few cases with large weights make
    # plain percentiles too low.
    if len(parts) > BLOCKS:
        block = rng.permutation(len(parts)) % BLOCKS
        parts, totals = (np.bincount(block, values).astype(np.float64) for values in (parts, totals))
    if len(parts) < 2 or np.ptp(parts - _ratio(parts, totals) * totals) <= ALIKE * np.abs(parts).max():
        return np.nan, np.nan
    options = {"paired": True, "vectorized": True, "confidence_level": confidence, "rng": rng}
    with np.errstate(invalid="ignore", divide="ignore"):
        interval = scipy.stats.bootstrap((parts, totals), _ratio, n_resamples=RESAMPLES, **options)
    if not np.isfinite(interval.confidence_interval).all():  # BCa has no answer if nearly all resamples agree
        options |= {"method": "percentile", "bootstrap_result": interval}
        interval = scipy.stats.bootstrap((parts, totals), _ratio, n_resamples=0, **options)
    return float(interval.confidence_interval.low), float(interval.confidence_interval.high)


def skewed_interval(
    values: Floats,
    *,
    confidence: float,
    bounds: Bounds | None = None,
    n_effective: float | None = None,
    bias: float = 0.0,
) -> Bounds:
    """Return the interval of the mean of skewed values, such as weighted outcomes, without resampling."""
    # Student's t statistic is transformed so that skewness cancels out (Hall 1992).
    n, mean = len(values), float(values.mean())
    effective, apart = n if n_effective is None else n_effective, values - mean
    spread = float(np.sqrt((apart**2).mean()))
    first, last = (-np.inf, np.inf) if bounds is None else bounds
    if n < 2 or spread <= ALIKE * max(1.0, abs(mean)):
        return (np.nan, np.nan) if bounds is None else unseen_interval(mean, effective, bounds)
    skewness = float((apart**3).mean()) / spread**3
    quantile = float(scipy.stats.t.ppf(0.5 + confidence / 2, max(effective - 1.0, 1.0)))
    below, above = (spread / np.sqrt(n) * _remove_skew(at, skewness, n) for at in (quantile, -quantile))
    low, high = mean - np.hypot(below, quantile * bias), mean + np.hypot(above, quantile * bias)
    return float(min(max(low, first), last)), float(min(max(high, first), last))


def rare_interval(total: float, variance: float, unit: float, confidence: float) -> Bounds:
    """Return the mid-p gamma interval of a weighted sum of rare events (Fay & Kim 2017), valid for no events at all."""
    # `unit` is the weight of one more event: the upper end is that of a sum to which it is added.
    tail, wider = (1.0 - confidence) / 2, variance + unit**2
    above = scipy.stats.gamma((total + unit) ** 2 / wider, scale=wider / (total + unit))
    seen = total > 0 and variance > 0
    below = scipy.stats.gamma(total**2 / variance, scale=variance / total) if seen else None

    def share(at: float) -> float:
        return 0.5 * float(above.cdf(at)) + 0.5 * (1.0 if below is None else float(below.cdf(at)))

    most = 2.0 * float(above.ppf(1.0 - tail / 4)) + (0.0 if below is None else float(below.ppf(1.0 - tail / 4)))
    low = 0.0 if share(0.0) >= tail else scipy.optimize.brentq(lambda at: share(at) - tail, 0.0, most)
    return float(low), float(scipy.optimize.brentq(lambda at: share(at) - 1.0 + tail, 0.0, most))


def unseen_interval(mean: float, n: float, bounds: Bounds) -> Bounds:
    """Return where the mean may lie if `n` cases all agree."""
    inside, others = min(max(mean, bounds[0]), bounds[1]), share_interval(0, max(1, int(n)))[1]
    return inside - others * (inside - bounds[0]), inside + others * (bounds[1] - inside)


def _remove_skew(at: float, skewness: float, n: int) -> float:
    """Invert Hall's transformation of the t statistic."""
    if abs(skewness) < 1e-6:
        return at
    inner = 1.0 + skewness * (at / np.sqrt(n) - skewness / (6.0 * n))
    return float(3.0 * np.sqrt(n) / skewness * (np.cbrt(inner) - 1.0))


def format_interval(value: float, low: float, high: float, sign: str = "") -> str:
    """Return "0.0041 (0.0012 to 0.0093)", with two digits of the interval's width and at least three decimals."""
    width = high - low
    digits = int(np.clip(1 - np.floor(np.log10(width)), 3, 6)) if width > 0 else 3
    value_text, low_text, high_text = (f"{number:{sign}.{digits}f}" for number in (value, low, high))
    return f"{value_text} ({low_text} to {high_text})"


def none_if_nan(value: float) -> float | None:
    """Return None for nan, because JSON has no nan."""
    return None if np.isnan(value) else float(value)


def _ratio(parts: Floats, totals: Floats, axis: int = -1) -> Floats:
    above, below = parts.sum(axis=axis), totals.sum(axis=axis)
    return np.divide(above, below, out=np.zeros_like(above, dtype=np.float64), where=below > 0)
