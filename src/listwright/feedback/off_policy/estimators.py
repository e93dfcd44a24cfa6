"""What each logged list says of another policy's value, by estimator.

With r(i) the gain at position i, ratio(i) the chance of the shown item under the policy over its propensity, and
w(i) the product of the ratios up to i:

- slate IPS: w(last) * sum of r(i). Right on average whatever makes users click; large variance.
- per position (reward interaction, McInerney et al. 2020): sum of w(i) * r(i). Right where a gain depends only on the
  items up to its position, as marginal gains do.
- pseudo-inverse (Swaminathan et al. 2017): the value of the list times a weight that is right on average where the
  value of a list is the sum of what each slot's item brings there on its own. Exact where lists were drawn evenly, or
  each slot from items of its own with chances that are always the same; for other logs the pairs of slots are not
  known, and slots are weighted by the items before them, as per position.
- adaptive (Kiyohara et al. 2023): for each group of visitors the weights of the user behaviour with the least estimated
  error: clicks that depend on the whole list, on the items up to a position, or on the item alone.
- direct: what a model of outcomes says of the policy's own lists. No weights at all, and all of the model's bias.
- doubly robust: what the model says, and the weighted errors that it makes on the logged lists. `per_position_dr`
  corrects the gain of each position alone, `cascade_dr` (Kiyohara et al. 2022) also what it leaves for later ones.
- shrinkage_dr (Su et al. 2020): `cascade_dr` with weights shrunk to lambda * w / (w^2 + lambda), with the lambda of the
  least estimated error.
- switch (Wang et al. 2017): `cascade_dr` without the corrections whose weights are too large.

Self-normalised estimates divide the weights of each position by their mean, which is 1 in the long run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright.feedback.off_policy.evidence import Evidence
from listwright.problems import Problems

CAPS = (500.0, 200.0, 100.0, 50.0, 20.0, 10.0, 5.0, 2.0, 1.0)  # weights that `switch` may stop at
SUPPORT = 0.9  # of the mean weight, within three standard errors
PLAIN_SUPPORT = 0.99  # the same for weights that are not normalised, where all that falls short is missing
SHARE = 0.05  # of the value, from which on a position counts
ENOUGH = 30.0  # lists of equal weight, from which on weights can tell that the model is wrong
AGREE = 2.0  # standard errors around two estimates that meet where they agree
STRENGTHS = tuple(10.0**power for power in np.arange(-1.0, 5.1, 0.5))  # of shrinkage: the smaller, the more
SMALLEST = 200  # lists of a group of visitors
SKEWED = 2.0  # how fast the bias of skewed weights grows with their skewness
PLENTY = 1 / 3  # of the lists, as effective size, from which on there is little variance to save by accepting bias


class InfluenceValues(NamedTuple):
    """An estimate written as a mean over lists, from which its standard error follows."""

    influence: Floats  # by list: the estimate is their mean, and their spread is that of the estimate times sqrt(lists)
    effective_size: float  # lists of equal weight that say as much; 0 where no list says anything
    events: float = np.inf  # clicks of equal weight that the estimate rests on
    unit: float = 1.0  # what one more click would add to the sum of influences
    bias: float = 0.0  # how far the estimate is off beyond chance, where that can be checked

    @property
    def value(self) -> float:
        return float(self.influence.mean())

    @property
    def error(self) -> float:
        return float(self.influence.std() / np.sqrt(len(self.influence)))


def estimators(evidence: Evidence, *, clip: float | None = None) -> dict[str, InfluenceValues]:
    log, weights = evidence.log, evidence.weights
    last = np.repeat(weights[:, -1:], weights.shape[1], axis=1)
    size, slate_size = least_effective(weights, evidence), support_size(weights[:, -1])
    capped = np.minimum(weights, np.sqrt(len(log)) if clip is None else clip)  # Ionides (2008)
    start, errors = temporal_errors(evidence)
    plain = support_size(weights[:, -1], PLAIN_SUPPORT), least_effective(weights, evidence, PLAIN_SUPPORT)
    by_weights = {
        "slate_ips": (last[:, 0] * log.values, last, plain[0]),
        "self_normalised": (_ratio(last[:, 0] * log.values, last[:, 0]), last, slate_size),
        "per_position_ips": ((weights * log.gains).sum(axis=1), weights, plain[1]),
        "per_position_sn": (normalise(weights, log.gains), weights, size),
        "clipped": (normalise(capped, log.gains), weights, size),  # clipping does not add evidence
        "per_position_dr": (_per_position_dr(evidence), weights, size),
        "cascade_dr": (start + normalise(weights, errors), weights, size),
        "direct": (_direct(evidence), weights, size),
    }
    parts = {name: with_events(influence, used, log.gains, n) for name, (influence, used, n) in by_weights.items()}
    robust = parts["cascade_dr"]
    if not evidence.has_path:
        robust = parts["cascade_dr"] = parts["per_position_dr"]
        parts["direct"] = robust._replace(effective_size=0.0)
    parts["pseudo_inverse"] = _pseudo_inverse(evidence, size)
    parts["adaptive"] = adaptive(evidence)
    parts["shrinkage_dr"] = parts["switch"] = robust
    if evidence.has_path:
        parts["shrinkage_dr"] = robust._replace(influence=start + (shrink(weights, errors) * errors).sum(axis=1))
        parts["switch"] = robust._replace(influence=_switch(parts, start, weights, errors))
    for name in ("pseudo_inverse", "adaptive") if weights.shape[1] > 1 else ():
        # Whether there is any click is no sum over slots, so there the pseudo-inverse assumes too much as well.
        sums = name == "pseudo_inverse" and not (log.stops and is_even(evidence))
        parts[name] = _with_bias(parts[name], robust, certain=sums)
    return parts


def with_events(influence: Floats, weights: Floats, gains: Floats, size: float) -> InfluenceValues:
    weighted, squares = weights * gains, float((weights**2).sum())
    events = float(np.abs(weighted).sum()) ** 2 / max(float((weighted**2).sum()), 1e-300)
    unit = squares / max(float(np.abs(weights).sum()), 1e-300) / max(float(weights.mean()), 1e-300)
    return InfluenceValues(influence, size, events, unit, _skewed_bias(weights, gains))


def _skewed_bias(weights: Floats, gains: Floats) -> float:
    """Return what weights that do not average 1 may hide: few lists of large weight, seen too seldom or too often."""
    apart, spread = weights - weights.mean(axis=0), np.maximum(weights.std(axis=0), 1e-12)
    skewness = (apart**3).mean(axis=0) / spread**3
    share = np.clip(SKEWED * skewness / np.sqrt(len(weights)), 0.0, 1.0)
    return float(np.linalg.norm(share * (weights.mean(axis=0) - 1.0) * gains.std(axis=0)))


def effective_size(weights: Floats) -> float:
    """Return (sum w)^2 / sum w^2, the number of equally weighted lists that say as much; 0 where all weights are 0."""
    total = float((weights**2).sum())
    return float(weights.sum()) ** 2 / total if total > 0 else 0.0


def least_effective(weights: Floats, evidence: Evidence, least: float = SUPPORT) -> float:
    """Return the smallest effective size over the positions that matter, each by `support_size`."""
    share = path_gains(evidence).mean(axis=0)
    telling = np.flatnonzero(share >= SHARE * share.sum())
    return min(support_size(weights[:, j], least) for j in telling)


def support_size(weights: Floats, least: float = SUPPORT) -> float:
    """Return the effective size, or 0 where the weights are clearly not 1 on average."""
    # A mean below `least` shows that the policy shows what the log never does, so no reweighting can represent it; one
    # above 1 / `least`, that candidates are missing from the log, or that its propensities are wrong.
    mean, reach = float(weights.mean()), 3.0 * float(weights.std()) / np.sqrt(len(weights))
    return effective_size(weights) if mean + reach >= least and mean - reach <= 1.0 / least else 0.0


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


def shrink(weights: Floats, errors: Floats) -> Floats:
    """Return weights shrunk optimistically, with the lambda whose squared bias and variance are the least together."""

    def mse(candidate: Floats) -> float:
        apart = ((weights - candidate) * errors).sum(axis=1)
        return float(apart.mean()) ** 2 + float((candidate * errors).sum(axis=1).var()) / len(errors)

    ways = [weights, *(shrunk_weights(weights, strength) for strength in STRENGTHS)]
    return min(ways, key=mse)


def shrunk_weights(weights: Floats, strength: float) -> Floats:
    return strength * weights / (weights**2 + strength)


def adaptive(evidence: Evidence) -> InfluenceValues:
    log, weights = evidence.log, evidence.weights
    slots, n = evidence.ratios, log.logged.problems.counts[:, None]
    if is_even(evidence):
        slots = np.where(log.logged.rows >= 0, evidence.same_slot * n, 1.0)
    behaviours = [np.repeat(weights[:, -1:], weights.shape[1], axis=1), weights, slots]
    used, influence = np.empty_like(weights), np.empty(len(log))
    for group in visitor_groups(log.logged.problems):
        chosen = _least_error([way[group] for way in behaviours], log.gains[group])
        used[group] = behaviours[chosen][group]
        influence[group] = normalise(used[group], log.gains[group])
    size = min(support_size(used[:, j]) for j in range(used.shape[1]))
    return with_events(influence, used, log.gains, size)


def visitor_groups(problems: Problems) -> list[Ints]:
    """Return the problems in groups of similar context: halves of halves by the columns that vary most."""
    groups = [np.arange(len(problems))]
    if problems.context is None:
        return groups
    widest = np.argsort(-problems.context.std(axis=0), kind="stable")[:2]
    for column in problems.context[:, widest].T.astype(np.float64):
        if min(map(len, groups)) < 2 * SMALLEST:
            break
        ordered = [group[np.argsort(column[group], kind="stable")] for group in groups]
        groups = [half for group in ordered for half in np.split(group, [len(group) // 2])]
    return groups


def _least_error(behaviours: list[Floats], gains: Floats) -> int:
    """Return the number of the behaviour of the least error, measured from the most general that has evidence."""
    ways = [InfluenceValues(normalise(way, gains), support_size(way[:, -1])) for way in behaviours]
    general = next((i for i, way in enumerate(ways) if way.effective_size >= ENOUGH), len(ways) - 1)

    def mse(way: InfluenceValues) -> float:
        apart = InfluenceValues(way.influence - ways[general].influence, 0.0)
        return max(apart.value**2 - apart.error**2, 0.0) + way.error**2

    return general + int(np.argmin([mse(way) for way in ways[general:]]))


def is_even(evidence: Evidence) -> bool:
    """Return whether the logged lists were drawn evenly, and the policy's own are known."""
    if not evidence.has_path:
        return False
    logged = evidence.log.logged
    shown = logged.rows >= 0
    left = np.maximum(logged.problems.counts[:, None] - np.arange(shown.shape[1]), 1.0)
    return bool(np.allclose(np.where(shown, logged.propensities * left, 1.0), 1.0, rtol=1e-6))


