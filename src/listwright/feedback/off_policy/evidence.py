"""What a log says about a policy, list by list: `LoggedGains` is its part without the policy, `Evidence` adds that."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy

from listwright._internal.arrays import FOLDS, Bools, Floats, Floats32, Ints, folds_of, solve
from listwright._internal.threads import one_thread
from listwright.features import Features, Identity, Position, Sum
from listwright.features.auto import paper_features
from listwright.features.identity import IdentitySeen
from listwright.feedback.answered import AnsweredLists, runs
from listwright.feedback.drawing import ReplayPolicy
from listwright.feedback.off_policy.targets import LoggedChances, Target
from listwright.problems import Problems
from listwright.walk.lists import walk

PENALTY = 1.0  # on the squared weights, of standardised columns
STEPS = 25  # of Newton's method at most
FITTED_ON = 20_000  # lists that scales are taken from
MANY_ITEMS = 256  # items of a catalogue that have a column of their own


@dataclass(frozen=True, eq=False)
class OutcomeRegression:
    """Logistic regressions per position and fold; a list is predicted by the one fitted without its fold."""

    features: Features  # what is seen of an item, given the items before it
    folds: Ints  # which fold each list of the log is in
    weights: list[Floats]  # by position: the regression fitted without each fold
    # by position: the inverse of the penalised Hessian on all lists, from which the model's own variance follows
    inverses: list[Floats]

    def predict(self, table: Floats32, owners: Ints, position: int) -> Floats:
        weights = self.weights[position]
        by_fold = scipy.special.expit(table.astype(np.float64) @ weights.T)
        return by_fold[np.arange(len(table)), self.folds[owners]]


def fit_outcomes(logged: AnsweredLists, gains: Floats, alive: Bools) -> tuple[OutcomeRegression, list[Floats32]]:
    features = _features(logged)
    tables = seen_along(logged, features)
    folds = folds_of(logged.list_ids)
    with one_thread():
        fitted = [_fit(table.astype(np.float64), gains[:, j], alive[:, j], folds) for j, table in enumerate(tables)]
    return OutcomeRegression(features, folds, *map(list, zip(*fitted, strict=True))), tables


def seen_along(logged: AnsweredLists, features: Features) -> list[Floats32]:
    """Return, by position, the feature table of the items of given lists, (lists, columns)."""
    small = logged.only_shown()
    rng = np.random.default_rng(0)  # the walk asks for one; given lists draw nothing
    shown, tables = small.rows >= 0, []
    for step in walk(small.problems, features, ReplayPolicy(small.rows), length=shown.shape[1], rng=rng):
        table = step.rows.written_out()
        tables.append(np.where(shown[:, step.position, None], table[small.rows[:, step.position]], np.float32(0)))
    empty = np.zeros_like(tables[0])
    return tables + [empty] * (shown.shape[1] - len(tables))


class ItemColumns(Identity):
    """Which item a candidate is: a column for each of those shown most often, and one for all others."""

    def __init__(self, codes: Ints) -> None:
        super().__init__()
        self.codes = codes  # by item: its column; the last entry is for items beyond

    def fit(self, problems: Problems) -> Self:
        self.n_items_, self.kept_, self.scales_ = int(self.codes.max()) + 1, {}, {}
        return self

    def start(self, problems: Problems) -> IdentitySeen:
        assert problems.catalogue is not None
        return super().start(problems.with_catalogue(self.codes[np.minimum(problems.catalogue, len(self.codes) - 1)]))


def item_columns(logged: AnsweredLists) -> list[Features]:
    """Return what tells the items of a catalogue apart, if there is one."""
    problems = logged.problems
    if problems.catalogue is None:
        return [] if problems.n_features else [Identity()]  # whose fit says what is missing
    counts = np.bincount(problems.catalogue[logged.rows[logged.rows >= 0]], minlength=problems.n_items + 1)
    own = np.sort(np.argsort(-counts, kind="stable")[: MANY_ITEMS - 1])
    codes = np.full(len(counts), len(own))
    codes[own] = np.arange(len(own))
    return [ItemColumns(codes)]


def _features(logged: AnsweredLists) -> Features:
    """Return fitted features that depend only on the items of a list; the other candidates are not needed."""
    some = logged.problems[: min(FITTED_ON, len(logged))]
    return Sum([paper_features() if some.n_features else Position(), *item_columns(logged)]).fit(some)


def _fit(table: Floats, gains: Floats, alive: Bools, folds: Ints) -> tuple[Floats, Floats]:
    """Return the weights fitted without each fold, (folds, columns), and the inverse Hessian on all lists."""
    rows = np.flatnonzero(alive)
    table, gains, folds = table[rows], gains[rows], folds[rows]
    weights = np.zeros(table.shape[1])
    for _ in range(STEPS):
        slope, curve = _sums(table, gains, weights)
        step = solve(curve + PENALTY * np.eye(len(curve)), slope - PENALTY * weights)
        weights = weights + step
        if np.abs(step).max(initial=0.0) < 1e-8:
            break
    parts = [_sums(table[folds == k], gains[folds == k], weights) for k in range(FOLDS)]
    slope, curve = _sums(table, gains, weights)
    inverse = solve(curve + PENALTY * np.eye(len(curve)), np.eye(len(curve)))
    without = [
        weights + solve(curve - own[1] + PENALTY * np.eye(len(curve)), slope - own[0] - PENALTY * weights)
        for own in parts
    ]
    return np.stack(without), inverse


def _sums(table: Floats, gains: Floats, weights: Floats) -> tuple[Floats, Floats]:
    predicted = scipy.special.expit(table @ weights)
    return table.T @ (gains - predicted), (table * (predicted * (1.0 - predicted))[:, None]).T @ table


THREADS = 2


@dataclass(frozen=True, eq=False)
class LoggedGains:
    """A log with its outcome model: everything that does not depend on the evaluated policy."""

    logged: AnsweredLists
    gains: Floats  # (lists, positions): 0 behind the end of a list, and behind the stop of a user
    alive: Bools  # same shape: the position has an item, and the user had not stopped before
    stops: bool  # whether users stop at the first click, so that a list is worth 1 or 0
    model: OutcomeRegression
    seen: list[Floats32]  # by position: what the model sees of the shown items
    own: Floats  # (lists, positions): what the model says of them

    @property
    def values(self) -> Floats:
        return self.gains.sum(axis=1)

    @property
    def most(self) -> float:
        return 1.0 if self.stops else float((self.logged.rows >= 0).sum(axis=1).max())

    def __len__(self) -> int:
        return len(self.gains)


@dataclass(frozen=True, eq=False)
class Evidence:
    """A policy's view of a log: arrays of shape (lists, positions)."""

    log: LoggedGains
    ratios: Floats  # the policy's chance of the shown item / its propensity, given those before; 1 behind the end
    same_slot: Floats  # the chance that the policy, left alone, shows the item in this slot
    any_slot: Floats  # and in any slot
    policy: Floats  # what the model says of the policy's next item after the logged ones, on average over its chances
    path: Floats  # and of the items of the policy's own list
    path_seen: list[Floats32]  # by position: what the model sees of the items of that list
    has_path: bool = True  # whether the policy's own lists are known

    @property
    def weights(self) -> Floats:
        return self.ratios.cumprod(axis=1)


