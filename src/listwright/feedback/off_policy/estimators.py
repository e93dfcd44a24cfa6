"""What each logged list says of another policy's value, by estimator.

With r(i) the gain at position i, ratio(i) the chance of the shown item under the policy over its propensity, and
w(i) the product of the ratios up to i:

- slate IPS: w(last) * sum of r(i). Right on average whatever makes users click; large variance.
- per position (reward interaction, McInerney et al. 2020): sum of w(i) * r(i). Right where a gain depends only on the
  items up to its position, as marginal gains do.
- pseudo-inverse (Swaminathan et al. 2017): the value of the list times a weight that is right on average where the
  value of a list is the sum of what each slot's item brings there on its own.
- direct: what a model of outcomes says of the policy's own lists. No weights at all, and all of the model's bias.
- doubly robust: what the model says, and the weighted errors that it makes on the logged lists. `per_position_dr`
  corrects the gain of each position alone, `cascade_dr` (Kiyohara et al. 2022) also what it leaves for later ones.
- switch (Wang et al. 2017): the same, without the corrections whose weights are too large.

Self-normalised estimates divide the weights of each position by their mean, which is 1 in the long run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats
from listwright.feedback.off_policy.evidence import Evidence

CAPS = (500.0, 200.0, 100.0, 50.0, 20.0, 10.0, 5.0, 2.0, 1.0)  # weights that `switch` may stop at
SUPPORT = 0.9  # of the mean weight, within three standard errors
PLAIN_SUPPORT = 0.99  # the same for weights that are not normalised, where all that falls short is missing
SLOT_SUPPORT = 0.5  # the same for single slots, whose items may have been shown in an earlier one
SHARE = 0.05  # of the value, from which on a position counts
ENOUGH = 30.0  # lists of equal weight, from which on weights can tell that the model is wrong
AGREE = 2.0  # standard errors around two estimates that meet where they agree
PLENTY = 1 / 3  # of the lists, as effective size, from which on there is little variance to save by accepting bias


class InfluenceValues(NamedTuple):
    """An estimate written as a mean over lists, from which its standard error follows."""

    influence: Floats  # by list: the estimate is their mean, and their spread is that of the estimate times sqrt(lists)
    effective_size: float  # lists of equal weight that say as much; 0 where no list says anything
    bias: float = 0.0  # how far the estimate is off beyond chance, where that can be checked

    @property
    def value(self) -> float:
        """The estimate: the mean influence."""
        return float(self.influence.mean())

    @property
    def error(self) -> float:
        """The standard error of the estimate."""
        return float(self.influence.std() / np.sqrt(len(self.influence)))


def estimators(evidence: Evidence, *, clip: float | None = None) -> dict[str, InfluenceValues]:
    """Compute all estimates of a policy's value.

    Parameters
    ----------
    evidence : Evidence
        The policy's view of the log.
    clip : float, optional
        The largest weight of the clipped estimate; by default the square root of the number of lists (Ionides 2008).

    Returns
    -------
    dict of str to Parts
        By the names of `OffPolicyEvaluation`'s attributes.
    """
    log, weights = evidence.log, evidence.weights
    last, values = weights[:, -1], log.values
    size = least_effective(weights, evidence)
    capped = np.minimum(weights, np.sqrt(len(log)) if clip is None else clip)
    parts = {
        "direct": InfluenceValues(_direct(evidence), size),
        "slate_ips": InfluenceValues(last * values, support_size(last, PLAIN_SUPPORT)),
        "self_normalised": InfluenceValues(_ratio(last * values, last), support_size(last)),
        "pseudo_inverse": _pseudo_inverse(evidence),
        "per_position_ips": InfluenceValues(
            (weights * log.gains).sum(axis=1), least_effective(weights, evidence, PLAIN_SUPPORT)
        ),
        "per_position_sn": InfluenceValues(normalise(weights, log.gains), size),
        "clipped": InfluenceValues(normalise(capped, log.gains), size),  # clipping does not add evidence
        "per_position_dr": InfluenceValues(_per_position_dr(evidence), size),
    }
    start, errors = temporal_errors(evidence)
    parts["cascade_dr"] = InfluenceValues(start + normalise(weights, errors), size)
    parts["switch"] = InfluenceValues(_switch(parts, start, weights, errors), size)
    if weights.shape[1] > 1:  # a single slot is drawn as the pseudo-inverse takes it
        parts["pseudo_inverse"] = _with_bias(parts["pseudo_inverse"], parts["cascade_dr"])
    return parts


def effective_size(weights: Floats) -> float:
    """Return (sum w)^2 / sum w^2, the number of equally weighted lists that say as much; 0 where all weights are 0."""
    total = float((weights**2).sum())
    return float(weights.sum()) ** 2 / total if total > 0 else 0.0


def least_effective(weights: Floats, evidence: Evidence, least: float = SUPPORT) -> float:
    """Return the smallest effective size over the positions that matter, each with the support that `supported`
    asks.
    """
    share = path_gains(evidence).mean(axis=0)
    telling = np.flatnonzero(share >= SHARE * share.sum())
    return min(support_size(weights[:, j], least) for j in telling)


def support_size(weights: Floats, least: float = SUPPORT) -> float:
    """Return the effective size, or 0 where the weights fall short of their expected mean of 1."""
    # A mean clearly below `least` shows that the policy shows what the log never does, so no reweighting can represent
    # it.
    reach = weights.mean() + 3.0 * weights.std() / np.sqrt(len(weights))
    return effective_size(weights) if reach >= least else 0.0


def path_gains(evidence: Evidence) -> Floats:
    """Return what each item of the policy's own list is predicted to add, (lists, positions)."""
    path = evidence.path
    if not evidence.log.stops:
        return path
    reached = np.cumprod(1.0 - path, axis=1)
    return path * np.concatenate([np.ones((len(path), 1)), reached[:, :-1]], axis=1)


