"""Lower confidence bounds that hold for every sample size: by betting for graded values, exact binomial for 0/1."""

from __future__ import annotations

import copy

import numpy as np
import scipy
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats
from listwright._kernels.betting import count_winners
from listwright.errors import InputError
from listwright.guarantees.bounds import validate_delta

MOST = 0.99  # the largest share of the capital that one bet may lose
STEPS = 20_000  # bets; more pairs are averaged in blocks, which changes the bound little
PRIOR_WEIGHT = 0.5  # of the variance that a gambler guesses before the first pair, in pairs
# Ratios that are tested. They never depend on the data, because the proof is about the first one above the truth.
SHARES = np.arange(1, 20_001) / 20_000
RATIOS = np.geomspace(1e-6, 1e6, 40_001)
# For speed, every so many of them are tested first, with a share of delta. The others start where these end.
SKIPPED, SKIP_SHARE = 40, 0.01


class Gamblers:
    """Gamblers who bet that E[top] > ratio * E[bottom], one per ratio on a fixed grid."""

    # If E[top] <= ratio * E[bottom], the game is not in the gambler's favour whatever the bets, and by Ville's
    # inequality the capital ever reaches 1 / delta with a probability of at most `delta`. So the ratios up to the first
    # gambler who has not reached it are below the truth, at all times at once: `play` can be called again as pairs
    # arrive. The bets are those of STaR: set from what is left to win and the number of pairs left in this call. In
    # later calls, after which more may come, they are those of Kelly, for the largest growth.

    def __init__(self, delta: float, *, shares: bool) -> None:
        self.ratios = SHARES if shares else RATIOS
        self.target = float(np.log(1 / validate_delta(delta)))
        self.pairs = np.zeros((3, 0))  # as `count_winners` takes them

    def play(self, tops: Floats, bottoms: Floats) -> Gamblers:
        """Return gamblers who have bet on these pairs too."""
        tops, bottoms = _in_blocks(tops), _in_blocks(bottoms)
        left = np.arange(len(tops), 0, -1) * (self.pairs.size == 0)
        later = copy.copy(self)
        later.pairs = np.hstack([self.pairs, [tops, bottoms, left]])
        return later

    @property
    def bound(self) -> float:
        """The largest ratio up to which all gamblers have won; 0.0 if the first has not."""
        sure = self._count_winners(SKIP_SHARE, self.ratios[::SKIPPED])
        ratios = self.ratios[SKIPPED * max(sure - 1, 0) :]
        won = max(self._count_winners(1 - SKIP_SHARE, ratios), min(sure, 1))
        return float(ratios[won - 1]) if won else 0.0

    def _count_winners(self, share: float, ratios: Floats) -> int:
        return count_winners(self.target - np.log(share), ratios, self.pairs, MOST, PRIOR_WEIGHT)


def lower_mean(values: ArrayLike, delta: float = 0.05, *, at_most_one: bool = False) -> float:
    """Lower confidence bound on the mean of independent, non-negative values.

    Use it for the mean value of lists on held-out problems. For values of 0 and 1, `lower_share` is tighter.

    Parameters
    ----------
    values : array-like of shape (n,)
        Independent draws of 0 or more, in an order that was not chosen after looking at them.
    delta : float, default 0.05
        The bound lies above the true mean with a probability of at most `delta`.
    at_most_one : bool, default False
        Whether values cannot be larger than 1, which must be known beforehand: the bound is then a little tighter.

    Returns
    -------
    float
        The bound: at most the true mean, with probability 1 - `delta`.

    See Also
    --------
    lower_ratio : The same for a ratio of two means.
    lower_share : The exact bound for values of 0 and 1.

    References
    ----------
    V. Voracek and F. Orabona, "STaR-Bets: Sequential Target-Recalculating Bets for Tighter Confidence Intervals", 2025.
    I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", JRSS B, 2023.

    Examples
    --------
    >>> import numpy as np
    >>> round(lower_mean(np.tile([0.6, 0.8, 1.0], 40), at_most_one=True), 3)
    0.767
    """
    return lower_ratio(values, 1.0, delta, at_most_one=at_most_one)