def is_independent(evidence: Evidence) -> bool:
    """Return whether each slot has items of its own, with the same chance in all lists."""
    logged = evidence.log.logged
    shown, problems = logged.rows >= 0, logged.problems
    slots, rows = np.nonzero(shown)[1], logged.rows[shown]
    ids = problems.catalogue if problems.catalogue is not None else problems.item_ids
    named = rows - problems.offsets[problems.owners[rows]] if ids is None else ids[rows]
    items = np.unique(named.astype(str) if named.dtype == object else named, return_inverse=True)[1]
    order = np.argsort(items, kind="stable")
    items, slots, chances = items[order], slots[order], logged.propensities[shown][order]
    again = np.diff(items) == 0
    alike = (np.diff(slots) == 0) & np.isclose(np.diff(chances), 0.0, atol=1e-9)
    totals = np.bincount(slots, np.where(np.append(True, ~again), chances, 0.0))
    return evidence.has_path and bool(alike[again].all() and (np.abs(totals - 1.0) < 1.0 - SUPPORT).all())


def _pseudo_inverse(evidence: Evidence, size: float) -> InfluenceValues:
    """Self-normalised: sum of g * value / sum of g, with g the weight of the whole list."""
    log = evidence.log
    shown = log.logged.rows >= 0
    n, m = log.logged.problems.counts.astype(np.float64), np.maximum(shown.sum(axis=1).astype(np.float64), 1.0)
    if is_even(evidence):
        same, anywhere = evidence.same_slot.sum(axis=1), evidence.any_slot.sum(axis=1)
        spread = np.divide(n * (n - 1), n - m, out=np.zeros_like(n), where=n > m)
        weights = 1.0 + spread * (anywhere / m - m / n) + (n - 1) * (same - anywhere / m)
    elif is_independent(evidence):
        ratios = np.where(shown, evidence.same_slot / log.logged.propensities, 1.0)
        if min(support_size(ratio) for ratio in ratios.T) == 0:
            return InfluenceValues(log.values, 0.0)
        weights = 1.0 + (ratios - 1.0).sum(axis=1)
    else:
        return with_events(normalise(evidence.weights, log.gains), evidence.weights, log.gains, size)
    size = effective_size(weights) if weights.sum() > 0 else 0.0
    return with_events(_ratio(weights * log.values, weights), weights[:, None], log.values[:, None], size)


def _with_bias(part: InfluenceValues, robust: InfluenceValues, *, certain: bool = True) -> InfluenceValues:
    """Add the bias: the distance to a robust estimate if that is clear; half the distance's error if not `certain`."""
    # Where nothing robust has evidence, an assumption that is not `certain` cannot be checked: there is no estimate.
    if part.effective_size == 0 or robust.effective_size < ENOUGH:
        return part if certain else part._replace(effective_size=0.0)
    apart = InfluenceValues(part.influence - robust.influence, 0.0)
    away = abs(apart.value) if abs(apart.value) > apart.error or not certain else 0.0
    return part._replace(bias=float(np.linalg.norm([part.bias, away, 0.0 if certain else 0.5 * apart.error])))


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
    # Divided by what the others weigh, as the jackknife does: a list of large weight pulls the estimate to itself.
    apart = (parts - value * totals) / mean / np.maximum(1.0 - totals / totals.sum(), 0.1)
    return value + apart - apart.mean()
