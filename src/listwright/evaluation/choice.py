"""Choosing between options by the values of their lists, problem by problem: the highest mean, or the simplest
option that is as good within one standard error.

Everything that tunes goes through here: baselines and experiments take the `highest`, `SCP` the `simplest`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from listwright._internal.arrays import Floats

T = TypeVar("T")


def best_of(options: Sequence[T], values: Callable[[T], Floats]) -> T:
    """Returns the option whose lists are worth most on average; the first among equals.

    Parameters
    ----------
    options : sequence
        What to choose from, starting with the simplest.
    values : callable
        Returns what the lists of an option are worth, problem by problem.

    Returns
    -------
    object
        One of the options.

    Examples
    --------
    >>> best_of([0.1, 0.5, 0.9], lambda option: np.array([option, 1 - option]) ** 0.5)
    0.5
    """
    return options[highest([values(option) for option in options])]


def highest(values: Sequence[Floats]) -> int:
    """Returns the place of the values with the highest mean, the first of equal ones.

    Means are rounded, so that noise in sums breaks no tie.

    Examples
    --------
    >>> highest([np.array([0.1, 0.5]), np.array([0.4, 0.4]), np.array([0.5, 0.3])])
    1
    """
    return int(np.argmax([round(float(np.mean(one)), 12) for one in values]))


def simplest(values: Sequence[Floats]) -> int:
    """Returns the place of the first whose mean is within one standard error of the highest; differences are taken
    problem by problem.

    Parameters
    ----------
    values : sequence of arrays of shape (problems,)
        Out-of-fold values of each option, from the simplest to the most complex.

    Returns
    -------
    int
        Its place in the sequence.

    Examples
    --------
    >>> simplest([np.array([0.0, 0.6, 0.4]), np.array([0.1, 0.5, 0.6]), np.array([0.9, 0.9, 0.9])])
    2
    >>> simplest([np.array([0.8, 0.6, 0.9]), np.array([0.7, 0.9, 0.8])])
    0
    """
    best = values[highest(values)]
    gaps = (paired(best, one) for one in values)
    return next(i for i, (behind, error) in enumerate(gaps) if behind <= error + 1e-12)


def paired(ours: Floats, theirs: Floats) -> tuple[float, float]:
    """Returns the mean and the standard error of differences, problem by problem; the error of a single one is 0.

    Examples
    --------
    >>> paired(np.array([0.5, 0.75]), np.array([0.5, 0.25]))
    (0.25, 0.25)
    """
    gap = ours - theirs
    error = float(gap.std(ddof=1) / np.sqrt(len(gap))) if len(gap) > 1 else 0.0
    return float(gap.mean()), error