def lower_ratio(tops: ArrayLike, bottoms: ArrayLike, delta: float = 0.05, *, at_most_one: bool = False) -> float:
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
    at_most_one : bool, default False
        Whether the ratio cannot be larger than 1, which must be known beforehand: the bound is then a little tighter.

    Returns
    -------
    float
        The bound; 0.0 if the pairs do not support any positive ratio.

    See Also
    --------
    lower_mean : The same with 1 for every bottom.

    Notes
    -----
    For each ratio r on a fixed grid, a gambler stakes l_t on pair t and holds K(r) = prod_t (1 + l_t (top_t - r
    bottom_t)). If E[top] <= r E[bottom], K(r) ever reaches 1 / delta with a probability of at most `delta` (Ville). The
    bound is the largest r of the grid up to which every gambler has reached it.

    l_t depends on earlier pairs only, so the bound depends slightly on the order of the pairs. The order must not be
    chosen after looking at the values; a table that is sorted by value gives a wrong bound.

    Examples
    --------
    >>> import numpy as np
    >>> bottoms = np.tile([1.0, 0.5], 100)
    >>> round(lower_ratio(0.9 * bottoms, bottoms, at_most_one=True), 2)
    0.88
    """
    top = np.asarray(tops, dtype=np.float64)
    bottom = np.broadcast_to(np.asarray(bottoms, dtype=np.float64), top.shape)
    _check(top, bottom)
    return Gamblers(delta, shares=at_most_one).play(top, bottom).bound


def lower_share(successes: int, n: int, delta: float = 0.05, *, always: bool = False) -> float:
    """Exact lower confidence bound on a probability (Clopper and Pearson 1934).

    Parameters
    ----------
    successes : int
        Number of successes.
    n : int
        Number of independent trials.
    delta : float, default 0.05
        The bound lies above the true probability with a probability of at most `delta`.
    always : bool, default False
        Whether the bounds for all n must hold together, so that they may be looked at after every trial. They are a
        little lower (Robbins 1970, with a uniform mixture).

    See Also
    --------
    lower_mean : For values that are not just 0 and 1.

    Examples
    --------
    >>> round(lower_share(92, 100), 3)
    0.86
    >>> round(lower_share(92, 100, always=True), 3)
    0.798
    """
    if always:
        return _always_valid_share(successes, n, validate_delta(delta))
    test = scipy.stats.binomtest(successes, n, alternative="greater")
    return float(test.proportion_ci(1 - validate_delta(delta)).low)


def _always_valid_share(successes: int, n: int, delta: float) -> float:
    """Return the smallest probability under which a gambler with a uniform mixture of stakes is not yet at 1/delta."""
    if not successes:
        return 0.0
    target = np.log(1 / delta)
    mixture = scipy.special.betaln(successes + 1, n - successes + 1)

    def short_of(share: float) -> float:
        return float(target - mixture + successes * np.log(share) + (n - successes) * np.log1p(-share))

    return float(scipy.optimize.brentq(short_of, 1e-300, min(successes / n, 1 - 1e-16)))


def _in_blocks(values: Floats) -> Floats:
    """Return means of consecutive values, about `STEPS` of them; the last block may be smaller."""
    size = len(values) // STEPS
    if size < 2:
        return values
    starts = np.arange(0, len(values), size)
    return np.add.reduceat(values, starts) / np.diff(np.append(starts, len(values)))


def _check(top: Floats, bottom: Floats) -> None:
    if top.ndim != 1 or not len(top):
        raise InputError(f"A confidence bound needs at least one value. Got shape {top.shape}.")
    if not (np.isfinite(top).all() and (top >= 0).all()):
        raise InputError(f"Values must be finite and 0 or more. Got {float(np.nanmin(top)):g}.")
    if not ((bottom >= 0) & (bottom <= 1)).all():
        raise InputError(f"The values to compare with must be from 0 to 1. Got {float(np.nanmax(bottom)):g}.")