def gains_of(logged: AnsweredLists, *, cascade: bool, value: str) -> LoggedGains:
    gains, stops = np.nan_to_num(logged.outcomes), cascade or value == "any"
    before = np.cumsum(gains, axis=1) - gains
    if value == "any":
        gains = np.where(before > 0, 0.0, gains)
    alive = (logged.rows >= 0) & ((before == 0) if stops else True)
    model, seen = fit_outcomes(logged, gains, alive)
    lists = np.arange(len(logged))
    own = np.stack([model.predict(table, lists, j) for j, table in enumerate(seen)], axis=1)
    return LoggedGains(logged, gains, alive, stops, model, seen, np.where(alive, own, 0.0))


def evidence(log: LoggedGains, target: Target) -> Evidence:
    target = target.suit(log.logged.problems)
    with ThreadPoolExecutor(THREADS) as pool:
        parts = list(pool.map(lambda which: _part(log, which, target), runs(log.logged.problems)))
    names = ("ratios", "same_slot", "any_slot", "policy", "path")
    whole = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    seen = [np.concatenate(tables) for tables in zip(*(part.path_seen for part in parts), strict=True)]
    return Evidence(log, path_seen=seen, has_path=not isinstance(target, LoggedChances), **whole)


def _part(log: LoggedGains, which: Ints, target: Target) -> Evidence:
    logged = log.logged.take(which)
    shown = logged.rows >= 0
    ratios, policy = np.ones(shown.shape), np.zeros(shown.shape)
    chances = list(target.chances(logged))
    for position, row_chances in enumerate(chances):
        some, picks = shown[:, position], logged.rows[:, position]
        ratios[some, position] = row_chances[picks[some]] / logged.propensities[some, position]
    for position, (rows, predicted) in enumerate(_predict_candidates(log, logged, which, chances)):
        owners = logged.problems.owners[rows]
        policy[:, position] = np.bincount(owners, predicted * chances[position][rows], minlength=len(which))
    if isinstance(target, LoggedChances):  # of one item, the logged one: its weighted prediction is right on average
        policy = np.where(shown, ratios * log.own[which], 0.0)
    lists = target.lists(logged)
    own = replace(logged, rows=lists.rows)
    seen = seen_along(own, log.model.features)
    path = np.stack([log.model.predict(table, which, j) for j, table in enumerate(seen)], axis=1)
    return Evidence(
        log,
        ratios=ratios,
        same_slot=lists.same_slot,
        any_slot=lists.any_slot(),
        policy=np.where(shown, policy, 0.0),
        path=np.where(lists.rows >= 0, path, 0.0),
        path_seen=seen,
    )


def _predict_candidates(
    log: LoggedGains, logged: AnsweredLists, which: Ints, chances: list[Floats]
) -> Iterator[tuple[Ints, Floats]]:
    # Rows that the policy never shows are dropped before the walk.
    wanted = np.zeros(logged.problems.n_rows, dtype=bool)
    wanted[logged.rows[logged.rows >= 0]] = True
    for row_chances in chances:
        wanted |= row_chances > 0
    kept = np.flatnonzero(wanted)
    small = logged.only(kept)
    rng = np.random.default_rng(0)  # the walk asks for one; given lists draw nothing
    steps = walk(small.problems, log.model.features, ReplayPolicy(small.rows), length=len(chances), rng=rng)
    for step in steps:
        some = np.flatnonzero(chances[step.position][kept] > 0)
        owners = which[small.problems.owners[some]]
        yield kept[some], log.model.predict(step.rows.written_out()[some], owners, step.position)
