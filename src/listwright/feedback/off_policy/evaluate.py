"""What another policy would have earned, from a log."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from listwright._internal.arrays import Bools, RandomState, as_generator
from listwright.errors import InputError
from listwright.evaluation.intervals import Bounds, skewed, unseen
from listwright.evaluation.table import aligned
from listwright.feedback.importance import EvidenceWarning, warn_missing
from listwright.feedback.log import Answered, Log
from listwright.feedback.off_policy.estimators import Parts, estimators
from listwright.feedback.off_policy.evidence import LoggedGains, evidence, gains_of
from listwright.feedback.off_policy.targets import as_target

LEAST = 2.0  # lists of equal weight, below which there is nothing to estimate from
FEW = 50.0  # below which an interval should not be trusted
RECOMMENDED = "switch"
MODELLED = ("direct", "switch")  # a model's value, with the interval of the doubly robust estimate
VALUES = ("sum", "any")


@dataclass(frozen=True)
class OffPolicyEstimate:
    """The value of a policy by one estimator.

    Attributes
    ----------
    value : float
        The estimate; NaN where the log has no evidence.
    low, high : float
        The ends of the interval; NaN where the log has no evidence.
    effective_size : float
        How many lists of equal weight would say as much: 0 for no evidence, and below 50 for little.
    """

    value: float
    low: float
    high: float
    effective_size: float

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "no evidence"
        if np.isnan(self.low):
            return f"{self.value:.3f} (by the model alone: no evidence)"
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True)
class Evaluation:
    """The value of a policy, the mean over lists of what they bring, by several estimators: see `evaluate`.

    Attributes
    ----------
    direct, slate_ips, ..., switch : OffPolicyEstimate
        The estimates.
    logged : OffPolicyEstimate
        What the lists of the log brought themselves.
    n_lists : int
        Lists with an outcome and propensities.
    recommended : str
        The name of the estimate to look at first.
    """

    direct: OffPolicyEstimate
    slate_ips: OffPolicyEstimate
    self_normalised: OffPolicyEstimate
    pseudo_inverse: OffPolicyEstimate
    per_position_ips: OffPolicyEstimate
    per_position_sn: OffPolicyEstimate
    clipped: OffPolicyEstimate
    per_position_dr: OffPolicyEstimate
    cascade_dr: OffPolicyEstimate
    switch: OffPolicyEstimate
    logged: OffPolicyEstimate
    n_lists: int
    recommended: str = RECOMMENDED

    @property
    def estimates(self) -> dict[str, OffPolicyEstimate]:
        """The estimates of the policy by name."""
        return {name: getattr(self, name) for name in NAMES}

    @property
    def value(self) -> OffPolicyEstimate:
        """The estimate to look at first."""
        return self.estimates[self.recommended]

    @property
    def effective_size(self) -> float:
        """That of the recommended estimate."""
        return self.value.effective_size

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON takes them; None where there is no evidence."""
        found = {name: _plain(one) for name, one in (self.estimates | {"logged": self.logged}).items()}
        return {"estimates": found, "recommended": self.recommended, "n_lists": self.n_lists}

    def __str__(self) -> str:
        rows = [["", "value", "effective size"]]
        for name, one in self.estimates.items():
            mark = " *" if name == self.recommended else ""
            rows.append([name.replace("_", " ") + mark, str(one), f"{one.effective_size:,.0f}"])
        rows.append(["the log itself", str(self.logged), f"{self.n_lists:,}"])
        return aligned(rows, [True, True, False]) + "\n* look at this one first"


NAMES = tuple(name for name in Evaluation.__dataclass_fields__ if name not in ("logged", "n_lists", "recommended"))


