"""The verdict on a difference between two policies: roll out, do not, or what it would take to tell."""

from __future__ import annotations

import numpy as np
import scipy

from listwright._internal.arrays import Floats
from listwright.evaluation.intervals import format_interval, skewed_interval
from listwright.feedback.off_policy.estimates import Difference, OffPolicyEstimate
from listwright.feedback.off_policy.estimators import ENOUGH
from listwright.feedback.off_policy.evidence import LoggedGains

POWER = 0.8  # the chance that a difference as large as the one estimated would be seen
EVENTS = 5.0  # matched clicks of equal weight, below which there is no verdict
SMALLEST = 0.05  # of the value today: the difference that is looked for where the log gives no hint
FAR_MORE = 100  # times as many lists as the log has are not worth a forecast


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
    gap = max(0.0 if np.isnan(point) else abs(point), SMALLEST * float(log.values.mean()), 1e-9)
    needed = 2.0 * (_reach(confidence) * float(log.values.std()) / gap) ** 2
    share, lists = min(1.0, needed / len(log)), "" if needed <= len(log) else f", over {_round_forecast(needed)} lists,"
    return (
        f"The log cannot tell {names[0]} from {names[1]}: only {size:.0f} of its {len(log):,} lists speak for "
        f"{names[0]}. To see a difference of {gap:.3f} per list, exploration of at least {_percent(share)} towards "
        f"{names[0]}{lists} would do."
    )


def _reach(confidence: float) -> float:
    """Return how many standard errors a difference must have to be detected with a power of 80 %."""
    return float(scipy.stats.norm.ppf(0.5 + confidence / 2) + scipy.stats.norm.ppf(POWER))


def _round_forecast(count: float) -> str:
    """Two digits are enough for a forecast."""
    digits = max(0, int(np.floor(np.log10(max(count, 1.0)))) - 1)
    return f"{int(np.ceil(count / 10**digits) * 10**digits):,}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f} %"
