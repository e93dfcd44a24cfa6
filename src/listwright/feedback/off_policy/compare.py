"""Several policies side by side on one log: values, paired differences and advice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, RandomState, as_generator
from listwright._internal.pictures import altair
from listwright.errors import InputError
from listwright.evaluation.intervals import none_if_nan
from listwright.evaluation.table import Table
from listwright.feedback.log import Log
from listwright.feedback.off_policy.estimates import Difference, OffPolicyEstimate
from listwright.feedback.off_policy.estimators import estimators
from listwright.feedback.off_policy.evaluate import evaluation_of, least_varying, logged_estimate, ways_of
from listwright.feedback.off_policy.evidence import Evidence, LoggedGains, evidence
from listwright.feedback.off_policy.propensities import check_arguments, known_gains
from listwright.feedback.off_policy.rollout import against_log, difference
from listwright.feedback.off_policy.targets import as_target

LOGGED = "logged"


@dataclass(frozen=True, eq=False)
class PolicyComparison:
    """The result of `compare`: what lists of each policy are worth, and how far it is ahead of the baseline.

    Print it for a table with advice; use `table()` or `to_dict()` for further processing and `plot()` for a chart.

    Attributes
    ----------
    estimates : dict of str to OffPolicyEstimate
        The estimated value per list of each policy.
    differences : dict of str to Difference
        For every policy but the baseline.
    baseline : str
        The policy that others are compared with.
    n_lists : int
        Lists of the log that have an outcome.

    See Also
    --------
    compare : Makes it.
    Difference : The verdict on one policy.

    Examples
    --------
    >>> both = {"new": OffPolicyEstimate(1.5, 1.4, 1.6, 180.0), "old": OffPolicyEstimate(1.1, 1.0, 1.2, 900.0)}
    >>> ahead = Difference(0.4, 0.3, 0.5, 180.0, "roll out", "Roll out new: against old it brings +0.400 per list.")
    >>> comparison = PolicyComparison(both, {"new": ahead}, baseline="old", n_lists=900)
    >>> comparison.advice
    'Roll out new: against old it brings +0.400 per list.'
    """

    estimates: dict[str, OffPolicyEstimate]
    differences: dict[str, Difference]
    baseline: str
    n_lists: int

    @property
    def advice(self) -> str:
        """What to do about each policy, in plain sentences."""
        return " ".join(estimate.advice for estimate in self.differences.values())

    def table(self) -> Table:
        """Return one row per policy: value, interval, effective size, events, lead over the baseline, and verdict."""
        nothing = Difference(0.0, np.nan, np.nan, np.nan, "", "")
        apart = [self.differences.get(name, nothing) for name in self.estimates]
        values = list(self.estimates.values())
        columns: dict[str, Any] = {"policy": np.array(list(self.estimates))}
        for name in ("value", "low", "high", "effective_size", "events"):
            columns[name] = np.array([getattr(estimate, name) for estimate in values])
        for name in ("value", "low", "high"):
            columns["ahead" if name == "value" else f"ahead_{name}"] = np.array([getattr(gap, name) for gap in apart])
        columns["verdict"] = np.array([estimate.verdict for estimate in apart])
        return Table(columns)

    def plot(self) -> Any:
        """Return an altair chart of the values and of the differences to the baseline, with intervals. Needs altair."""
        alt = altair()
        values = _dots(alt, "value per list", self.estimates)
        if not self.differences:
            return values
        return alt.vconcat(values, _dots(alt, f"ahead of {self.baseline}, per list", self.differences, zero=True))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold, with None for NaN."""
        rows = [
            {name: none_if_nan(value) if isinstance(value, float) else value for name, value in row.items()}
            for row in self.table().records()
        ]
        return {"policies": rows, "baseline": self.baseline, "n_lists": self.n_lists, "advice": self.advice}

    def __str__(self) -> str:
        return f"{self.table()}\n{self.advice}"