def evaluate(
    log: Log,
    policy: object,
    *,
    value: str = "sum",
    clip: float | None = None,
    confidence: float = 0.95,
    random_state: RandomState = 0,
) -> Evaluation:
    """What a policy would have earned on the logged problems, from the lists that another one showed.

    Parameters
    ----------
    log : Log
        Lists that were shown with known chances. Lists without propensities are left out, with a warning.
    policy : OnlineSCP, SCP, anything with predict, or a function from problems to lists
        An `OnlineSCP` is taken as it would show lists now, with its exploration; `learner.predict` is the same without.
    value : {"sum", "any"}
        What a list is worth: the sum of its outcomes, or whether it got any click. The same where users stop at the
        first click (`Log(cascade=True)`).
    clip : float, optional
        The largest weight of the clipped estimate; by default the square root of the number of lists.
    confidence : float
        The chance that an interval holds the truth.
    random_state : int, Generator or None
        Of the lists that are drawn from a policy that explores.

    Returns
    -------
    Evaluation
        Ten estimates. Those by weights (`slate_ips` to `clipped`) need lists that both policies could have shown: the
        effective size says how many there were. `direct` is a model of clicks alone. `per_position_dr` and
        `cascade_dr` put both together. `switch` is the one to look at first: `direct`, unless the log shows that its
        model is wrong; then as few corrections as it takes. As neither knows its own bias, `direct` and `switch` have
        the interval of `cascade_dr`.

    See Also
    --------
    compare : Several policies, and whether to roll one out.

    References
    ----------
    Swaminathan et al. (2017), Off-policy evaluation for slate recommendation. McInerney et al. (2020), Counterfactual
    evaluation of slate recommendations with sequential reward interactions. Kiyohara et al. (2022), Doubly robust
    off-policy evaluation for ranking policies under the cascade behavior model. Wang, Agarwal & Dudik (2017), Optimal
    and adaptive off-policy evaluation in contextual bandits. Su, Srinath & Krishnamurthy (2020), Adaptive estimator
    selection for off-policy evaluation.

    Examples
    --------
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
                      value                   effective size
    direct            1.422 (1.368 to 1.508)             181
    slate ips         1.596 (1.366 to 1.854)             181
    self normalised   1.470 (1.376 to 1.556)             181
    pseudo inverse    1.446 (1.361 to 1.529)             289
    per position ips  1.500 (1.345 to 1.671)             181
    per position sn   1.446 (1.365 to 1.524)             181
    clipped           1.446 (1.365 to 1.524)             181
    per position dr   1.445 (1.371 to 1.515)             181
    cascade dr        1.440 (1.368 to 1.508)             181
    switch *          1.422 (1.368 to 1.508)             181
    the log itself    1.008 (0.977 to 1.038)           2,000
    * look at this one first
    """
    check_arguments(log, value, confidence)
    known = gains_of(_with_propensities(log.answered()), cascade=log.cascade, value=value)
    seed = int(as_generator(random_state).integers(2**62))
    parts = estimators(evidence(known, as_target(policy, seed)), clip=clip)
    size = parts[RECOMMENDED].effective_size
    if size < FEW:
        _warn_few(size, len(known))
    return evaluation_of(known, parts, confidence)


def check_arguments(log: Log, value: str, confidence: float) -> None:
    """What all questions to a log need."""
    if not isinstance(log, Log):
        raise InputError(f"log must be a listwright.feedback.Log. Got {type(log).__name__}.")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must be between 0 and 1. Got {confidence!r}.")
    if value not in VALUES:
        raise InputError(f"value must be one of {', '.join(VALUES)}. Got {value!r}.")


def evaluation_of(log: LoggedGains, parts: dict[str, Parts], confidence: float) -> Evaluation:
    """Estimates with their intervals."""
    bounds = 0.0, bound_of(log)
    alike = bool(np.ptp(log.values) == 0)
    found = {name: _estimate(part, confidence, bounds, alike) for name, part in parts.items()}
    robust = found["cascade_dr"]
    for name in MODELLED:
        middle = min(max(parts[name].value, bounds[0]), bounds[1])
        ends = min(robust.low, middle), max(robust.high, middle)
        found[name] = OffPolicyEstimate(middle, *ends, robust.effective_size)
    own = Parts(log.values, float(len(log)))
    return Evaluation(logged=_estimate(own, confidence, bounds, alike), n_lists=len(log), **found)  # type: ignore[arg-type]


def bound_of(log: LoggedGains) -> float:
    """The most that a list can bring."""
    return 1.0 if log.stops else float((log.logged.rows >= 0).sum(axis=1).max())


def _estimate(part: Parts, confidence: float, bounds: Bounds, alike: bool) -> OffPolicyEstimate:
    """`alike`: no list of the log differs from another, so that their spread says nothing."""
    if part.effective_size < LEAST:
        return OffPolicyEstimate(np.nan, np.nan, np.nan, part.effective_size)
    low, high = skewed(part.influence, confidence=confidence, bounds=bounds, n_effective=part.effective_size)
    if alike:
        low, high = unseen(part.value, part.effective_size, bounds)
    value = min(max(part.value, bounds[0]), bounds[1])
    return OffPolicyEstimate(value, min(low, value), max(high, value), part.effective_size)


def _plain(one: OffPolicyEstimate) -> dict[str, float | None]:
    found = {"value": one.value, "low": one.low, "high": one.high, "effective_size": one.effective_size}
    return {name: None if np.isnan(number) else float(number) for name, number in found.items()}


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
