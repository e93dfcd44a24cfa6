"""Propensities for logs: those logged, or estimated from how often items are shown or by a conditional logit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Bools, Floats, Ints, solve
from listwright._internal.extras import warn
from listwright._internal.threads import one_thread
from listwright.errors import InputError
from listwright.features import Candidate, Distance, Features, Sum
from listwright.feedback.answered import AnsweredLists
from listwright.feedback.drawing import ReplayPolicy
from listwright.feedback.log import Log
from listwright.feedback.off_policy.estimates import EvidenceWarning, warn_missing
from listwright.feedback.off_policy.evidence import LoggedGains, gains_of, item_columns
from listwright.feedback.off_policy.examination import looks
from listwright.problems import Problems
from listwright.walk.lists import walk

ESTIMATED = ("frequency", "model")
PROPENSITIES = ("logged", *ESTIMATED, "examination")
FITTED_ON = 200_000  # candidates that the model of the logging policy is fitted on
PENALTY = 1.0
STEPS = 20
LEAST = 1e-4  # chances below this are taken for this much
OFF_BY = 1.25  # factor of the sensitivity figure


def with_propensities(logged: AnsweredLists, propensity: str) -> AnsweredLists:
    if propensity != "logged":
        chances = _frequencies(logged) if propensity == "frequency" else _model_choices(logged)
        return replace(logged, propensities=np.where(logged.rows >= 0, np.clip(chances, LEAST, 1.0), np.nan))
    missing: Bools = np.any(np.isnan(logged.propensities) & (logged.rows >= 0), axis=1)
    if missing.all():
        raise InputError(
            "No list of this log has propensities. Log the chance of each pick, as recommend gives it; or pass "
            'propensity="model" to estimate them, which is less reliable.'
        )
    if not missing.any():
        return logged
    warn_missing(int(missing.sum()), len(missing), "are left out")
    return logged.take(np.flatnonzero(~missing))


def check_propensity(propensity: str) -> None:
    if propensity not in PROPENSITIES:
        raise InputError(f"propensity must be one of {', '.join(PROPENSITIES)}. Got {propensity!r}.")


def sensitivity(weights: Floats, values: Floats, factor: float = OFF_BY) -> tuple[float, float]:
    """Bound the sum over positions of sum(w * r) / sum(w), if each weight were off by up to `factor` either way."""
    ends = [_extremes(weights[:, j], values[:, j], factor) for j in range(values.shape[1])]
    return sum(low for low, _ in ends), sum(high for _, high in ends)


def _extremes(weights: Floats, values: Floats, factor: float) -> tuple[float, float]:
    order = np.argsort(values, kind="stable")
    weights, values = weights[order], values[order]
    if not weights.sum() > 0:
        return 0.0, 0.0

    def most(weights: Floats, values: Floats) -> Floats:
        """For each cut: the mean with the weights behind it times the factor, and those before it over it."""
        above, mass = np.cumsum((weights * values)[::-1])[::-1], np.cumsum(weights[::-1])[::-1]
        total, all_mass = above[0], mass[0]
        up, down = factor, 1.0 / factor
        return (down * (total - above) + up * above) / (down * (all_mass - mass) + up * mass)

    return -float(most(weights[::-1], -values[::-1]).max()), float(most(weights, values).max())


def _frequencies(logged: AnsweredLists) -> Floats:
    """Return, by position, the share of lists that showed the item there among those that still could."""
    items, count = _codes(logged.problems)
    open_rows, chances = np.ones(len(items), dtype=bool), np.ones(logged.rows.shape)
    for position, picks in enumerate(logged.rows.T):
        some = picks >= 0
        there = np.bincount(items[open_rows & some[logged.problems.owners]], minlength=count)
        shown = np.bincount(items[picks[some]], minlength=count)
        chances[some, position] = ((shown + 0.5) / (there + 1.0))[items[picks[some]]]
        open_rows[picks[some]] = False
    return chances


def _codes(problems: Problems) -> tuple[Ints, int]:
    known: NDArray[Any] | None = problems.catalogue if problems.catalogue is not None else problems.item_ids
    if known is None:
        raise InputError('propensity="frequency" counts items, but these have no ids. Pass propensity="model".')
    names, codes = np.unique(known.astype(str) if known.dtype == object else known, return_inverse=True)
    return codes.astype(np.int64), len(names)


def _model_choices(logged: AnsweredLists) -> Floats:
    """Estimate chances by a multinomial choice model among the open candidates, with the same weights for all slots."""
    if (logged.problems.counts <= (logged.rows >= 0).sum(axis=1)).all():
        raise InputError(
            "This log has no candidates besides those shown, so it is unknown what else could have been shown. Log all "
            'candidates, or pass propensity="frequency".'
        )
    features = _features(logged)
    size = max(1, min(len(logged), int(FITTED_ON * len(logged) / logged.problems.n_rows)))
    some = logged.take(np.unique(np.linspace(0, len(logged) - 1, size).astype(np.int64)))
    weights = _choice_weights(some, features)
    chances = np.ones(logged.rows.shape)
    for start in range(0, len(logged), size):
        which = np.arange(start, min(start + size, len(logged)))
        for position, (_, shares, picks, _, _) in enumerate(_choices(logged.take(which), features, weights)):
            shown = picks >= 0
            chances[which[shown], position] = shares[picks[shown]]
    if np.nanmedian(chances) > 0.99:
        warn(
            "The lists of this log look as if nothing had been drawn at random: they say little about other policies.",
            EvidenceWarning,
        )
    return chances


def _features(logged: AnsweredLists) -> Features:
    problems = logged.problems
    parts: list[Features] = [Candidate(), Distance()] if problems.n_features else []
    return Sum([*parts, *item_columns(logged)]).fit(problems[: min(5000, len(problems))])


def _choice_weights(logged: AnsweredLists, features: Features) -> Floats:
    weights: Floats | None = None
    with one_thread():
        for _ in range(STEPS):
            slope: Any = 0.0
            curve: Any = 0.0
            for table, shares, picks, owners, offsets in _choices(logged, features, weights):
                means = np.add.reduceat(table * shares[:, None], offsets[:-1])
                shown = np.flatnonzero(picks >= 0)
                used = np.isin(owners, shown)
                slope = slope + (table[picks[shown]] - means[shown]).sum(axis=0)
                apart = (table - means[owners])[used]
                curve = curve + (apart * shares[used, None]).T @ apart
            current = np.zeros(len(slope)) if weights is None else weights
            step = solve(curve + PENALTY * np.eye(len(slope)), slope - PENALTY * current)
            weights = current + step
            if np.abs(step).max(initial=0.0) < 1e-6:
                break
    assert weights is not None
    return weights


def _choices(logged: AnsweredLists, features: Features, weights: Floats | None) -> Any:
    rng = np.random.default_rng(0)  # the walk asks for one; given lists draw nothing
    problems = logged.problems
    for step in walk(problems, features, ReplayPolicy(logged.rows), length=logged.rows.shape[1], rng=rng):
        table = step.rows.written_out().astype(np.float64)
        scores = np.zeros(len(table)) if weights is None else table @ weights
        scores = np.where(step.options, scores, -np.inf)
        best = np.maximum.reduceat(scores, problems.offsets[:-1])
        mass = np.exp(scores - np.where(np.isfinite(best), best, 0.0)[problems.owners])
        total = np.add.reduceat(mass, problems.offsets[:-1])
        shares = mass / np.where(total > 0, total, 1.0)[problems.owners]
        yield table, shares, step.picks, problems.owners, problems.offsets


VALUES = ("sum", "any")


def check_arguments(log: Log, value: str, confidence: float, propensity: str) -> None:
    if not isinstance(log, Log):
        raise InputError(f"log must be a listwright.feedback.Log. Got {type(log).__name__}.")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must be between 0 and 1. Got {confidence!r}.")
    if value not in VALUES:
        raise InputError(f"value must be one of {', '.join(VALUES)}. Got {value!r}.")
    check_propensity(propensity)


def known_gains(log: Log, value: str, propensity: str) -> tuple[LoggedGains, Floats | None]:
    """Return the log as estimators take it, and the examination of each position where it is needed."""
    logged = log.answered_lists()
    if propensity != "examination":
        return gains_of(with_propensities(logged, propensity), cascade=log.cascade, value=value), None
    if log.cascade or value == "any":
        raise InputError('propensity="examination" is for lists that are worth the sum of their clicks.')
    if np.isnan(logged.propensities[logged.rows >= 0]).any():  # then nothing else can be said
        logged = replace(logged, propensities=np.where(logged.rows >= 0, 1.0, np.nan))
    return gains_of(logged, cascade=False, value=value), looks(logged)
