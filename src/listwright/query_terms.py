"""What each problem asks for, and what every candidate provides of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from listwright._internal.arrays import Floats, Ints, as_numbers, pieces, starts_of
from listwright.errors import InputError

MOST = 64  # query terms per problem, because they are the bits of a number
Masks = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class QueryTerms:
    """What each problem asks for, and which of it the parts of each candidate provide.

    QueryTerms are, for example, the words of a question or the requirements of an order; parts are the sentences of a
    passage. Use them if a list should cover as many terms of its problem as possible: `features.UncoveredTerms` then
    shows a policy what the list leaves uncovered. They are features, known for new problems too. If it is known only in
    training which items cover what, use a `rewards.Coverage` instead.

    QueryTerms belong to their problem: the first term of two problems need not be the same. Make them with
    `from_lists`, and pass them to `Problems.from_arrays`.

    Attributes
    ----------
    weights : ndarray of float, shape (problems, 64)
        Weight of each term; 0 after the last one of a problem.
    wholes : ndarray of uint64, shape (rows,)
        The query terms that each candidate covers, as bits.
    parts : ndarray of uint64, shape (parts,)
        The query terms that each part of a candidate covers, as bits; the parts of all candidates one after the other.
    starts : ndarray of int, shape (rows + 1,)
        Where the parts of each candidate start.

    See Also
    --------
    listwright.features.UncoveredTerms : Shows a policy what the list leaves uncovered.
    listwright.rewards.Coverage : A reward for covering topics.

    Examples
    --------
    >>> query_terms = QueryTerms.from_lists([[1.0, 3.0]], [[[0], [0, 1]], [[1]]])
    >>> query_terms.wholes, query_terms.starts
    (array([3, 2], dtype=uint64), array([0, 2, 3]))
    """

    weights: Floats
    wholes: Masks
    parts: Masks
    starts: Ints

    @classmethod
    def from_lists(cls, weights: Sequence[ArrayLike], covered: Sequence[Sequence[Sequence[int]]]) -> QueryTerms:
        """Make query terms from lists.

        Parameters
        ----------
        weights : sequence of array-like
            For each problem the weight of each of its terms: up to 64 numbers of 0 or more.
        covered : sequence of sequences of sequences of int
            For each candidate of all problems its parts, and for each part the positions of the terms that it covers.

        Returns
        -------
        QueryTerms
            To pass to `Problems.from_arrays(query_terms=...)`.

        Raises
        ------
        InputError
            If a problem has more than 64 query terms, if a weight is negative, or if a position is out of range.
        """
        table = np.zeros((len(weights), MOST))
        for row, given in zip(table, weights, strict=True):
            numbers = as_numbers(given, "weights of query terms")
            if numbers.ndim != 1 or len(numbers) > MOST or not (np.isfinite(numbers) & (numbers >= 0)).all():
                raise InputError(f"A problem has up to {MOST} query terms, with weights from 0. Got {given!r}.")
            row[: len(numbers)] = numbers
        parts = [[_mask(terms) for terms in candidate] for candidate in covered]
        wholes = [int(np.bitwise_or.reduce(np.array(masks, np.uint64), initial=np.uint64(0))) for masks in parts]
        return cls(
            table,
            np.array(wholes, dtype=np.uint64),
            np.array([mask for masks in parts for mask in masks], dtype=np.uint64),
            starts_of([len(masks) for masks in parts]),
        )

    def check(self, offsets: Ints) -> None:
        """Raise `InputError` unless there are as many problems and candidates as these offsets say."""
        if len(self.weights) != len(offsets) - 1 or len(self.wholes) != offsets[-1]:
            raise InputError(
                f"query_terms must be of {len(offsets) - 1} problems and {offsets[-1]} candidates. "
                f"Got {len(self.weights)} and {len(self.wholes)}."
            )

    def take(self, which: Ints, rows: Ints) -> QueryTerms:
        """Return the query terms of some problems and of their rows."""
        parts, starts = self.parts[pieces(self.starts, rows)], starts_of(np.diff(self.starts)[rows])
        return QueryTerms(self.weights[which], self.wholes[rows], parts, starts)

    def join(self, others: Sequence[QueryTerms]) -> QueryTerms:
        """Return the query terms of several batches, one after the other."""
        columns = [(terms.weights, terms.wholes, terms.parts, np.diff(terms.starts)) for terms in (self, *others)]
        weights, wholes, parts, counts = map(np.concatenate, zip(*columns, strict=True))
        return QueryTerms(weights, wholes, parts, starts_of(counts))


def _mask(terms: Sequence[int]) -> int:
    if any(not 0 <= term < MOST for term in terms):
        raise InputError(f"QueryTerms are numbered from 0 to {MOST - 1}. Got {list(terms)!r}.")
    return sum(1 << int(term) for term in set(terms))
