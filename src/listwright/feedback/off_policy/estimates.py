"""Results of off-policy evaluation: estimates with intervals and the amount of evidence behind them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.extras import warn
from listwright.errors import Notice
from listwright.evaluation.intervals import (
    Bounds,
    format_interval,
    none_if_nan,
    rare_interval,
    skewed_interval,
    unseen_interval,
)
from listwright.evaluation.table import align_columns
from listwright.feedback.answered import AnsweredLists
from listwright.feedback.off_policy.estimators import ENOUGH, InfluenceValues


class EvidenceWarning(Notice):
    """Issued when a log says less than its length suggests: propensities are missing, or few lists match.

    Filter it with `warnings.filterwarnings("error", category=EvidenceWarning)` to stop a pipeline on weak evidence.

    See Also
    --------
    evaluate : Issues it for logs without propensities, or with few matching lists.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", EvidenceWarning)  # weak evidence stops the pipeline
    """


def importance(logged: AnsweredLists, cap: float) -> Floats:
    """Return the weight of each shown item, of shape (lists, positions): 1 / (open items * propensity), at most `cap`.

    With these weights, shown items count as if all open candidates had been equally likely. The weight is 1 where the
    propensity is unknown. The cap bounds the variance at the price of some bias.
    """
    open_rows = logged.problems.counts[:, None] - np.arange(logged.rows.shape[1])
    weights = np.minimum(cap, 1.0 / (np.maximum(open_rows, 1) * logged.propensities))
    return np.where(np.isnan(weights), 1.0, weights)


def warn_missing(missing: int, total: int, what_then: str) -> None:
    """Warn that `missing` of `total` lists have no propensities; `what_then` says how they are treated."""
    warn(f"{missing:,} of {total:,} lists have no propensities; they {what_then}.", EvidenceWarning)


LEAST = 2.0  # lists of equal weight, below which there is nothing to estimate from
RECOMMENDED = "switch"


@dataclass(frozen=True)
class OffPolicyEstimate:
    """The value of a policy by one estimator, per list.

    Read `effective_size` before the interval: below 50 the log holds little evidence about the policy.

    Attributes
    ----------
    value : float
        The estimate; NaN where the log has no evidence.
    low, high : float
        The ends of the interval; NaN where the log has no evidence.
    effective_size : float
        How many lists of equal weight would say as much: 0 for no evidence, and below 50 for little.
    events : float
        How many clicks of equal weight the estimate rests on.

    See Also
    --------
    evaluate : Returns twelve of these.

    Examples
    --------
    >>> print(OffPolicyEstimate(1.42, 1.37, 1.51, effective_size=181.0, events=240.0))
    1.420 (1.370 to 1.510)
    """

    value: float
    low: float
    high: float
    effective_size: float
    events: float = np.nan

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "no evidence"
        if np.isnan(self.low):
            return f"{self.value:.3f} (by the model alone: no evidence)"
        return format_interval(self.value, self.low, self.high)


@dataclass(frozen=True)
class Difference:
    """How much more one policy's lists are worth than the baseline's, paired by list on the same log.

    Attributes
    ----------
    value, low, high : float
        The difference and its interval; NaN where the log has no evidence.
    effective_size : float
        Lists of equal weight that say as much.
    verdict : {"roll out", "do not roll out", "cannot tell"}
        What the log says.
    advice : str
        The same in a sentence.
    events : float
        Clicks of equal weight that say as much. A verdict needs lists and clicks that match the policy.

    See Also
    --------
    compare : Makes one per policy.

    Examples
    --------
    >>> difference = Difference(0.12, 0.03, 0.21, 180.0, "roll out", "Roll out new: it brings +0.120 per list.")
    >>> difference.verdict, difference.low > 0
    ('roll out', True)
    """

    value: float
    low: float
    high: float
    effective_size: float
    verdict: str
    advice: str
    events: float = np.nan


@dataclass(frozen=True)
class OffPolicyEvaluation:
    """The result of `evaluate`: the mean value per list of a policy, by several estimators.

    Print it for a table. `value` is the recommended estimate, and `against_log` says what to do.

    Attributes
    ----------
    direct, slate_ips, ..., switch : OffPolicyEstimate
        The estimates.
    logged : OffPolicyEstimate
        The value of the log's own lists.
    against_log : Difference
        How far the policy is ahead of the log, and what to do.
    n_lists : int
        Lists with an outcome and propensities.
    recommended : str
        The name of the estimate to look at first.
    propensity : str
        Where propensities come from: "logged", or how they were estimated.
    sensitivity : (low, high) or None
        Where `cascade_dr` could lie if every estimated propensity were wrong by a factor of up to 1.25.
    examination : OffPolicyEstimate or None
        The estimate by position bias, with `propensity="examination"`.

    See Also
    --------
    evaluate : Makes it, and explains the estimators.
    """

    direct: OffPolicyEstimate
    slate_ips: OffPolicyEstimate
    self_normalised: OffPolicyEstimate
    pseudo_inverse: OffPolicyEstimate
    per_position_ips: OffPolicyEstimate
    per_position_sn: OffPolicyEstimate
    clipped: OffPolicyEstimate
    adaptive: OffPolicyEstimate
    per_position_dr: OffPolicyEstimate
    cascade_dr: OffPolicyEstimate
    shrinkage_dr: OffPolicyEstimate
    switch: OffPolicyEstimate
    logged: OffPolicyEstimate
    against_log: Difference
    n_lists: int
    recommended: str = RECOMMENDED
    propensity: str = "logged"
    sensitivity: tuple[float, float] | None = None
    examination: OffPolicyEstimate | None = None

    @property
    def estimates(self) -> dict[str, OffPolicyEstimate]:
        """All estimates of the policy, by name."""
        estimates = {name: getattr(self, name) for name in NAMES}
        return estimates if self.examination is None else estimates | {"examination": self.examination}

    @property
    def value(self) -> OffPolicyEstimate:
        """The recommended estimate."""
        return self.estimates[self.recommended]

    @property
    def effective_size(self) -> float:
        """The effective size of the recommended estimate."""
        return self.value.effective_size

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold, with None where there is no evidence."""
        estimates = {
            name: {key: none_if_nan(number) for key, number in asdict(estimate).items()}
            for name, estimate in (self.estimates | {"logged": self.logged}).items()
        }
        about = {"recommended": self.recommended, "n_lists": self.n_lists, "propensity": self.propensity}
        apart = {name: getattr(self.against_log, name) for name in ("value", "low", "high")}
        plain = {name: none_if_nan(number) for name, number in apart.items()}
        verdict = plain | {"verdict": self.against_log.verdict, "advice": self.against_log.advice}
        return {"estimates": estimates, "against_log": verdict, "sensitivity": self.sensitivity} | about

    def __str__(self) -> str:
        rows = [["", "value", "effective size", "events"]]
        for name, estimate in self.estimates.items():
            mark = " *" if name == self.recommended else ""
            rows.append([name.replace("_", " ") + mark, str(estimate), *_counts(estimate)])
        rows.append(["the log itself", str(self.logged), *_counts(self.logged)])
        lines = [align_columns(rows, [True, True, False, False]), "* look at this one first"]
        if self.sensitivity is not None:
            low, high = self.sensitivity
            lines.append(
                f"Propensities were estimated ({self.propensity}). Were each wrong by up to a quarter, cascade dr "
                f"would lie from {low:.3f} to {high:.3f}."
            )
        return "\n".join(lines)