def temporal_errors(evidence: Evidence) -> tuple[Floats, Floats]:
    """Return the model's value of each list, and by position how far the model is off after one more item."""
    log = evidence.log
    later = np.cumsum(path_gains(evidence)[:, ::-1], axis=1)[:, ::-1]
    reach = np.cumprod(1.0 - evidence.path, axis=1) if log.stops else np.ones_like(later)
    rest = np.concatenate([later[:, 1:], np.zeros((len(log), 1))], axis=1)
    rest = np.divide(rest, reach, out=np.zeros_like(rest), where=reach > 1e-12)

    def worth(gain: Floats) -> Floats:
        return np.where(log.alive, gain + (1.0 - gain if log.stops else 1.0) * rest, 0.0)

    policy = worth(evidence.policy)
    ahead = np.concatenate([policy[:, 1:], np.zeros((len(log), 1))], axis=1)
    return policy[:, 0], np.where(log.alive, log.gains + ahead - worth(log.own), 0.0)


def _per_position_dr(evidence: Evidence) -> Floats:
    """Return the sum of w(i) * (r(i) - q(i)) + w(i - 1) * the policy's mean of q(i)."""
    log, weights = evidence.log, evidence.weights
    before = np.concatenate([np.ones((len(log), 1)), weights[:, :-1]], axis=1)
    policy = np.where(log.alive, evidence.policy, 0.0)
    return normalise(weights, log.gains - log.own) + normalise(before, policy)


def _direct(evidence: Evidence) -> Floats:
    """Return the predicted value of each list plus the logged list's influence on it through the model's weights."""
    log, values = evidence.log, path_gains(evidence).sum(axis=1)
    total = values.copy()
    for j, (seen, inverse) in enumerate(zip(evidence.path_seen, log.model.inverses, strict=True)):
        predicted = evidence.path[:, j]
        slope = predicted * (1.0 - (values if log.stops else predicted))  # of the value, by the log-odds of the click
        pull = len(log) * inverse @ (seen.astype(np.float64) * slope[:, None]).mean(axis=0)
        wrong = np.where(log.alive[:, j], log.gains[:, j] - log.own[:, j], 0.0)
        total += (log.seen[j].astype(np.float64) @ pull) * wrong
    return total - total.mean() + values.mean()


