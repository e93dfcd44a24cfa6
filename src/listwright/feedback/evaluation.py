"""What another policy would have earned, from a log."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Bools, Floats, RandomState, as_generator
from listwright.errors import InputError
from listwright.evaluation.intervals import bootstrap
from listwright.feedback.estimators import cascade_doubly_robust, cumulative_weights, per_position
from listwright.feedback.importance import EvidenceWarning, effective_size, warn_missing
from listwright.feedback.log import Answered, Log
from listwright.feedback.targets import target_chances

FEW = 50  # lists of equal weight, below which an estimate says little


@dataclass(frozen=True)
class OffPolicyEstimate:
    """The value of a policy, and where it lies with the confidence asked for.

    The ends are NaN if all lists say the same, such as nothing: then there is nothing to resample.
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f}" + ("" if np.isnan(self.low) else f" ({self.low:.3f} to {self.high:.3f})")


@dataclass(frozen=True)
class Evaluation:
    """The value of a policy by four estimators: the mean over lists of the summed gains."""

    slate_ips: OffPolicyEstimate
    self_normalised: OffPolicyEstimate
    per_position_ips: OffPolicyEstimate
    cascade_dr: OffPolicyEstimate
    n_lists: int
    effective_size: float  # lists of equal weight that say as much

    def __str__(self) -> str:
        names = ("slate_ips", "self_normalised", "per_position_ips", "cascade_dr")
        lines = [f"{name.replace('_', ' ')}: {getattr(self, name)}" for name in names]
        return "\n".join([*lines, f"{self.n_lists:,} lists, effective sample size {self.effective_size:.0f}"])


def evaluate(log: Log, policy: object, *, confidence: float = 0.95, random_state: RandomState = 0) -> Evaluation:
    """What a policy would have earned on the logged problems, from the lists that another one showed.

    The value of a list is the sum of its outcomes: with a cascade, whether there was a click. Lists without
    propensities are left out, with a warning; another one tells when few lists say anything of the policy.

    Parameters
    ----------
    policy : an `OnlineSCP` (as it would show lists now, with its exploration), a fitted `SCP`, anything with `predict`,
        or a function from problems to lists, such as `learner.predict`.
    confidence : of the bootstrap intervals.

    >>> import listwright as lw
    >>> rng = np.random.default_rng(0)
    >>> problems = lw.Problems.from_arrays(rng.random((2000, 4, 2)))
    >>> ids = [str(i) for i in range(2000)]
    >>> shown = lw.OnlineSCP(length=2, random_state=0).recommend(problems, list_ids=ids)  # even odds
    >>> log = Log()
    >>> log.append(shown)
    >>> clicks = rng.random(shown.rows.shape) < problems.features[shown.rows, 0]
    >>> _ = log.feedback(ids, clicks)
    >>> learned = lw.OnlineSCP(length=2, random_state=0).fit_log(log)
    >>> print(evaluate(log, learned.predict))  # the two with the largest first feature: 0.8 + 0.6
    slate ips: 1.596 (1.350 to 1.818)
    self normalised: 1.470 (1.369 to 1.554)
    per position ips: 1.500 (1.344 to 1.674)
    cascade dr: 1.442 (1.364 to 1.528)
    2,000 lists, effective sample size 181
    """
    if not isinstance(log, Log):
        raise InputError(f"log must be a listwright.feedback.Log. Got {type(log).__name__}.")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must be between 0 and 1. Got {confidence!r}.")
    logged = _with_propensities(log.answered())
    gains = np.where(np.isnan(logged.outcomes), 0.0, logged.outcomes)
    chances = target_chances(policy, logged)
    weights = cumulative_weights(logged, chances)
    size = effective_size(weights[:, -1])
    if size < FEW:
        _warn_few(size, len(gains))
    parts, totals = _parts(logged, chances, weights, gains)
    rng = as_generator(random_state)
    found = [_estimate(*one, confidence, rng) for one in zip(parts.T, totals.T, strict=True)]
    return Evaluation(found[0], found[1], found[2], found[3], n_lists=len(gains), effective_size=size)


def _estimate(parts: Floats, totals: Floats, confidence: float, rng: np.random.Generator) -> OffPolicyEstimate:
    """sum(parts) / sum(totals), and 0 if nothing has any weight."""
    value = parts.sum() / totals.sum() if totals.sum() > 0 else 0.0
    return OffPolicyEstimate(float(value), *bootstrap(parts, totals, confidence=confidence, rng=rng))


def _parts(logged: Answered, chances: Floats, weights: Floats, gains: Floats) -> tuple[Floats, Floats]:
    """(lists, estimators): what each list adds, and what it is divided by."""
    last, ones = weights[:, -1], np.ones(len(gains))
    slate = last * gains.sum(axis=1)
    robust = cascade_doubly_robust(logged, chances, weights, gains)
    parts = np.stack([slate, slate, per_position(weights, gains), robust], axis=1)
    return parts, np.stack([ones, last, ones, ones], axis=1)


def _with_propensities(logged: Answered) -> Answered:
    missing: Bools = np.any(np.isnan(logged.propensities) & (logged.rows >= 0), axis=1)
    if missing.all():
        raise InputError("No list of this log has propensities. Log the chance of each pick, as recommend gives it.")
    if not missing.any():
        return logged
    warn_missing(int(missing.sum()), len(missing), "are left out")
    return logged.take(np.flatnonzero(~missing))


def _warn_few(size: float, n_lists: int) -> None:
    warnings.warn(
        f"The effective sample size is {size:.1f} of {n_lists:,} lists: the policy shows other lists than the log. "
        "Do not trust the intervals; log more lists, or with more exploration.",
        EvidenceWarning,
        stacklevel=3,
    )
