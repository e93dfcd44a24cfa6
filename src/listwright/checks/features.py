"""The laws of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._internal.arrays import Floats32, Ints, RandomState, as_generator
from listwright._internal.parameters import clone
from listwright.checks.base import LawBroken, random_picks, snapshot
from listwright.features import Features, Rows
from listwright.problems import Problems

LONG = 4  # length of the random lists


def check_features(features: Features, problems: Problems, *, n_trials: int = 5, random_state: RandomState = 0) -> None:
    """Tests features on random lists, and raises `LawBroken` at the first law that they break.

    Use it in the tests of your own `Features` class. The laws: every row has its columns, finite float32 numbers with
    one name each; `add` does not change the state it is given; a pick of -1 changes nothing for its problem; a problem
    looks the same alone as in a batch; and nothing depends on a reward.

    Parameters
    ----------
    features : Features
        The features to test; they are cloned and fitted.
    problems : Problems
        The problems to build lists for.
    n_trials : int, default 5
        Number of random lists per problem.
    random_state : int, numpy.random.Generator or None, default 0
        Seed of the random lists.

    Raises
    ------
    LawBroken
        If a law is broken.

    See Also
    --------
    check_reward : The same for rewards.
    check_learner : The same for learners.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays(np.random.default_rng(0).random((3, 4, 2)))
    >>> check_features(lw.features.Candidate() + lw.features.Distance(), problems)
    """
    fitted, rng = clone(features).fit(problems), as_generator(random_state)
    for _ in range(n_trials):
        picks: list[Ints] = []
        seen = fitted.start(problems)
        for _ in range(LONG):
            rows = fitted.rows(seen)
            _shape(fitted, rows, problems)
            _same_alone(fitted, rows, problems, picks, int(rng.integers(len(problems))))
            _same_without_reward(fitted, rows, problems, picks)
            step = random_picks(problems, picks[-1] if picks else None, rng)
            seen = _pure_step(fitted, seen, rows, step)
            picks.append(step)


def _shape(features: Features, rows: Rows, problems: Problems) -> None:
    """Raise unless the columns are finite float32 with one row per candidate and one name per column."""
    table = rows.table
    if table.dtype != np.float32 or table.ndim != 2 or len(table) != problems.n_rows:
        got = f"{table.dtype} of shape {table.shape}"
        raise LawBroken("shape", f"Columns must be float32 with one row per candidate ({problems.n_rows}). Got {got}.")
    if len(features.names()) != table.shape[1]:
        raise LawBroken("names", f"There are {table.shape[1]} columns but {len(features.names())} names.")
    for part in (table, np.empty(0) if rows.crossed is None else rows.crossed.states):
        if not np.isfinite(part).all():
            raise LawBroken("finite", f"Columns must be finite. Got {part[~np.isfinite(part)][0]}.")


def _pure_step(features: Features, seen: Any, rows: Rows, picks: Ints) -> Any:
    """Add the picks and return the new state; raise if the old state changed, or a problem without a pick did."""
    kept = snapshot(seen)
    after = features.add(seen, picks)
    if any(array.tobytes() != before for array, before in kept) or not _equal(rows, features.rows(seen)):
        raise LawBroken("pure", "add changed what it was given: it must return something new.")
    still = (picks < 0)[rows.owners]
    if not _equal(rows, features.rows(after), still):
        raise LawBroken("no pick", "Columns of a problem changed without a pick: -1 must change nothing.")
    return after


def _same_alone(features: Features, rows: Rows, problems: Problems, picks: list[Ints], i: int) -> None:
    """Raise if problem i on its own, after its own picks, has other columns than within the batch."""
    alone = _after(features, problems[i], [step[i : i + 1] - problems.offsets[i] * (step[i] >= 0) for step in picks])
    mine = slice(problems.offsets[i], problems.offsets[i + 1])
    same = np.allclose(alone.table, rows.table[mine], rtol=1e-5, atol=1e-6)
    if rows.crossed is not None and alone.crossed is not None:
        same &= np.allclose(alone.crossed.states, rows.crossed.states[i], rtol=1e-5, atol=1e-6)
    if not same:
        name = problems.problem_ids[i]
        raise LawBroken("slice", f"Problem {name!s} looks different alone than in a batch: problems must not mix.")


def _same_without_reward(features: Features, rows: Rows, problems: Problems, picks: list[Ints]) -> None:
    """Raise if the columns differ when the problems have no reward."""
    if not _equal(rows, _after(features, problems.without_reward(), picks)):
        raise LawBroken("reward", "Columns differ when the reward is taken away: features must not look at it.")


def _after(features: Features, problems: Problems, picks: list[Ints]) -> Rows:
    """Return the rows of features after the given picks."""
    seen = features.start(problems)
    for step in picks:
        seen = features.add(seen, step)
    return features.rows(seen)


def _equal(one: Rows, other: Rows, where: Any = slice(None)) -> bool:
    """Return whether two sets of rows have exactly the same numbers."""
    same = np.array_equal(one.table[where], other.table[where])
    if one.crossed is None or other.crossed is None:
        return same and one.crossed is other.crossed
    return same and np.array_equal(_states(one)[where], _states(other)[where])


def _states(rows: Rows) -> Floats32:
    """Return the crossed state features of each row's problem."""
    assert rows.crossed is not None
    return rows.crossed.states[rows.owners]
