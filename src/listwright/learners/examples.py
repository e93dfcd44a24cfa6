"""Examples: what one position of one batch teaches (the paper's v, c, w)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints, starts_of
from listwright._kernels.rows import center, costs_of
from listwright.errors import InputError
from listwright.features import Rows

WEIGHTINGS = ("discounted", "min_sum", "uniform")


@dataclass(frozen=True, eq=False)
class Examples:
    """One cost-sensitive example a problem, with the weight w of the position."""

    rows: Rows
    gains: Floats  # by row: b(s | L), or b(s | L) / l(s) under a budget
    weight: float
    position: int
    options: Bools  # by row: what could have been picked
    picks: Ints  # by problem: what the policy picked, -1 for nothing
    learned: Bools  # by problem: whether the example is to be learned from
    folds: Ints | None = None  # by problem: the part of the training problems that it always belongs to
    chances: Floats | None = None  # by problem: the chance that the pick had, where it is known from a log

    @cached_property
    def costs(self) -> Floats:
        """By row: c(s) = max b - b(s) over the options; 0 for what is no option."""
        return costs_of(self.gains, self.options, self.rows.offsets)

    @cached_property
    def used(self) -> Bools:
        """By row: whether the row is learned from."""
        return self.options & self.learned[self.rows.owners]

    @cached_property
    def used_rows(self) -> tuple[Ints, Ints]:
        """The rows that are learned from, and the offsets of the states that have any."""
        rows = np.flatnonzero(self.used)
        counts = np.bincount(self.rows.owners[rows], minlength=len(self.rows.offsets) - 1)
        return rows, starts_of(counts[counts > 0])

    @property
    def losses(self) -> Floats:
        """By problem: the weighted cost w * c(pick) of what was picked (0 where nothing could be)."""
        return self.weight * np.where(self.picks >= 0, self.costs[self.picks], 0.0)


def centered(values: Floats, offsets: Ints) -> Floats:
    """values less their mean over each state.

    Examples
    --------
    >>> centered(np.array([1.0, 2.0, 6.0]), np.array([0, 1, 3]))
    array([ 0., -2.,  2.])
    """
    table = np.ascontiguousarray(values, dtype=np.float64).reshape(len(values), -1)
    result = np.empty_like(table)
    center(table, offsets, result)
    return result.reshape(values.shape)


def position_weights(length: int, rival_length: int | None = None, *, weighting: str = "discounted") -> Floats:
    """Weight of each list position: the paper's (1 - 1/k)^(m - i).

    Early positions count less, because their gains are larger by nature. "min_sum" is m - i, the min-sum cover variant
    of the paper's footnote, where early success counts; its positions are counted from 0, so that the last one keeps
    weight 1. It is the objective for all lengths at once: the weighted sum of gains is what the list is worth after one
    item, plus after two, and so on up to m. "uniform" is 1 everywhere.

    Examples
    --------
    >>> position_weights(3, rival_length=2)
    array([0.25, 0.5 , 1.  ])
    >>> position_weights(3, weighting="min_sum")
    array([3., 2., 1.])
    """
    left = np.arange(length - 1, -1, -1, dtype=np.float64)
    rival_length = length if rival_length is None else rival_length
    if weighting == "discounted":
        return (1.0 - 1.0 / rival_length) ** left
    if weighting == "min_sum":
        return left + 1.0
    if weighting == "uniform":
        return np.ones(length)
    raise InputError(f"weighting must be one of {', '.join(WEIGHTINGS)}. Got {weighting!r}.")


def sampled_states(counts: Ints, most_rows: int) -> Ints:
    """An even sample of the states, in order, that has about so many rows.

    >>> sampled_states(np.full(100, 10), 50)
    array([ 5, 20, 36, 82, 93])
    """
    n_states = max(1, int(len(counts) * most_rows / counts.sum()))
    return np.sort(np.random.default_rng(0).permutation(len(counts))[:n_states])
