"""Exploring for a verdict: how many lists it takes to judge a candidate, and the test that may stop earlier."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy

from listwright.errors import InputError
from listwright.feedback.log import Log
from listwright.feedback.off_policy.estimates import EvidenceWarning
from listwright.feedback.off_policy.evaluate import evaluate

POWER = 0.8  # the chance of a verdict within the planned lists
LEAST, MOST = 0.01, 0.5  # share of the lists that a candidate may have
FIRST = 20  # lists of both versions before which there is no verdict
TUNING = 7.94  # of the boundary: tightest at the planned number of lists, for a confidence of 95 %


@dataclass(frozen=True)
class Plan:
    """How to find out whether a candidate is better.

    Attributes
    ----------
    share : float
        The share of the lists that the candidate builds.
    n_lists : int or None
        Lists with feedback after which there is a verdict in four of five cases; None if no difference is expected.
    difference : float
        What the candidate is expected to earn more per list.
    loss : float
        What is lost per list on average, if the candidate's lists are worth nothing.

    See Also
    --------
    plan : Makes it.

    Examples
    --------
    >>> print(Plan(share=0.1, n_lists=None, difference=0.0, loss=0.02))
    Show the candidate in 10 % of the lists. No difference is to be expected, so no number of lists would show one.
    """

    share: float
    n_lists: int | None
    difference: float
    loss: float

    def __str__(self) -> str:
        start = f"Show the candidate in {100 * self.share:.3g} % of the lists."
        if self.n_lists is None:
            return f"{start} No difference is to be expected, so no number of lists would show one."
        takes = f"A difference of {self.difference:+.4f} per list takes about {self.n_lists:,} lists with feedback"
        return f"{start} {takes}; at most {self.loss:.4f} per list are lost."


def plan(
    log: Log,
    policy: Any,
    *,
    loss_budget: float = 0.02,
    difference: float | None = None,
    confidence: float = 0.95,
    value: str = "sum",
) -> Plan:
    """Plan how many lists it takes to judge a candidate against the policy of a log.

    Parameters
    ----------
    log : Log
        Lists of today's policy, with outcomes and propensities.
    policy : OnlineSCP, SCP, anything with predict, or a function from problems to lists
        The candidate.
    loss_budget : float
        What may be lost per list on average, if the candidate's lists are worth nothing.
    difference : float, optional
        The difference to look for; by default the one that `evaluate` expects.
    confidence, value
        As in `evaluate`.

    Returns
    -------
    Plan
        The share of lists for the candidate, and how many lists with feedback are needed.

    Examples
    --------
    >>> import listwright as lw
    >>> rng = np.random.default_rng(0)
    >>> problems = lw.Problems.from_arrays(rng.random((1000, 4, 2)))
    >>> shown = lw.OnlineSCP(length=2, random_state=0).recommend(problems, list_ids=[str(i) for i in range(1000)])
    >>> log = lw.feedback.Log()
    >>> log.append(shown)
    >>> _ = log.feedback(shown.list_ids, rng.random(shown.rows.shape) < problems.features[shown.rows, 0])
    >>> plan(log, lw.OnlineSCP(length=2, random_state=0).fit_log(log).predict, loss_budget=0.1).n_lists
    650
    """
    if not 0 < loss_budget < math.inf:
        raise InputError(f"loss_budget must be above 0. Got {loss_budget!r}.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        estimated = evaluate(log, policy, value=value, confidence=confidence)
    today = estimated.logged.value
    expected = estimated.value.value - today if difference is None else difference
    share = candidate_share(loss_budget, today)
    values = np.nan_to_num(log.answered_lists().outcomes).sum(axis=1)
    spread = float((np.minimum(values, 1.0) if value == "any" else values).var())
    lists = needed_lists(expected, spread, share, confidence, today)
    return Plan(share, lists, expected, share * today)


def candidate_share(loss_budget: float, today: float) -> float:
    """Return the share of the lists that a candidate may have, whose lists could be worth nothing."""
    return float(np.clip(loss_budget / max(today, 1e-9), LEAST, MOST))


def needed_lists(difference: float, variance: float, share: float, confidence: float, today: float) -> int | None:
    """Return the lists by which `SequentialTest` sees a difference in four of five cases."""
    if abs(difference) < 1e-9 or variance <= 0:
        return None
    other = variance * max((today + difference) / today, 0.1) if today > 0 else variance  # counts vary with their mean
    boundary = math.sqrt((1.0 + 1.0 / TUNING) * math.log((TUNING + 1.0) / (1.0 - confidence) ** 2))
    reach = (boundary + float(scipy.stats.norm.ppf(POWER))) / difference
    return math.ceil(reach**2 * (other / share + variance / (1.0 - share)))


@dataclass
class SequentialTest:
    """Compares the means of two versions after every list, without more errors than one look at the end would make.

    The boundary is that of a normal mixture (Robbins 1970), with estimated variances: an asymptotic confidence sequence
    (Waudby-Smith et al. 2024). `planned` is the number of lists at which it is tightest.
    """

    planned: int = 10_000
    confidence: float = 0.95
    counts: list[float] = field(default_factory=lambda: [0.0, 0.0])  # of the current version and of the candidate
    sums: list[float] = field(default_factory=lambda: [0.0, 0.0])
    squares: list[float] = field(default_factory=lambda: [0.0, 0.0])

    def add(self, candidate: bool, value: float, earlier: float | None = None) -> None:
        self.counts[candidate] += earlier is None
        self.sums[candidate] += value - (earlier or 0.0)
        self.squares[candidate] += value**2 - (earlier or 0.0) ** 2

    def interval(self) -> tuple[float, float]:
        if min(self.counts) < FIRST:
            return -math.inf, math.inf
        means = [total / count for total, count in zip(self.sums, self.counts, strict=True)]
        spreads = [
            max(square / count - mean**2, 1.0 / count**2)
            for square, count, mean in zip(self.squares, self.counts, means, strict=True)
        ]
        variance = spreads[0] / self.counts[0] + spreads[1] / self.counts[1]
        info = 1.0 / variance
        prior = info * self.planned / sum(self.counts) / TUNING
        limit = math.sqrt((info + prior) * math.log((info + prior) / (prior * (1.0 - self.confidence) ** 2))) / info
        return means[1] - means[0] - limit, means[1] - means[0] + limit

    @property
    def verdict(self) -> str:
        low, high = self.interval()
        return "roll out" if low > 0 else "do not roll out" if high < 0 else "cannot tell"
