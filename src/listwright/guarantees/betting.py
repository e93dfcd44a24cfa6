"""Lower confidence bounds that hold for every sample size: by betting for graded values, exact binomial for 0/1."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.guarantees.bounds import checked_delta

MOST = 0.75  # the largest share of the capital that one bet may lose
HALVINGS = 40  # of the interval in which the bound is looked for


def lower_mean(values: ArrayLike, delta: float = 0.05) -> float:
    """Lower confidence bound on the mean of independent, non-negative values.

    Use it for the mean value of lists on held-out problems. For values of 0 and 1, `lower_share` is tighter.

    Parameters
    ----------
    values : array-like of shape (n,)
        Independent draws of 0 or more. They need no upper limit; the bound is tightest for values up to about 1.
    delta : float, default 0.05
        The bound lies above the true mean with a probability of at most `delta`.

    Returns
    -------
    float
        The bound: at most the true mean, with probability 1 - `delta`.

    Raises
    ------
    InputError
        If there are no values, if one is negative or not finite, or if `delta` is not between 0 and 1.

    See Also
    --------
    lower_ratio : The same for a ratio of two means.
    lower_share : The exact bound for values of 0 and 1.

    References
    ----------
    I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", JRSS B, 2023.

    Examples
    --------
    >>> import numpy as np
    >>> round(lower_mean(np.tile([0.6, 0.8, 1.0], 40)), 3)
    0.762
    """
    return lower_ratio(values, 1.0, delta)


def lower_ratio(tops: ArrayLike, bottoms: ArrayLike, delta: float = 0.05) -> float:
    """Lower confidence bound on E[top] / E[bottom], from independent pairs.

    Use it for the value of lists as a share of a reference on the same problems, such as greedy's.

    Parameters
    ----------
    tops : array-like of shape (n,)
        Values of 0 or more.
    bottoms : array-like of shape (n,), or float
        Values from 0 to 1.
    delta : float, default 0.05
        The bound lies above the true ratio with a probability of at most `delta`.

    Returns
    -------
    float
        The bound; 0.0 if the pairs do not support any positive ratio.

    Raises
    ------
    InputError
        If there are no pairs, or if a value is out of range or not finite.

    See Also
    --------
    lower_mean : The same with 1 for every bottom.

    Notes
    -----
    For a ratio r, a gambler who stakes the share q_t of the capital on pair t holds K(r) = prod_t (1 + q_t (top_t / r -
    bottom_t)). If E[top] <= r E[bottom], the game is not in the gambler's favour, and by Ville's inequality K ever
    reaches 1 / delta with a probability of at most `delta`. K falls as r grows, so the bound is the largest r at which
    the capital reaches 1 / delta.

    q_t depends on earlier pairs only, so the bound depends slightly on the order of the pairs. The order must not be
    chosen after looking at the values.

    Examples
    --------
    >>> import numpy as np
    >>> bottoms = np.tile([1.0, 0.5], 100)
    >>> round(lower_ratio(0.9 * bottoms, bottoms), 2)
    0.88
    """
    top = np.asarray(tops, dtype=np.float64)
    bottom = np.broadcast_to(np.asarray(bottoms, dtype=np.float64), top.shape)
    _check(top, bottom)
    needed = np.log(1 / checked_delta(delta))
    stakes = _stakes(top, bottom, needed)

    def reached(ratio: float) -> bool:
        return bool(np.cumsum(np.log1p(stakes * (top / ratio - bottom))).max(initial=0.0) >= needed)

    low, high = 0.0, max(1.0, 2 * float(top.max(initial=0.0)) / max(float(bottom.mean()), 1e-12))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) else (low, middle)
    return low


def lower_share(successes: int, n: int, delta: float = 0.05) -> float:
    """Exact lower confidence bound on a probability (Clopper and Pearson 1934).

    Parameters
    ----------
    successes : int
        Number of successes.
    n : int
        Number of independent trials.
    delta : float, default 0.05
        The bound lies above the true probability with a probability of at most `delta`.

    Returns
    -------
    float
        The bound.

    See Also
    --------
    lower_mean : For values that are not just 0 and 1.

    Examples
    --------
    >>> round(lower_share(92, 100), 3)
    0.86
    """
    return float(scipy.stats.binomtest(successes, n, alternative="greater").proportion_ci(1 - checked_delta(delta)).low)


def _stakes(top: Floats, bottom: Floats, needed: float) -> Floats:
    """Return the stake on each pair: what would be best if all pairs were like the earlier ones, at most `MOST`."""
    seen = np.arange(1, len(top) + 1)
    ratio = (0.5 + np.cumsum(top)) / (0.5 + np.cumsum(bottom))
    guess = np.concatenate([[1.0], ratio[:-1]])
    squares = (0.25 + np.cumsum((top / guess - bottom) ** 2)) / (seen + 1)
    before = np.concatenate([[0.25], squares[:-1]])
    return np.minimum(np.sqrt(2 * needed / (len(top) * before)), MOST)


def _check(top: Floats, bottom: Floats) -> None:
    """Raise `InputError` unless there are values, all finite and 0 or more, and bottoms from 0 to 1."""
    if top.ndim != 1 or not len(top):
        raise InputError(f"A confidence bound needs at least one value. Got shape {top.shape}.")
    if not (np.isfinite(top).all() and (top >= 0).all()):
        raise InputError(f"Values must be finite and 0 or more. Got {float(np.nanmin(top)):g}.")
    if not ((bottom >= 0) & (bottom <= 1)).all():
        raise InputError(f"The values to compare with must be from 0 to 1. Got {float(np.nanmax(bottom)):g}.")
