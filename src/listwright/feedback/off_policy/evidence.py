"""What a log says about a policy, list by list.

`gains_of` prepares all that does not depend on the policy (`LoggedGains`, with the outcome model); `evidence` adds the
policy's view (`Evidence`: ratios of chances and model predictions), from which `estimators` computes every estimate.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from listwright._internal.arrays import Bools, Floats, Floats32, Ints
from listwright.feedback.answered import AnsweredLists, runs
from listwright.feedback.drawing import Given
from listwright.feedback.off_policy.outcome_model import OutcomeModel, fit_outcomes, seen_along, with_few_items
from listwright.feedback.off_policy.targets import Target
from listwright.walk.plain import walk

THREADS = 2


@dataclass(frozen=True, eq=False)
class LoggedGains:
    """A log with its outcome model: everything that does not depend on the evaluated policy."""

    logged: AnsweredLists
    gains: Floats  # (lists, positions): 0 behind the end of a list, and behind the stop of a user
    alive: Bools  # same shape: the position has an item, and the user had not stopped before
    stops: bool  # whether users stop at the first click, so that a list is worth 1 or 0
    model: OutcomeModel
    seen: list[Floats32]  # by position: what the model sees of the shown items
    own: Floats  # (lists, positions): what the model says of them

    @property
    def values(self) -> Floats:
        """The value of each logged list."""
        return self.gains.sum(axis=1)

    @property
    def most(self) -> float:
        """The largest possible value of a list."""
        return 1.0 if self.stops else float((self.logged.rows >= 0).sum(axis=1).max())

    def __len__(self) -> int:
        return len(self.gains)


@dataclass(frozen=True, eq=False)
class Evidence:
    """A policy's view of a log: arrays of shape (lists, positions)."""

    log: LoggedGains
    ratios: (
        Floats  # chance of the shown item under the policy / its propensity, given the items before; 1 behind the end
    )
    same_slot: Floats  # the chance that the policy, left alone, shows the item in this slot
    any_slot: Floats  # and in any slot
    policy: Floats  # what the model says of the policy's next item after the logged ones, on average over its chances
    path: Floats  # and of the items of the policy's own list
    path_seen: list[Floats32]  # by position: what the model sees of the items of that list

    @property
    def weights(self) -> Floats:
        """Importance weights: the product of the ratios up to each position."""
        return self.ratios.cumprod(axis=1)


def gains_of(logged: AnsweredLists, *, cascade: bool, value: str) -> LoggedGains:
    """Prepare a log for the estimators."""
    gains, stops = np.nan_to_num(logged.outcomes), cascade or value == "any"
    before = np.cumsum(gains, axis=1) - gains
    if value == "any":
        gains = np.where(before > 0, 0.0, gains)
    alive = (logged.rows >= 0) & ((before == 0) if stops else True)
    logged = replace(logged, problems=with_few_items(logged.problems, logged.rows))
    model, seen = fit_outcomes(logged, gains, alive)
    lists = np.arange(len(logged))
    own = np.stack([model.predict(table, lists, j) for j, table in enumerate(seen)], axis=1)
    return LoggedGains(logged, gains, alive, stops, model, seen, np.where(alive, own, 0.0))


def evidence(log: LoggedGains, target: Target) -> Evidence:
    """Compute a policy's evidence by walking along the logged lists and along its own, in chunks on two threads."""
    with ThreadPoolExecutor(THREADS) as pool:
        parts = list(pool.map(lambda which: _part(log, which, target), runs(log.logged.problems)))
    names = ("ratios", "same_slot", "any_slot", "policy", "path")
    whole = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    seen = [np.concatenate(tables) for tables in zip(*(part.path_seen for part in parts), strict=True)]
    return Evidence(log, path_seen=seen, **whole)


def _part(log: LoggedGains, which: Ints, target: Target) -> Evidence:
    """Compute the evidence of some of the lists."""
    logged = log.logged.take(which)
    shown = logged.rows >= 0
    ratios, policy = np.ones(shown.shape), np.zeros(shown.shape)
    chances = list(target.chances(logged))
    for position, row_chances in enumerate(chances):
        some, picks = shown[:, position], logged.rows[:, position]
        ratios[some, position] = row_chances[picks[some]] / logged.propensities[some, position]
    for position, (rows, told) in enumerate(_predicted(log, logged, which, chances)):
        owners = logged.problems.owners[rows]
        policy[:, position] = np.bincount(owners, told * chances[position][rows], minlength=len(which))
    lists = target.lists(logged)
    own = replace(logged, rows=lists.rows)
    seen = seen_along(own, log.model.features)
    path = np.stack([log.model.predict(table, which, j) for j, table in enumerate(seen)], axis=1)
    return Evidence(
        log,
        ratios=ratios,
        same_slot=lists.same_slot(logged),
        any_slot=lists.any_slot(logged),
        policy=np.where(shown, policy, 0.0),
        path=np.where(lists.rows >= 0, path, 0.0),
        path_seen=seen,
    )


def _predicted(
    log: LoggedGains, logged: AnsweredLists, which: Ints, chances: list[Floats]
) -> Iterator[tuple[Ints, Floats]]:
    """Yield by position the candidates that the policy may show after the logged items, and their predicted gains."""
    # Rows that the policy never shows are dropped before the walk.
    wanted = np.zeros(logged.problems.n_rows, dtype=bool)
    wanted[logged.rows[logged.rows >= 0]] = True
    for row_chances in chances:
        wanted |= row_chances > 0
    kept = np.flatnonzero(wanted)
    small = logged.only(kept)
    rng = np.random.default_rng(0)  # the walk asks for one; given lists draw nothing
    steps = walk(small.problems, log.model.features, Given(small.rows), length=len(chances), rng=rng)
    for step in steps:
        some = np.flatnonzero(chances[step.position][kept] > 0)
        owners = which[small.problems.owners[some]]
        yield kept[some], log.model.predict(step.rows.written_out()[some], owners, step.position)
