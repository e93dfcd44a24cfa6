"""Means, errors and ranks over problems, the last axis."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata
from scipy.stats import t as student

from listwright._internal.arrays import Floats

SAME = 1e-12  # values closer than this tie


def mean_and_error(values: Floats) -> tuple[Floats, Floats]:
    """Mean over problems and its standard error; of a single problem, none (NaN).

    >>> mean, error = mean_and_error(np.array([[1.0, 0.0, 1.0, 0.0]]))
    >>> mean, error.round(3)
    (array([0.5]), array([0.289]))
    """
    n = values.shape[-1]
    error = values.std(axis=-1, ddof=1) / np.sqrt(n) if n > 1 else np.full(values.shape[:-1], np.nan)
    return values.mean(axis=-1), np.asarray(error)


def half_width(error: Floats, n_problems: int) -> Floats:
    """Half of the 95 % interval, by Student's t."""
    return error * student.ppf(0.975, max(n_problems - 1, 1))


def paired(reference: Floats, others: Floats) -> dict[str, Floats]:
    """Mean difference to each other method, problem by problem, with error, interval, and counts of who is ahead."""
    difference = reference - others
    mean, error = mean_and_error(difference)
    half = half_width(error, difference.shape[-1])
    wins, losses = (difference > SAME).sum(axis=-1), (difference < -SAME).sum(axis=-1)
    return {
        "ahead": mean,
        "standard_error": error,
        "low": mean - half,
        "high": mean + half,
        "wins": wins,
        "losses": losses,
        "ties": difference.shape[-1] - wins - losses,
    }


def ranks(values: Floats) -> Floats:
    """Average rank over problems among the methods, the first axis; 1 is best, ties share.

    >>> ranks(np.array([[1.0, 1.0], [0.0, 1.0]]))
    array([1.25, 1.75])
    """
    return rankdata(-np.round(values, 12), axis=0).mean(axis=-1)
