"""Cost-sensitive examples: what one position of one batch teaches (the paper's v, c and w)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints, starts_of
from listwright._kernels.rows import center
from listwright.errors import InputError
from listwright.features import Rows

WEIGHTINGS = ("discounted", "min_sum", "uniform")


@dataclass(frozen=True, eq=False)
class Examples:
    """One cost-sensitive example per problem, for one list position with weight w.

    Attributes
    ----------
    rows : Rows
        What the policy sees of every candidate, given the list so far.
    gains : ndarray of shape (rows,)
        b(s | L), or b(s | L) / l(s) under a budget.
    weight : float
        The position's weight w; see `position_weights`.
    position : int
        The list position, counted from 0.
    options : ndarray of bool of shape (rows,)
        Which rows could have been picked.
    picks : ndarray of int of shape (problems,)
        The row that the policy picked, -1 for none.
    learned : ndarray of bool of shape (problems,)
        Which examples are to be learned from.
    folds : ndarray of int of shape (problems,), optional
        Fold of each training problem, the same in every round.
    chances : ndarray of shape (problems,), optional
        Probability with which the pick was drawn, if a log has it.

    See Also
    --------
    Learner.learn : Takes these objects.
    position_weights : The weight of each position.

    Examples
    --------
    One problem with two candidates, of which the second would gain more:

    >>> rows = Rows(np.array([[1.0], [3.0]], dtype=np.float32), np.array([0, 0]), np.array([0, 2]))
    >>> both = np.array([True, True])
    >>> examples = Examples(rows, np.array([0.2, 0.5]), 1.0, 0, both, np.array([1]), np.array([True]))
    >>> examples.costs
    array([0.3, 0. ])
    """

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
        """By row: c(s) = max b - b(s) over the options of the state; 0 for rows that are no option."""
        best = np.maximum.reduceat(np.where(self.options, self.gains, -np.inf), self.rows.offsets[:-1])
        return np.where(self.options, best[self.rows.owners] - self.gains, 0.0)

    @cached_property
    def row_mask(self) -> Bools:
        """By row: whether it is an option of an example that is learned from."""
        return self.options & self.learned[self.rows.owners]

    @cached_property
    def used_rows(self) -> tuple[Ints, Ints]:
        """Indices of the rows learned from, and offsets of the states that have any, as the kernels take them."""
        rows = np.flatnonzero(self.row_mask)
        counts = np.bincount(self.rows.owners[rows], minlength=len(self.rows.offsets) - 1)
        return rows, starts_of(counts[counts > 0])

    @property
    def losses(self) -> Floats:
        """By problem: the weighted cost w * c(pick); 0 where nothing could be picked."""
        return self.weight * np.where(self.picks >= 0, self.costs[self.picks], 0.0)


def center_by_state(values: Floats, offsets: Ints) -> Floats:
    table = np.ascontiguousarray(values, dtype=np.float64).reshape(len(values), -1)
    result = np.empty_like(table)
    center(table, offsets, result)
    return result.reshape(values.shape)


def position_weights(length: int, comparator_length: int | None = None, *, weighting: str = "discounted") -> Floats:
    """Weight of each list position: by default the paper's (1 - 1/k)^(m - i).

    Parameters
    ----------
    length : int
        m, the length of the lists that are built.
    comparator_length : int, optional
        k, the length of the list to compete with; m by default.
    weighting : {"discounted", "min_sum", "uniform"}
        "discounted" is the paper's: early positions count less, because their gains are larger by nature. "min_sum" is
        m - i with positions counted from 0, the min-sum cover variant of the paper's footnote, where early success
        counts: the weighted sum of gains is the value after one item, plus that after two, and so on up to m. "uniform"
        is 1 everywhere.

    Returns
    -------
    ndarray of shape (length,)
        The last weight is always 1.

    See Also
    --------
    Examples : Carries the weight of its position.

    Examples
    --------
    >>> position_weights(3, comparator_length=2)
    array([0.25, 0.5 , 1.  ])
    >>> position_weights(3, weighting="min_sum")
    array([3., 2., 1.])
    """
    left = np.arange(length - 1, -1, -1, dtype=np.float64)
    comparator_length = length if comparator_length is None else comparator_length
    if weighting == "discounted":
        return (1.0 - 1.0 / comparator_length) ** left
    if weighting == "min_sum":
        return left + 1.0
    if weighting == "uniform":
        return np.ones(length)
    raise InputError(f"weighting must be one of {', '.join(WEIGHTINGS)}. Got {weighting!r}.")


def sampled_states(counts: Ints, most_rows: int) -> Ints:
    """Return an even sample of states that has about `most_rows` rows; always the same for the same counts."""
    n_states = max(1, int(len(counts) * most_rows / counts.sum()))
    return np.sort(np.random.default_rng(0).permutation(len(counts))[:n_states])
