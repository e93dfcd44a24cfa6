"""The laws of learners."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats, Ints, RandomState, as_generator
from listwright._internal.parameters import clone
from listwright.checks.base import LawBroken
from listwright.features import Crossed, Rows
from listwright.learners import Learner
from listwright.learners.examples import Examples
from listwright.policies import Policy

STATES, ITEMS = 40, 6


def check_learner(learner: Learner, *, n_rounds: int = 60, random_state: RandomState = 0) -> None:
    """Test a learner on simple made-up examples, and raise `LawBroken` at the first law that it breaks.

    Use it in the tests of your own `Learner` class. The laws: learning changes the clone only; the same examples give
    the same policy; scores are finite; a round without anything to learn does no harm; and where one item is best in
    every state, its policies pick that item more often than by chance.

    Parameters
    ----------
    learner : Learner
        The learner to test; it is cloned.
    n_rounds : int, default 60
        Rounds of examples that the learner gets.
    random_state : int, numpy.random.Generator or None, default 0
        Seed of the examples.

    Raises
    ------
    LawBroken
        If a law is broken.

    See Also
    --------
    check_features : The same for features.
    check_reward : The same for rewards.

    Examples
    --------
    >>> import listwright as lw
    >>> check_learner(lw.learners.RidgeFTRL())
    """
    before = repr(vars(learner))
    first, second = (_teach(clone(learner), n_rounds, random_state) for _ in range(2))
    if repr(vars(learner)) != before:
        raise LawBroken("clone", "Learning changed the learner that was cloned.")
    rows = _rows(as_generator(1))
    (one, scores), (other, _) = _picks(first, rows), _picks(second, rows)
    if not np.array_equal(one, other):
        raise LawBroken("same", "The same examples gave two different policies.")
    if scores.shape != (len(rows.owners),) or not np.isfinite(scores).all():
        raise LawBroken("finite", f"Scores must be one finite number per row. Got shape {scores.shape}.")
    share = float(np.mean(one == _best_rows(rows)))
    if share <= 1.5 / ITEMS:
        raise LawBroken("learns", f"The best item was picked in {share:.0%} of easy states: no better than by chance.")


def _teach(learner: Learner, n_rounds: int, random_state: RandomState) -> Policy:
    """Return the policy of a learner after `n_rounds` rounds; in the second round there is nothing to learn."""
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
    """Return made-up states of `ITEMS` candidates in which item 2 is best, and in which the first column marks it."""
    owners = np.repeat(np.arange(STATES), ITEMS)
    items = np.tile(np.arange(ITEMS), STATES)
    table = rng.random((STATES * ITEMS, 2)).astype(np.float32)
    table[:, 0] = items == 2
    states = np.ones((STATES, 1), dtype=np.float32)
    return Rows(table, owners, np.arange(STATES + 1) * ITEMS, Crossed(items, ITEMS, states))


def _gains(rows: Rows) -> Floats:
    """Return the gains of the made-up rows: 0.9 for item 2, and 0.1 for the others."""
    return 0.1 + 0.8 * rows.table[:, 0].astype(np.float64)


def _best_rows(rows: Rows) -> Ints:
    """Return the row of item 2 of each state."""
    return rows.offsets[:-1] + 2


def _picks(policy: Policy, rows: Rows) -> tuple[Ints, Floats]:
    """Return the policy's picks and scores in all states."""
    rng = np.random.default_rng(2)
    return policy.drawn(STATES, rng).pick(rows, np.ones(len(rows.owners), dtype=bool), 0, rng)
