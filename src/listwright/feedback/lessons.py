"""From the record of a shown list to what a learner takes: only what was revealed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, Floats32, Ints
from listwright._internal.folds import fold_of
from listwright._kernels.distances import earlier_distances
from listwright.errors import InputError
from listwright.features import Candidate, Crossed, Distance, Features, Identity, Position, Rows, Volume
from listwright.feedback.drawing import Given
from listwright.feedback.gain_ridge import GainLearner
from listwright.feedback.log import Answered
from listwright.feedback.records import Record
from listwright.learners import Learner
from listwright.learners.examples import Examples
from listwright.problems import Problems
from listwright.training.round import Training
from listwright.training.sources import Round
from listwright.walk.plain import walk

LOCAL = (Candidate, Distance, Position, Volume, Identity)
QUICK = (Candidate, Distance, Position)  # what a few lines tell of the shown items alone


def shown_rows(features: Features, problem: Problems, picks: Ints) -> Rows:
    """One row an item of one list, each of a state of its own: the item given the items before it.

    Examples
    --------
    >>> from listwright.features import Distance
    >>> problem = Problems.from_arrays([[1.0], [3.0], [4.0]], offsets=[0, 3])
    >>> features = Distance(standardize=False).fit(problem)
    >>> shown_rows(features, problem, np.array([0, 2, 1])).table
    array([[0. , 0. ],
           [3. , 3. ],
           [1. , 1.5]], dtype=float32)
    """
    parts = features.fitted_parts()
    if all(type(part) in QUICK for part in parts) and not sparse.issparse(problem.features):
        own = problem.features[picks]
        tables = [_columns(part, problem, own) for part in parts]
        return _alone(tables[0] if len(tables) == 1 else np.concatenate(tables, axis=1), None)
    return _walked(features, problem, picks)


def _columns(part: Features, problem: Problems, own: Floats32) -> Floats32:
    """The same numbers as the fold's, to the last bit."""
    if isinstance(part, Position):
        table = np.ones((len(own), 2), dtype=np.float32)
        table[1:, 1] = 0.0
        return table
    if isinstance(part, Distance):
        smallest, mean = earlier_distances(part.scale_.apply(own))
        return (
            np.concatenate([smallest, mean], axis=1)
            if part.minimum and part.mean
            else smallest
            if part.minimum
            else mean
        )
    assert isinstance(part, Candidate)
    table = part.scale_.apply(own)
    if part.context_scale_ is None or problem.context is None:
        return table
    context = part.context_scale_.apply(problem.context)
    return np.concatenate([table, np.repeat(context, len(own), axis=0)], axis=1)


def _walked(features: Features, problem: Problems, picks: Ints) -> Rows:
    """Any features: through the walk."""
    tables, items, states, n_items = [], [], [], 0
    rng = np.random.default_rng(0)  # the walk asks for one; a given list draws nothing
    for step in walk(problem, features, Given(picks[None]), length=len(picks), rng=rng):
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
    """Shown items of many lists, in order of the lists."""

    rows: Rows  # states of their own: each item given the items before it
    numbers: Ints  # by row: its list, from 0
    positions: Ints  # by row: its position, from 0


def shown_items(features: Features, logged: Answered, revealed: Bools) -> ShownItems:
    """What the policy saw of the items of many lists at the time they were picked.

    Parameters
    ----------
    revealed : array of shape (lists, positions)
        The items that are wanted.
    """
    parts = features.fitted_parts()
    logged = logged.only_shown() if all(_is_local(part) for part in parts) else logged
    tables, crosses, lists, positions = [], [], [], []
    rng = np.random.default_rng(0)  # the walk asks for one; given lists draw nothing
    length = int(revealed.sum(axis=1).max())
    for step in walk(logged.problems, features, Given(logged.rows), length=length, rng=rng, room=logged.rooms):
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
        items, states = (np.concatenate([one[k] for one in crosses])[order] for k in (0, 1))
        crossed = Crossed(items, crosses[0][2], states)
    rows = _alone(np.concatenate(tables)[order], crossed)
    return ShownItems(rows, numbers[order], np.concatenate(positions)[order])


def _is_local(part: Features) -> bool:
    """Whether candidates that were not shown change nothing of what is seen."""
    return type(part) in LOCAL and "candidates" not in getattr(part, "cross", ())


def _alone(table: Floats32, crossed: Crossed | None) -> Rows:
    n = len(table)
    return Rows(table, np.arange(n), np.arange(n + 1), crossed)


Lesson = Callable[[], None]


@dataclass(frozen=True)
class Lessons:
    """A stream of feedback as rounds of learning: the lists that were answered, in order.

    Each list is a round of its own; of a regression, which does not depend on the policy in use, all are one.
    """

    lessons: list[Lesson]

    def rounds(self, training: Training, n_passes: int, done: int = 0) -> Iterator[Round]:
        """Nothing is drawn: the lists were built before."""
        rng = np.random.default_rng(0)
        each = [self.lessons] if isinstance(training.learner, GainLearner) else [[lesson] for lesson in self.lessons]
        for some in each:
            yield Round(len(some), rng, partial(_teach, some))

    def value(self, training: Training) -> None:
        """Nothing is held out."""


def _teach(lessons: list[Lesson], training: Training) -> None:
    for lesson in lessons:
        lesson()
    training.ledger.taught |= bool(lessons)


def lesson_of(
    learner: Learner, features: Features, record: Record, weights: Floats, *, per_size: bool
) -> Lesson | None:
    """What adds one list to what a learner knows, once it is called: what may fail is done before.

    `weights`: by position, as long as what was revealed. None where nothing was.
    """
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
            return partial(learner.revise, rows, record.earlier / unit, gains, weights, fold)
        return partial(learner.reveal, rows, gains, weights, fold)
    if record.earlier is not None:
        raise InputError(
            f"List {record.list_id} was learned from, and {type(learner).__name__} cannot change what it learned."
        )
    return partial(_learn_all, learner, _examples(features, record, gains, weights))


def _learn_all(learner: Learner, examples: list[Examples]) -> None:
    for one in examples:
        learner.learn(one)


def _examples(features: Features, record: Record, gains: Floats, weights: Floats) -> list[Examples]:
    """One a revealed position, with the chance that the pick had when it was shown."""
    problem = record.problem
    room = None if record.room is None else np.array([record.room])
    rng = np.random.default_rng(0)  # the walk asks for one; a given list draws nothing
    examples = []
    for step in walk(problem, features, Given(record.picks[None]), length=len(gains), rng=rng, room=room):
        by_row = np.zeros(problem.n_rows)
        by_row[step.picks] = gains[step.position]
        examples.append(
            Examples(
                rows=step.rows,
                gains=by_row,
                weight=float(weights[step.position]),
                position=step.position,
                options=step.options,
                picks=step.picks,
                learned=np.ones(1, dtype=bool),
                chances=record.propensities[[step.position]],
            )
        )
    return examples
