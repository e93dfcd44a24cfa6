"""The verdict on a new policy: roll it out, do not, how far a log supports it, or what it would take to tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from listwright._internal.arrays import Floats, RandomState, as_generator
from listwright.errors import InputError
from listwright.evaluation.intervals import format_interval, skewed_interval
from listwright.evaluation.table import Table
from listwright.feedback.log import Log
from listwright.feedback.off_policy.estimates import Difference, OffPolicyEstimate
from listwright.feedback.off_policy.estimators import ENOUGH, SUPPORT, normalise, support_size
from listwright.feedback.off_policy.evidence import Evidence, LoggedGains, evidence
from listwright.feedback.off_policy.propensities import check_arguments, known_gains
from listwright.feedback.off_policy.targets import as_target

SHARES = np.array([0.01, 0.02, 0.05, *np.arange(0.1, 1.01, 0.1)])
POWER = 0.8  # the chance that a difference as large as the one estimated would be seen
EVENTS = 5.0  # matched clicks of equal weight, below which there is no verdict
SMALLEST = 0.05  # of the value today: the difference that is looked for where the log gives no hint
FAR_MORE = 100  # times as many lists as the log has are not worth a forecast


@dataclass(frozen=True, eq=False)
class Rollout:
    """The result of `safe_rollout`: the largest safe share, and the curve behind it.

    Attributes
    ----------
    share : float
        The largest share for which the lower bound stays above today's value; 0 for none.
    curve : Table
        By share: the difference to today's value per list, its lower bound, and the effective size.
    today : float
        The mean value of a list of the log.

    See Also
    --------
    safe_rollout : Makes it.

    Examples
    --------
    >>> curve = Table({"share": np.array([0.5]), "difference": np.array([0.4]), "low": np.array([0.35])})
    >>> print(Rollout(0.5, curve, today=1.5))
    Up to 50 % of the slots can show what the new policy would: at least +0.350 per list against today's 1.500.
    """

    share: float
    curve: Table
    today: float

    def __str__(self) -> str:
        if self.share == 0:
            return f"No share of the new policy is safe: no lower bound is above today's {self.today:.3f} per list."
        row = self.curve.where(share=self.share).records()[0]
        return (
            f"Up to {100 * self.share:.0f} % of the slots can show what the new policy would: at least "
            f"{row['low']:+.3f} per list against today's {self.today:.3f}."
        )


def safe_rollout(
    log: Log,
    policy: Any,
    *,
    tolerance: float = 0.0,
    value: str = "sum",
    propensity: str = "logged",
    confidence: float = 0.95,
    random_state: RandomState = 0,
) -> Rollout:
    """Find the largest share of a new policy whose lower bound stays above today's value.

    Use it when `compare` cannot tell, because the new policy's lists differ too much from the log. At each slot the new
    policy's item is shown with the chance `share`, otherwise what today's policy shows. The weight of a slot is then (1
    - share) + share * ratio, which varies far less than the ratio itself: a log with too little evidence for whole
    lists of the new policy often has enough for one item at a time.

    Parameters
    ----------
    log : Log
        Lists that were shown with known chances.
    policy : OnlineSCP, SCP, anything with predict, or a function from problems to lists
        The new policy.
    tolerance : float
        How far below today's value the lower bound may lie.
    value, propensity, confidence, random_state
        As in `evaluate`. The lower bound has the confidence (1 + confidence) / 2.

    Returns
    -------
    Rollout
        `share`, and `curve` for all shares that were tried (1 % to 100 %).

    See Also
    --------
    compare : Whether to roll a policy out whole.

    Examples
    --------
    >>> import listwright as lw
    >>> rng = np.random.default_rng(0)
    >>> problems = lw.Problems.from_arrays(rng.random((2000, 8, 2)))
    >>> shown = lw.OnlineSCP(length=3, random_state=0).recommend(problems, list_ids=[str(i) for i in range(2000)])
    >>> log = lw.feedback.Log()
    >>> log.append(shown)
    >>> _ = log.feedback(shown.list_ids, rng.random(shown.rows.shape) < problems.features[shown.rows, 0])
    >>> new = lw.OnlineSCP(length=3, random_state=0).fit_log(log)
    >>> print(safe_rollout(log, new.predict))
    Up to 70 % of the slots can show what the new policy would: at least +0.338 per list against today's 1.500.
    """
    check_arguments(log, value, confidence, propensity)
    if not 0 <= tolerance < np.inf:
        raise InputError(f"tolerance must be 0 or more. Got {tolerance!r}.")
    known, looked = known_gains(log, value, propensity)
    if looked is not None:
        raise InputError("safe_rollout takes logged or estimated propensities.")
    target = as_target(policy, int(as_generator(random_state).integers(2**62)))
    return rollout_of(evidence(known, target), tolerance, confidence)


def rollout_of(seen: Evidence, tolerance: float, confidence: float) -> Rollout:
    """Compute the curve of shares, and the largest share such that it and all smaller ones are safe."""
    log = seen.log
    rows = [_at(share, seen.ratios, log.gains, confidence, log.most) for share in SHARES]
    curve = Table(dict(zip(("share", "ahead", "low", "effective_size"), np.array(rows).T, strict=True)))
    unsafe = np.flatnonzero(~((curve["low"] > -tolerance) & (curve["effective_size"] >= ENOUGH)))
    last = int(unsafe[0]) - 1 if len(unsafe) else len(SHARES) - 1  # every smaller share is safe too
    return Rollout(0.0 if last < 0 else float(SHARES[last]), curve, float(log.values.mean()))


def against_log(
    names: tuple[str, str],
    new: OffPolicyEstimate,
    old: OffPolicyEstimate,
    apart: Floats,
    seen: Evidence,
    confidence: float,
) -> Difference:
    verdict = difference(names, new, old, apart, seen.log, confidence)
    if verdict.verdict != "cannot tell" or verdict.effective_size >= ENOUGH:
        return verdict
    step = rollout_of(seen, 0.0, confidence)
    return replace(verdict, advice=f"{verdict.advice} {step}") if step.share else verdict


def _at(
    share: float, ratios: Floats, gains: Floats, confidence: float, most: float
) -> tuple[float, float, float, float]:
    """Return share, difference to today per list, its lower bound, and the effective size at the last position."""
    weights: Floats = np.cumprod(1.0 - share + share * ratios, axis=1, dtype=np.float64)
    apart = normalise(weights, gains) - gains.sum(axis=1)
    size = support_size(weights[:, -1], 1.0 - share * (1.0 - SUPPORT))  # of the share alone a tenth may be missing
    low, _ = skewed_interval(apart, confidence=confidence, bounds=(-most, most), n_effective=size)
    return share, float(apart.mean()), low, size


def difference(
    names: tuple[str, str],
    new: OffPolicyEstimate,
    old: OffPolicyEstimate,
    apart: Floats,
    log: LoggedGains,
    confidence: float,
) -> Difference:
    point, size = new.value - old.value, min(new.effective_size, old.effective_size)
    events = min(new.events, old.events)
    if size < ENOUGH or np.isnan(point):
        advice = _no_evidence(names, point, size, log, confidence)
        return Difference(point, np.nan, np.nan, size, "cannot tell", advice, events)
    low, high = _interval(new, old, apart, log, confidence)
    between = f"{format_interval(point, low, high, '+').replace(' (', ' per list (', 1)}"
    verdict = "roll out" if low > 0 else "do not roll out" if high < 0 else "cannot tell"
    verdict = verdict if events >= EVENTS else "cannot tell"
    advice = f"{verdict.capitalize()} {names[0]}: against {names[1]} it brings {between}."
    if verdict == "cannot tell":
        advice = f"The log cannot tell {names[0]} from {names[1]} ({between}): " + _more(point, apart, log, confidence)
    advice += f" {size:,.0f} lists and {events:,.0f} clicks speak for {names[0]}."
    return Difference(point, low, high, size, verdict, advice, events)


def _interval(
    new: OffPolicyEstimate, old: OffPolicyEstimate, apart: Floats, log: LoggedGains, confidence: float
) -> tuple[float, float]:
    point, size = new.value - old.value, min(new.effective_size, old.effective_size)
    if min(new.events, old.events) < ENOUGH:  # Zou & Donner (2008)
        low = point - np.hypot(new.value - new.low, old.high - old.value)
        return float(low), float(point + np.hypot(new.high - new.value, old.value - old.low))
    low, high = skewed_interval(apart, confidence=confidence, bounds=(-log.most, log.most), n_effective=size)
    return min(low, point), max(high, point)


def _more(point: float, apart: Floats, log: LoggedGains, confidence: float) -> str:
    error = float(apart.std() / np.sqrt(len(apart)))
    more = len(log) * ((_reach(confidence) * error / max(abs(point), 1e-9)) ** 2 - 1.0)
    if 0 < more < FAR_MORE * len(log):
        return f"about {_round_forecast(more)} more lists would."
    return f"they are alike to within {abs(point):.3f} per list, and far more than {len(log):,} lists would be needed."


def _no_evidence(names: tuple[str, str], point: float, size: float, log: LoggedGains, confidence: float) -> str:
    """Say how much exploration towards the policy would give enough evidence, when too few lists match it."""
    gap = max(0.0 if np.isnan(point) else abs(point), SMALLEST * float(log.values.mean()))
    new, old = names
    unsure = f"The log cannot tell {new} from {old}: only {size:.0f} of its {len(log):,} lists speak for {new}"
    if gap < 1e-9:
        return f"{unsure}, and none got a click, so nothing says how many would do."
    spread = float(np.append(log.values, [0.0, log.most]).std())  # lists that are alike do not show how others vary
    needed = 2.0 * (_reach(confidence) * spread / gap) ** 2
    share, lists = min(1.0, needed / len(log)), "" if needed <= len(log) else f", over {_round_forecast(needed)} lists,"
    digits = 0 if share >= 0.1 else 1
    return (
        f"{unsure}. To see a difference of {gap:.3f} per list, exploration of at least {100 * share:.{digits}f} % "
        f"towards {new}{lists} would do."
    )


def _reach(confidence: float) -> float:
    """Return how many standard errors a difference must have to be detected with a power of 80 %."""
    return float(scipy.stats.norm.ppf(0.5 + confidence / 2) + scipy.stats.norm.ppf(POWER))


def _round_forecast(count: float) -> str:
    """Two digits are enough for a forecast."""
    digits = max(0, int(np.floor(np.log10(max(count, 1.0)))) - 1)
    return f"{int(np.ceil(count / 10**digits) * 10**digits):,}"
