"""From a `TrainingUpdate` to a prepared call of a learner: what can fail does so before anything is learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, Floats32, Ints, fold_of
from listwright._kernels.rows import earlier_distances
from listwright.errors import InputError
from listwright.features import Candidate, Crossed, Distance, Features, Identity, Position, Rows, Volume
from listwright.feedback.answered import AnsweredLists
from listwright.feedback.drawing import ReplayPolicy
from listwright.feedback.gain_ridge import GainLearner
from listwright.feedback.updates import TrainingUpdate
from listwright.learners import Learner
from listwright.learners.examples import Examples
from listwright.problems import Problems
from listwright.training.loop import Round
from listwright.training.round import Training
from listwright.walk.lists import walk

LOCAL = (Candidate, Distance, Position, Volume, Identity)
QUICK = (Candidate, Distance, Position)  # what a few lines tell of the shown items alone


def shown_rows(features: Features, problem: Problems, picks: Ints) -> Rows:
    """Return one row per item of one list: what is seen of the item given the items before it."""
    parts = features.fitted_parts()
    if all(type(part) in QUICK for part in parts) and not sparse.issparse(problem.features):
        own = problem.features[picks]
        tables = [_columns(part, problem, own) for part in parts]
        return _alone(tables[0] if len(tables) == 1 else np.concatenate(tables, axis=1), None)
    return _walk_along(features, problem, picks)


def _columns(part: Features, problem: Problems, own: Floats32) -> Floats32:
    """Compute the columns of one kind of features for the shown items, bit for bit as the fold would."""
    if isinstance(part, Position):
        table = np.ones((len(own), 2), dtype=np.float32)
        table[1:, 1] = 0.0
        return table
    if isinstance(part, Distance):
        smallest, mean = earlier_distances(part.scale_.apply(own))
        if part.minimum and part.mean:
            return np.concatenate([smallest, mean], axis=1)
        return smallest if part.minimum else mean
    assert isinstance(part, Candidate)
    table = part.scale_.apply(own)
    if part.context_scale_ is None or problem.context is None:
        return table
    context = part.context_scale_.apply(problem.context)
    return np.concatenate([table, np.repeat(context, len(own), axis=0)], axis=1)


def _walk_along(features: Features, problem: Problems, picks: Ints) -> Rows:
    tables, items, states, n_items = [], [], [], 0
    rng = np.random.default_rng(0)  # the walk asks for one; a given list draws nothing
    for step in walk(problem, features, ReplayPolicy(picks[None]), length=len(picks), rng=rng):
        pick = int(step.picks[0])
        tables.append(step.rows.table[pick])
        if step.rows.crossed is not None:
            items.append(step.rows.crossed.items[pick])
            states.append(step.rows.crossed.states[0])
            n_items = step.rows.crossed.n_items
    crossed = Crossed(np.array(items), n_items, np.stack(states)) if items else None
    return _alone(np.stack(tables), crossed)


@dataclass(frozen=True, eq=False)
class ShownItems:
    """Revealed items of many lists, ordered by list and position."""

    rows: Rows  # states of their own: each item given the items before it
    numbers: Ints  # by row: its list, from 0
    positions: Ints  # by row: its position, from 0


def shown_items(features: Features, logged: AnsweredLists, revealed: Bools) -> ShownItems:
    parts = features.fitted_parts()
    logged = logged.only_shown() if all(_is_local(part) for part in parts) else logged
    tables, crosses, lists, positions = [], [], [], []
    rng = np.random.default_rng(0)  # the walk asks for one; given lists draw nothing
    length = int(revealed.sum(axis=1).max())
    policy = ReplayPolicy(logged.rows)
    for step in walk(logged.problems, features, policy, length=length, rng=rng, budgets=logged.budgets):
        which = np.flatnonzero(revealed[:, step.position])
        picks = logged.rows[which, step.position]
        tables.append(step.rows.table[picks])
        lists.append(which)
        positions.append(np.full(len(which), step.position))
        if step.rows.crossed is not None:
            crosses.append((step.rows.crossed.items[picks], step.rows.crossed.states[which], step.rows.crossed.n_items))
    numbers = np.concatenate(lists)
    order = np.lexsort((np.concatenate(positions), numbers))
    crossed = None
    if crosses:
        items, states = (np.concatenate([cross[k] for cross in crosses])[order] for k in (0, 1))
        crossed = Crossed(items, crosses[0][2], states)
    rows = _alone(np.concatenate(tables)[order], crossed)
    return ShownItems(rows, numbers[order], np.concatenate(positions)[order])


def _is_local(part: Features) -> bool:
    """Return whether these features are independent of candidates that were not shown."""
    return type(part) in LOCAL and "candidates" not in getattr(part, "cross", ())


def _alone(table: Floats32, crossed: Crossed | None) -> Rows:
    return Rows(table, np.arange(len(table)), np.arange(len(table) + 1), crossed)


PendingUpdate = Callable[[], None]


@dataclass(frozen=True)
class UpdateQueue:
    """Answered lists as rounds of the training loop, in order."""

    # Each list is one round, so that the policy is updated between lists. For a regression of gains, whose examples do
    # not depend on the current policy, all lists form one round and the weights are solved for once.

    pending: list[PendingUpdate]

    def rounds(self, training: Training, n_passes: int, done: int = 0) -> Iterator[Round]:
        rng = np.random.default_rng(0)
        each = [self.pending] if isinstance(training.learner, GainLearner) else [[update] for update in self.pending]
        for some in each:
            yield Round(len(some), rng, partial(_apply, some))

    def value(self, training: Training) -> None:
        """Return None: nothing is held out to validate on."""


def _apply(pending: list[PendingUpdate], training: Training) -> None:
    for update in pending:
        update()
    training.ledger.taught |= bool(pending)


def pending_update(
    learner: Learner, features: Features, record: TrainingUpdate, weights: Floats, *, per_size: bool
) -> PendingUpdate | None:
    seen = len(record.outcomes)
    if not seen:
        return None
    gains, unit = record.outcomes, np.ones(seen)
    if per_size and record.problem.sizes is not None:
        unit = record.problem.sizes[record.picks[:seen]]
        gains = gains / unit
    if isinstance(learner, GainLearner):
        rows = shown_rows(features, record.problem, record.picks[:seen])
        fold = fold_of(record.list_id)
        if record.earlier is not None:
            return partial(learner.revise, rows, record.earlier / unit, gains, weights, fold, record.weight)
        return partial(learner.reveal, rows, gains, weights, fold, record.weight)
    if record.earlier is not None:
        raise InputError(
            f"List {record.list_id} was learned from, and {type(learner).__name__} cannot change what it learned."
        )
    return partial(_learn_all, learner, _examples(features, record, gains, weights * record.weight))


def _learn_all(learner: Learner, examples: list[Examples]) -> None:
    for example in examples:
        learner.learn(example)


def _examples(features: Features, record: TrainingUpdate, gains: Floats, weights: Floats) -> list[Examples]:
    problem = record.problem
    budgets = None if record.budget is None else np.array([record.budget])
    rng = np.random.default_rng(0)  # the walk asks for one; a given list draws nothing
    examples = []
    for step in walk(problem, features, ReplayPolicy(record.picks[None]), length=len(gains), rng=rng, budgets=budgets):
        by_row = np.zeros(problem.n_rows)
        by_row[step.picks] = gains[step.position]
        weight, chances = float(weights[step.position]), record.propensities[[step.position]]
        learned = np.ones(1, dtype=bool)
        examples.append(
            Examples(step.rows, by_row, weight, step.position, step.options, step.picks, learned, chances=chances)
        )
    return examples