def compare(
    log: Log,
    policies: Mapping[str, Any],
    *,
    baseline: str | None = None,
    value: str = "sum",
    propensity: str = "logged",
    confidence: float = 0.95,
    random_state: RandomState = 0,
) -> PolicyComparison:
    """Estimate what lists of several policies are worth to the same visitors, and whether to roll one out.

    Differences are paired list by list, so that variation between visitors cancels out: a difference can be clear where
    the intervals of the two values overlap. Use `evaluate` for all estimators of one policy.

    Parameters
    ----------
    log : Log
        Lists that were shown with known chances.
    policies : dict
        At least two policies by name, as `evaluate` takes them; "logged" stands for the policy that showed the log's
        lists.
    baseline : str, optional
        The name of the policy to compare with; by default the "logged" one, or else the first.
    value, propensity, confidence, random_state
        As in `evaluate`; `propensity="examination"` is not supported.

    Returns
    -------
    PolicyComparison
        With `table()`, `plot()`, `differences` and `advice`: roll out, do not, or how many more lists (or how much
        exploration) it would take to tell.

    Raises
    ------
    InputError
        If there are fewer than two policies, the baseline is unknown, or the log has no usable lists.

    See Also
    --------
    evaluate : One policy by all estimators.
    safe_rollout : How far to move towards a new policy when the log has too little evidence for all of it.

    Examples
    --------
    >>> import listwright as lw
    >>> rng = np.random.default_rng(0)
    >>> problems = lw.Problems.from_arrays(rng.random((3000, 4, 2)))
    >>> shown = lw.OnlineSCP(length=2, random_state=0).recommend(problems, list_ids=[str(i) for i in range(3000)])
    >>> log = lw.feedback.Log()
    >>> log.append(shown)
    >>> _ = log.feedback(shown.list_ids, rng.random(shown.rows.shape) < problems.features[shown.rows, 0])
    >>> new = lw.OnlineSCP(length=2, random_state=0).fit_log(log)
    >>> print(compare(log, {"new": new.predict, "old": "logged"}).advice)
    Roll out new: against old it brings +0.397 per list (+0.324 to +0.441). 262 lists and 564 clicks speak for new.
    """
    check_arguments(log, value, confidence, propensity)
    first = _validate_policies(policies, baseline)
    known, looked = known_gains(log, value, propensity)
    if looked is not None:
        raise InputError("compare takes logged or estimated propensities, not examination.")
    seed = int(as_generator(random_state).integers(2**62))
    seen_of = {name: _estimate_policy(known, policy, seed, confidence, propensity) for name, policy in policies.items()}
    differences = {name: _difference(seen_of, (name, first), known, confidence) for name in seen_of if name != first}
    return PolicyComparison({name: seen.estimate for name, seen in seen_of.items()}, differences, first, len(known))


def _validate_policies(policies: Mapping[str, Any], baseline: str | None) -> str:
    if not isinstance(policies, Mapping) or len(policies) < 2:
        raise InputError(
            f'Give at least two policies by name, such as {{"new": model, "old": "logged"}}. Got {policies!r:.80}.'
        )
    if baseline is None:
        logged = [name for name, policy in policies.items() if isinstance(policy, str) and policy == LOGGED]
        return logged[0] if logged else next(iter(policies))
    if baseline not in policies:
        raise InputError(f"baseline must be one of {', '.join(map(str, policies))}. Got {baseline!r}.")
    return baseline


class _PolicyEvidence(NamedTuple):
    estimate: OffPolicyEstimate
    ways: tuple[Floats, Floats]  # by list: what it is compared by
    seen: Evidence | None  # None for the policy of the log itself


def _estimate_policy(log: LoggedGains, policy: Any, seed: int, confidence: float, propensity: str) -> _PolicyEvidence:
    """Estimate one policy's value; for "logged", the plain mean of the log."""
    if isinstance(policy, str) and policy == LOGGED:
        return _PolicyEvidence(logged_estimate(log, confidence), (log.values, log.values), None)
    seen = evidence(log, as_target(policy, seed))
    parts = estimators(seen)
    value = evaluation_of(seen, parts, confidence, propensity).value
    return _PolicyEvidence(value, ways_of(log, parts), seen)


def _difference(
    seen: Mapping[str, _PolicyEvidence], names: tuple[str, str], log: LoggedGains, confidence: float
) -> Difference:
    new, old = (seen[name] for name in names)
    apart = least_varying(new.ways, old.ways)
    if new.seen is not None and old.seen is None:
        return against_log(names, new.estimate, old.estimate, apart, new.seen, confidence)
    return difference(names, new.estimate, old.estimate, apart, log, confidence)


def _dots(alt: Any, title: str, points: Mapping[str, Any], *, zero: bool = False) -> Any:
    rows = [
        {"policy": name} | {end: none_if_nan(getattr(point, end)) for end in ("value", "low", "high")}
        for name, point in points.items()
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(y=alt.Y("policy:N", title=None, sort=list(points)))
    scale = alt.Scale(zero=False)
    layers = [
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title, scale=scale), x2="high:Q"),
        base.mark_point(filled=True, size=80, opacity=1).encode(x=alt.X("value:Q", title=title, scale=scale)),
    ]
    if zero:
        layers.insert(0, alt.Chart(alt.Data(values=[{"at": 0}])).mark_rule(strokeDash=[4, 4]).encode(x="at:Q"))
    return alt.layer(*layers).properties(width=360, height=max(60, 32 * len(points)))
