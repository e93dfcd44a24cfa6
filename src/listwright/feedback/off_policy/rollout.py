"""How far a log supports moving towards a new policy, when it has too little evidence for all of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, RandomState, as_generator
from listwright.errors import InputError
from listwright.evaluation.intervals import skewed_interval
from listwright.evaluation.table import Table
from listwright.feedback.log import Log
from listwright.feedback.off_policy.estimates import Difference, OffPolicyEstimate
from listwright.feedback.off_policy.estimators import ENOUGH, normalise, support_size
from listwright.feedback.off_policy.evidence import Evidence, evidence
from listwright.feedback.off_policy.propensities import check_arguments, known_gains
from listwright.feedback.off_policy.targets import as_target
from listwright.feedback.off_policy.verdict import difference

SHARES = np.array([0.01, 0.02, 0.05, *np.arange(0.1, 1.01, 0.1)])


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
        What a list of the log earns.

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
    size = support_size(weights[:, -1])
    low, _ = skewed_interval(apart, confidence=confidence, bounds=(-most, most), n_effective=size)
    return share, float(apart.mean()), low, size
