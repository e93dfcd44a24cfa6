"""The value of lists on problems whose reward is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from listwright._internal.arrays import FOLDS, Floats
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.rewards import AnySuccess, Reward, reward_of

T = TypeVar("T")
DIVISIONS = 9  # into folds, to measure a choice


def measure_lists(lists: Lists, problems: Problems) -> Lists:
    """Return the same lists with the gain of each pick under the problems' reward.

    Parameters
    ----------
    lists : Lists
        Lists for these problems, such as the result of `predict` on problems without a reward.
    problems : Problems
        The same problems with a reward.

    Returns
    -------
    Lists
        A copy whose `gains` and `values` are known.

    Raises
    ------
    InputError
        If the lists are for other problems, or if these have no reward.

    See Also
    --------
    list_values : The value of each list.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=lw.rewards.AnySuccess([[0, 0.5, 1]]))
    >>> measure_lists(Lists(problems, np.array([[1, 2]])), problems).gains
    [array([0.5, 0.5])]
    """
    if not np.array_equal(lists.problems.offsets, problems.offsets):
        raise InputError(f"These lists are for other problems: {lists.problems!r}. Got {problems!r}.")
    reward = reward_of(problems, "Measuring lists")
    state = reward.start(problems)
    gains, before = np.zeros(lists.rows.shape), reward.value(state)
    for position, picks in enumerate(lists.rows.T):
        state = reward.add(state, np.ascontiguousarray(picks))
        after = reward.value(state)
        gains[:, position], before = after - before, after
    return replace(lists, picked_gains=gains)


def failures(values: Floats, reward: Reward) -> Floats:
    """By list: 1 if it is worth nothing, else 0. Where items succeed with a probability, the chance that none does."""
    return 1.0 - values if isinstance(reward, AnySuccess) else (values <= 0).astype(np.float64)


def list_values(lists: Lists, problems: Problems) -> Floats:
    """Return what each list is worth under the problems' reward, shape (problems,).

    Parameters
    ----------
    lists : Lists
        Lists for these problems.
    problems : Problems
        Problems with a reward.

    Returns
    -------
    ndarray of float, shape (problems,)
        The values.

    See Also
    --------
    measure_lists : The gain of each pick.
    evaluate : All metrics, with intervals.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=lw.rewards.AnySuccess([[0, 0.5, 1]]))
    >>> list_values(Lists(problems, np.array([[0, 1]])), problems)
    array([0.5])
    """
    values = measure_lists(lists, problems).values
    assert values is not None
    return values


def cumulative_values(lists: Lists) -> Floats:
    """Return what each measured list is worth up to each position: shape (problems, positions)."""
    assert lists.picked_gains is not None
    return np.cumsum(np.where(lists.rows >= 0, lists.picked_gains, 0.0), axis=1)


def best_of(options: Sequence[T], values: Callable[[T], Floats]) -> T:
    return options[highest([values(option) for option in options])]


def highest(values: Sequence[Floats]) -> int:
    """Return the place of the values with the highest mean, the first of equal ones."""
    # Means are rounded, so that noise in sums breaks no tie.
    return int(np.argmax([round(float(np.mean(option)), 12) for option in values]))


def simplest(*criteria: Sequence[Floats], errors: float = 1.0) -> int:
    """Return the first that is within so many standard errors of the best by every criterion, else by the first."""

    def close(values: Sequence[Floats]) -> list[bool]:
        gaps = (paired_difference(values[highest(values)], option) for option in values)
        return [behind <= errors * error + 1e-12 for behind, error in gaps]

    by_criterion = [close(values) for values in criteria]
    by_all = [all(flags) for flags in zip(*by_criterion, strict=True)]
    return (by_all if any(by_all) else by_criterion[0]).index(True)


def values_of_choice(*criteria: Sequence[Floats], errors: float = 1.0) -> Floats:
    """Return what `simplest` is worth to each problem, where it is chosen by other problems."""
    # What all problems have chosen was chosen for its luck on them, too. Of several divisions into those that choose
    # and others, the one with the median value is taken.
    n = len(criteria[0][0])
    by_division = [np.zeros(n) for _ in range(DIVISIONS)]
    for number, values in enumerate(by_division):
        folds = np.random.default_rng(number).permutation(n) % min(FOLDS, n)
        for fold in range(min(FOLDS, n)):
            held = folds == fold
            at = simplest(*([option[~held] for option in options] for options in criteria), errors=errors)
            values[held] = criteria[0][at][held]
    return sorted(by_division, key=lambda values: float(values.mean()))[DIVISIONS // 2]


def paired_difference(ours: Floats, theirs: Floats) -> tuple[float, float]:
    """Return the mean and the standard error of differences, problem by problem; the error of a single one is 0."""
    gap = ours - theirs
    error = float(gap.std(ddof=1) / np.sqrt(len(gap))) if len(gap) > 1 else 0.0
    return float(gap.mean()), error
