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
    """Return the option whose lists are worth most on average; the first among equals."""
    return options[highest([values(option) for option in options])]


def highest(values: Sequence[Floats]) -> int:
    """Return the place of the values with the highest mean, the first of equal ones."""
    # Means are rounded, so that noise in sums breaks no tie.
    return int(np.argmax([round(float(np.mean(one)), 12) for one in values]))


def simplest(values: Sequence[Floats]) -> int:
    """Return the place of the first whose mean is within one standard error of the highest; differences are taken
    problem by problem.
    """
    best = values[highest(values)]
    gaps = (paired(best, one) for one in values)
    return next(i for i, (behind, error) in enumerate(gaps) if behind <= error + 1e-12)


def paired(ours: Floats, theirs: Floats) -> tuple[float, float]:
    """Return the mean and the standard error of differences, problem by problem; the error of a single one is 0."""
    gap = ours - theirs
    error = float(gap.std(ddof=1) / np.sqrt(len(gap))) if len(gap) > 1 else 0.0
    return float(gap.mean()), error