def _switch(parts: dict[str, InfluenceValues], start: Floats, weights: Floats, errors: Floats) -> Floats:
    """Choose the lowest cap on correction weights whose estimate agrees with all higher ones (Su et al. 2020)."""
    robust = parts["cascade_dr"]
    if robust.effective_size >= PLENTY * len(start):
        return robust.influence
    ways = [robust]
    ways += [
        InfluenceValues(start + (np.where(weights <= cap, weights, 0.0) * errors).sum(axis=1), 0.0) for cap in CAPS
    ]
    ways += [parts["direct"]]
    if robust.effective_size < ENOUGH:
        return ways[-1].influence
    chosen, low, high = robust, -np.inf, np.inf
    for way in ways:
        low, high = max(low, way.value - AGREE * way.error), min(high, way.value + AGREE * way.error)
        if low > high:
            break
        chosen = way
    return chosen.influence


def _pseudo_inverse(evidence: Evidence) -> InfluenceValues:
    """Self-normalised: sum of g * value / sum of g, with g the weight of the whole list."""
    log = evidence.log
    shown = log.logged.rows >= 0
    chances = np.where(shown, log.logged.propensities, 1.0)
    n, m = log.logged.problems.counts.astype(np.float64), shown.sum(axis=1).astype(np.float64)
    even = np.where(shown, 1.0 / np.maximum(n[:, None] - np.arange(shown.shape[1]), 1.0), 1.0)
    if np.allclose(chances, even, rtol=1e-6):
        same, anywhere = evidence.same_slot.sum(axis=1), evidence.any_slot.sum(axis=1)
        m = np.maximum(m, 1.0)
        spread = np.divide(n * (n - 1), n - m, out=np.zeros_like(n), where=n > m)
        weights = 1.0 + spread * (anywhere / m - m / n) + (n - 1) * (same - anywhere / m)
    else:
        slots = np.where(shown, evidence.same_slot / chances, 1.0)
        weights = 1.0 + (_over(slots, slots.mean(axis=0)) - 1.0).sum(axis=1)
        if min(support_size(slots[:, j], SLOT_SUPPORT) for j in range(slots.shape[1])) == 0:
            return InfluenceValues(np.zeros(len(log)), 0.0)
    return InfluenceValues(_ratio(weights * log.values, weights), effective_size(weights) if weights.sum() > 0 else 0.0)


def _with_bias(part: InfluenceValues, robust: InfluenceValues) -> InfluenceValues:
    """Return an estimate with its bias: how far it is from a robust one, if that is more than one standard error."""
    if part.effective_size == 0 or robust.effective_size < ENOUGH:
        return part
    apart = InfluenceValues(part.influence - robust.influence, 0.0)
    return part._replace(bias=abs(apart.value) if abs(apart.value) > apart.error else 0.0)


def normalise(weights: Floats, gains: Floats) -> Floats:
    """Return the sum over positions of sum(w * r) / sum(w), written as a mean over lists."""
    return sum(
        (_ratio(weights[:, j] * gains[:, j], weights[:, j]) for j in range(gains.shape[1])), np.zeros(len(gains))
    )


def _ratio(parts: Floats, totals: Floats) -> Floats:
    """Linearise sum(parts) / sum(totals) as a mean over lists; 0 where nothing has any weight."""
    mean = float(totals.mean())
    if mean <= 0:
        return np.zeros_like(parts)
    value = float(parts.mean()) / mean
    return value + (parts - value * totals) / mean


def _over(parts: Floats, totals: Floats) -> Floats:
    """Divide elementwise, with 0 where the divisor is 0."""
    parts, totals = np.broadcast_arrays(parts, totals)
    return np.divide(parts, totals, out=np.zeros(parts.shape), where=totals > 1e-12)
