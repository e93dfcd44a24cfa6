"""Exploring for a verdict: how many lists it takes to judge a candidate, and the test that may stop earlier."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.feedback.answered import AnsweredLists
from listwright.feedback.log import Log
from listwright.feedback.off_policy.estimates import EvidenceWarning
from listwright.feedback.off_policy.evaluate import evaluate
from listwright.feedback.off_policy.targets import Target, as_target

POWER = 0.8  # the chance of a verdict within the planned lists
LEAST, MOST = 0.01, 0.5  # share of the lists that a candidate may have
FIRST = 20  # lists of both versions before which there is no verdict
TUNING = 7.94  # of the boundary: tightest at the planned number of lists, for a confidence of 95 %
WAYS = ("lists", "slots")  # to mix a candidate in


@dataclass(frozen=True)
class Plan:
    """How to find out whether a candidate is better.

    Attributes
    ----------
    share : float
        The share of the lists, or of the slots, that the candidate has.
    n_lists : int or None
        Lists with feedback after which there is a verdict in four of five cases; None if no difference is expected.
    difference : float
        What the candidate is expected to earn more per list.
    loss : float
        What is lost per list on average, if the candidate's lists are worth nothing.
    by : {"lists", "slots"}
        What the candidate has a share of.

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
    by: str = "lists"

    def __str__(self) -> str:
        start = f"Show the candidate in {100 * self.share:.3g} % of the {self.by}."
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
    by: str = "lists",
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
    by : {"lists", "slots"}
        Whether the candidate builds whole lists, or is mixed in slot by slot, so that nobody sees only items of its
        choice. Slots take fewer lists where it changes few of them, and more where it changes most.
    confidence, value
        As in `evaluate`.

    Returns
    -------
    Plan
        The share of lists or slots for the candidate, and how many lists with feedback are needed.

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
    if by not in WAYS:
        raise InputError(f"by must be lists or slots. Got {by!r}.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        estimated = evaluate(log, policy, value=value, confidence=confidence)
    today = estimated.logged.value
    expected = estimated.value.value - today if difference is None else difference
    share = candidate_share(loss_budget, today)
    logged = log.answered_lists()
    gains = np.nan_to_num(logged.outcomes)
    later = _later(np.where(np.cumsum(gains, axis=1) > gains, 0.0, gains) if value == "any" else gains)
    spreads = later.var(axis=0)
    spread = spreads[0] if by == "lists" else spreads @ (1.0 - _agreement(logged, as_target(policy)))
    lists = needed_lists(expected, float(spread), share, confidence, today)
    return Plan(share, lists, expected, share * today, by)


def _later(gains: Floats) -> Floats:
    """Return what each position and those behind it bring."""
    return np.cumsum(gains[..., ::-1], axis=-1)[..., ::-1]


def _agreement(logged: AnsweredLists, target: Target) -> Floats:
    """Return by position how often a policy would have shown what was shown."""
    steps = zip(target.suit(logged.problems).chances(logged), logged.rows.T, strict=True)
    return np.array([np.where(picks >= 0, chances[picks], 1.0).mean() for chances, picks in steps])


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
        difference, variance, total = self._moments()
        info = 1.0 / variance
        prior = info * self.planned / total / TUNING
        limit = math.sqrt((info + prior) * math.log((info + prior) / (prior * (1.0 - self.confidence) ** 2))) / info
        return difference - limit, difference + limit

    def _moments(self) -> tuple[float, float, float]:
        """Return the estimated difference, its variance, and the number of lists."""
        means = [total / count for total, count in zip(self.sums, self.counts, strict=True)]
        spreads = [
            max(square / count - mean**2, 1.0 / count**2)
            for square, count, mean in zip(self.squares, self.counts, means, strict=True)
        ]
        variance = spreads[0] / self.counts[0] + spreads[1] / self.counts[1]
        return means[1] - means[0], variance, sum(self.counts)

    @property
    def verdict(self) -> str:
        low, high = self.interval()
        return "roll out" if low > 0 else "do not roll out" if high < 0 else "cannot tell"


@dataclass
class SlotTest(SequentialTest):
    """The same for a candidate that is mixed in slot by slot: would more of its items earn more?

    The difference is the derivative of the value by the candidate's share, times what is left to all slots: all of the
    difference where what an item brings does not depend on the others. `counts` are all lists, and those that speak.
    """

    later: Floats = field(default_factory=lambda: np.zeros(0))  # what each position and those behind it brought

    def add_slots(self, ratios: Floats, gains: Floats, earlier: Floats | None = None) -> None:
        """Add a list; the ratios are the candidate's chances of its items over those with which they were drawn."""
        size, first = len(gains), earlier is None
        if size > len(self.later):
            self.later = np.pad(self.later, (0, size - len(self.later)))
        usual = self.later[:size] / max(self.counts[0], 1.0)  # of the lists before, so that the mean stays right
        before = np.zeros(size) if earlier is None else earlier
        now, then = (float((ratios - 1.0) @ (_later(some) - usual)) for some in (gains, before))
        then = 0.0 if first else then
        speaks = bool((np.abs(ratios - 1.0) > 1e-9).any())
        self.counts = [self.counts[0] + first, self.counts[1] + (first and speaks)]
        self.sums = [self.sums[0] + float((gains - before).sum()), self.sums[1] + now - then]
        self.squares = [self.squares[0], self.squares[1] + now**2 - then**2]
        self.later[:size] += _later(gains - before)

    def _moments(self) -> tuple[float, float, float]:
        total = self.counts[0]
        mean = self.sums[1] / total
        return mean, max(self.squares[1] / total - mean**2, 1.0 / total**2) / total, total
