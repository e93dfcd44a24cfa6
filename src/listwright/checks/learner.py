"""The laws of learners."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from listwright._internal.arrays import Floats, Ints, RandomState, as_generator
from listwright.checks.base import LawBroken
from listwright.features import Crossed, Rows
from listwright.learners import Learner
from listwright.learners.examples import Examples
from listwright.policies import Policy

STATES, ITEMS = 40, 6


def check_learner(learner: Learner, *, n_rounds: int = 60, random_state: RandomState = 0) -> None:
    """Looks for a law that a learner breaks; raises `LawBroken` with the first one found.

    It leaves the object that it was cloned from alone; the same examples give the same policy; scores are finite; a
    round in which nothing can be learned does no harm; and on easy examples, where one item is best in every state, its
    policies come to pick that item more often than by chance.

    Examples
    --------
    >>> import listwright as lw
    >>> check_learner(lw.learners.RidgeLeader())
    """
    before = repr(vars(learner))
    first, second = (_taught(clone(learner), n_rounds, random_state) for _ in range(2))
    if repr(vars(learner)) != before:
        raise LawBroken("clone", "Learning changed the learner that was cloned.")
    rows = _rows(as_generator(1))
    (one, scores), (other, _) = _picked(first, rows), _picked(second, rows)
    if not np.array_equal(one, other):
        raise LawBroken("same", "The same examples gave two different policies.")
    if scores.shape != (len(rows.owners),) or not np.isfinite(scores).all():
        raise LawBroken("finite", f"Scores must be one finite number a row. Got shape {scores.shape}.")
    share = float(np.mean(one == _best_rows(rows)))
    if share <= 1.5 / ITEMS:
        raise LawBroken("learns", f"The best item was picked in {share:.0%} of easy states: no better than by chance.")


def _taught(learner: Learner, n_rounds: int, random_state: RandomState) -> Policy:
    rng, policy = as_generator(random_state), learner.first_policy()
    for number in range(n_rounds):
        rows = _rows(rng)
        picks, _ = policy.drawn(STATES, rng).pick(rows, np.ones(len(rows.owners), dtype=bool), 0, rng)
        learned = np.full(STATES, number != 1)  # in the second round nothing can be learned
        learner.learn(
            Examples(
                rows, _gains(rows), 0.5, 0, np.ones(len(rows.owners), dtype=bool), picks, learned, np.arange(STATES) % 5
            )
        )
        policy = learner.policy()
    return policy


def _rows(rng: np.random.Generator) -> Rows:
    """States in which item 2 is the best, and a feature says how good an item is."""
    owners = np.repeat(np.arange(STATES), ITEMS)
    items = np.tile(np.arange(ITEMS), STATES)
    table = rng.random((STATES * ITEMS, 2)).astype(np.float32)
    table[:, 0] = items == 2
    states = np.ones((STATES, 1), dtype=np.float32)
    return Rows(table, owners, np.arange(STATES + 1) * ITEMS, Crossed(items, ITEMS, states))


def _gains(rows: Rows) -> Floats:
    return 0.1 + 0.8 * rows.table[:, 0].astype(np.float64)


def _best_rows(rows: Rows) -> Ints:
    return rows.offsets[:-1] + 2


def _picked(policy: Policy, rows: Rows) -> tuple[Ints, Floats]:
    rng = np.random.default_rng(2)
    return policy.drawn(STATES, rng).pick(rows, np.ones(len(rows.owners), dtype=bool), 0, rng)
