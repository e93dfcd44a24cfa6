"""Exploring for a verdict: how many lists it takes to judge a candidate, and the test that may stop earlier."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy

from listwright._internal.arrays import Floats, Ints
from listwright.errors import InputError
from listwright.feedback.answered import AnsweredLists
from listwright.feedback.log import Log
from listwright.feedback.off_policy.estimates import EvidenceWarning
from listwright.feedback.off_policy.evaluate import evaluate
from listwright.feedback.off_policy.targets import Target, as_target

BEYOND = 0.5  # standard errors of the mean beyond the boundary, by which four of five trials have crossed it
MOST = 0.5  # share of the lists that a candidate may have
LISTS, EVENTS = 40.0, 10.0  # of equal weight, before which there is no verdict
LEAST = 1e-9  # difference per list, and share, below which no number of lists is given
FAR = 1e15  # lists, beyond which none is given
TUNING = 250.0  # lists after which the boundary would be tightest for one look; it is nearly so from 200 to 200,000
UNITS = 4096  # groups of lists by the end of their ids; lists of a user are in the same one
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
        How far ahead the candidate is expected to be, per list.
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
            if abs(self.difference) < LEAST:
                return f"{start} No difference is to be expected, so no number of lists would show one."
            cause = "the lists of the log are all worth the same, or the difference or the share is too small"
            return f"{start} No number of lists can be given for a difference of {self.difference:+.2g}: {cause}."
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
    674
    """
    if not 0 < loss_budget < math.inf:
        raise InputError(f"loss_budget must be above 0. Got {loss_budget!r}.")
    if difference is not None and not math.isfinite(difference):
        raise InputError(f"difference must be a number. Got {difference!r}.")
    if by not in WAYS:
        raise InputError(f"by must be lists or slots. Got {by!r}.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        estimated = evaluate(log, policy, value=value, confidence=confidence)
    today = estimated.logged.value
    if math.isnan(today):
        raise InputError("plan needs at least two lists with an outcome.")
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
    return min(loss_budget / max(today, 1e-9), MOST)


def needed_lists(difference: float, variance: float, share: float, confidence: float, today: float) -> int | None:
    """Return the lists by which `SequentialTest` sees a difference in four of five cases."""
    if min(abs(difference), share) < LEAST or variance <= 0:
        return None
    rest = 1.0 - share
    other = variance * max((today + difference) / today, 0.1) if today > 0 else variance  # counts vary with their mean
    between = difference**2 * share * rest
    own = other / share + variance / rest + difference**2 * (rest**2 / share + share**2 / rest - 1.0)
    alike = (share * other + rest * variance + between) * (1.0 / share + 1.0 / rest)
    weight = (1.0 / share + 1.0 / rest) ** 2 / (1.0 / share**3 + 1.0 / rest**3)  # of a list among those of equal weight
    least = max(LISTS, EVENTS / max(today + share * difference, 1e-9)) / weight

    def missing(lists: float) -> float:
        return lists - (_boundary(lists, confidence) + BEYOND) ** 2 * max(own, alike) / difference**2

    return math.ceil(max(least, scipy.optimize.brentq(missing, 1.0, FAR))) if missing(FAR) > 0 else None


def _boundary(lists: float, confidence: float) -> float:
    """Return how many standard errors a mean may be off after so many lists, at any time (Robbins 1970)."""
    prior = TUNING / lists
    return math.sqrt((1.0 + prior) * math.log((1.0 + prior) / (prior * (1.0 - confidence) ** 2)))


@dataclass
class SequentialTest:
    """Compares two versions after every list, without more errors than one look at the end would make."""

    # Each list counts by its weight times what it brought beyond the lists before, which is the difference per list on
    # average, whatever the share of the candidate was and however visitors change. Its boundary is an asymptotic
    # confidence sequence (Waudby-Smith et al. 2024). Variances are those of units of lists, so that the lists of one
    # user may be alike; and at least those that there would be if both versions were, so that a candidate without any
    # click yet is not taken for certain.

    confidence: float = 0.95
    seen: int = 0  # lists that tell what is usual
    n_lists: int = 0  # lists of the trial
    later: Floats = field(default_factory=lambda: np.zeros(0))  # what each position and those behind it brought
    residuals: Floats = field(default_factory=lambda: np.zeros(0))  # by position: squares of that beyond the usual
    weights: Floats = field(default_factory=lambda: np.zeros(0))  # by position: sum of squares
    fourths: float = 0.0
    sums: Floats = field(default_factory=lambda: np.zeros(UNITS))  # by unit
    counts: Ints = field(default_factory=lambda: np.zeros(UNITS, dtype=np.int64))

    def add(self, weights: Floats | None, gains: Floats, earlier: Floats | None = None, unit: int = 0) -> None:
        """Add a list, or what is newly known of it; None as weights for one that was shown before the trial."""
        # By position: (the candidate's chance of the item over its propensity - 1) / (1 - share); and the gains.
        if longer := max(0, len(gains) - len(self.later)):
            for name in ("later", "residuals", "weights"):
                setattr(self, name, np.pad(getattr(self, name), (0, longer)))
        size, first = len(gains), earlier is None
        usual = self.later[:size] / max(self.seen, 1)  # of the lists before, so that the mean stays right
        now, then = (_later(some) - usual for some in (gains, np.zeros(size) if earlier is None else earlier))
        self.seen += first
        self.later[:size] += now - then if not first else now + usual
        self.residuals[:size] += now**2 - (0.0 if first else then**2)
        if weights is None:
            return
        self.sums[unit % UNITS] += weights @ (now if first else now - then)
        if first:
            squares = weights**2
            self.n_lists += 1
            self.weights[:size] += squares
            self.fourths += float(squares.sum()) ** 2
            self.counts[unit % UNITS] += 1

    def interval(self) -> tuple[float, float]:
        """Return where the difference per list may lie, at any time."""
        total = float(self.weights.sum())
        weight = total**2 / self.fourths if self.fourths else 0.0  # lists of equal weight
        if weight < LISTS or weight * self.later[0] / self.seen < EVENTS:
            return -math.inf, math.inf
        difference = float(self.sums.sum()) / self.n_lists
        own = float(((self.sums - difference * self.counts) ** 2).sum())
        variance = max(own, float(self.weights @ self.residuals) / self.seen)
        limit = _boundary(self.n_lists, self.confidence) * math.sqrt(variance) / self.n_lists
        return difference - limit, difference + limit

    @property
    def verdict(self) -> str:
        low, high = self.interval()
        return "roll out" if low > 0 else "do not roll out" if high < 0 else "cannot tell"