NAMES = tuple(field.name for field in fields(OffPolicyEvaluation))[:12]


def estimate_of(part: InfluenceValues, confidence: float, bounds: Bounds, values: Floats) -> OffPolicyEstimate:
    # Few events: no interval is narrower than what a Poisson count of the estimated size allows. If all lists of the
    # log are worth the same, other lists may be, too.
    size, n = part.effective_size, len(part.influence)
    value = min(max(part.value, bounds[0]), bounds[1])
    if size < LEAST:
        return OffPolicyEstimate(np.nan, np.nan, np.nan, size, 0.0)
    if part.events < ENOUGH:
        spread = max(float(part.influence.var()), part.unit * value * (1.0 - value / bounds[1])) + n * part.bias**2
        low, high = (min(end / n, bounds[1]) for end in rare_interval(n * value, n * spread, part.unit, confidence))
        if value > bounds[1] / 2:  # lists without a click may be rare, too
            low = min(low, bounds[1] - rare_interval(n * (bounds[1] - value), n * spread, part.unit, confidence)[1] / n)
        low = max(low, bounds[0])
    elif np.ptp(values) == 0:
        low, high = unseen_interval(values[0], size, bounds)
    else:
        low, high = skewed_interval(
            part.influence, confidence=confidence, bounds=bounds, n_effective=size, bias=part.bias
        )
    seen = (value, values[0]) if np.ptp(values) == 0 else (value,)
    return OffPolicyEstimate(value, min(low, *seen), max(high, *seen), size, part.events)


def _counts(estimate: OffPolicyEstimate) -> tuple[str, str]:
    return f"{estimate.effective_size:,.0f}", "" if np.isnan(estimate.events) else f"{estimate.events:,.0f}"
