"""From the record of a shown list to what a learner takes: only what was revealed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from zlib import crc32

import numpy as np

from listwright._internal.arrays import Floats
from listwright.features import Features
from listwright.feedback.gain_ridge import GainRidge
from listwright.feedback.given import Given
from listwright.feedback.records import Record
from listwright.feedback.shown import shown_rows
from listwright.learners import Learner
from listwright.learners.examples import FOLDS, Examples
from listwright.walk.plain import walk

Lesson = Callable[[], None]


def lesson_of(learner: Learner, features: Features, record: Record, weights: Floats, *, per_size: bool) -> Lesson:
    """What adds one list to what a learner knows, once it is called: what may fail is done before.

    `weights`: by position, as long as what was revealed.
    """
    seen = len(record.outcomes)
    if not seen:
        return _nothing
    gains = record.outcomes
    if per_size and record.problem.sizes is not None:
        gains = gains / record.problem.sizes[record.picks[:seen]]
    if isinstance(learner, GainRidge):
        rows = shown_rows(features, record.problem, record.picks[:seen])
        return partial(learner.reveal, rows, gains, weights, crc32(record.list_id.encode()) % FOLDS)
    return partial(_learn_round, learner, _examples(features, record, gains, weights))


def _nothing() -> None:
    """Nothing was revealed."""


def _learn_round(learner: Learner, examples: list[Examples]) -> None:
    for one in examples:
        learner.learn(one)
    learner.policy()  # ends the round


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
