"""What each problem asks for, and which of it every candidate brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from listwright._internal.arrays import Floats, Ints, as_numbers, starts_of
from listwright._internal.ragged import pieces
from listwright.errors import InputError

MOST = 64  # needs of one problem: they are bits of a number
Masks = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Needs:
    """The needs of each problem (the words of a question, the requirements of an order), and the needs that each part
    of a candidate meets (the sentences of a passage).

    Needs belong to their problem: the first need of two problems need not be the same. Pass them to
    `Problems.from_arrays`; `features.Unmet` shows a policy what the list leaves unmet.

    Parameters
    ----------
    weights : array of shape (problems, 64)
        What each need counts; 0 behind the last one of a problem.
    wholes : array of shape (rows,), dtype uint64
        The needs that each candidate meets, as bits.
    parts : array of shape (parts,), dtype uint64
        The needs that each part of a candidate meets, as bits; the parts of all candidates one after the other.
    starts : array of shape (rows + 1,)
        Where the parts of each candidate start.

    Examples
    --------
    >>> needs = Needs.from_lists([[1.0, 3.0]], [[[0], [0, 1]], [[1]]])
    >>> needs.wholes, needs.starts
    (array([3, 2], dtype=uint64), array([0, 2, 3]))
    """

    weights: Floats
    wholes: Masks
    parts: Masks
    starts: Ints

    @classmethod
    def from_lists(cls, weights: Sequence[ArrayLike], met: Sequence[Sequence[Sequence[int]]]) -> Needs:
        """Needs from lists.

        Parameters
        ----------
        weights : sequence of array-like
            For each problem the weight of each of its needs, up to 64.
        met : sequence
            For each candidate of all problems its parts, and for each part the positions of the needs that it meets.
        """
        table = np.zeros((len(weights), MOST))
        for row, given in zip(table, weights, strict=True):
            numbers = as_numbers(given, "weights of needs")
            if numbers.ndim != 1 or len(numbers) > MOST or not (np.isfinite(numbers) & (numbers >= 0)).all():
                raise InputError(f"A problem has up to {MOST} needs, with weights from 0. Got {given!r}.")
            row[: len(numbers)] = numbers
        parts = [[_mask(needs) for needs in candidate] for candidate in met]
        wholes = [int(np.bitwise_or.reduce(np.array(masks, np.uint64), initial=np.uint64(0))) for masks in parts]
        return cls(
            table,
            np.array(wholes, dtype=np.uint64),
            np.array([mask for masks in parts for mask in masks], dtype=np.uint64),
            starts_of([len(masks) for masks in parts]),
        )

    def check(self, offsets: Ints) -> None:
        """Refuses needs that are not those of the rows."""
        if len(self.weights) != len(offsets) - 1 or len(self.wholes) != offsets[-1]:
            raise InputError(
                f"needs must be of {len(offsets) - 1} problems and {offsets[-1]} candidates. "
                f"Got {len(self.weights)} and {len(self.wholes)}."
            )

    def take(self, which: Ints, rows: Ints) -> Needs:
        """The needs of some problems, and of their rows."""
        counts = np.diff(self.starts)[rows]
        return Needs(self.weights[which], self.wholes[rows], self.parts[pieces(self.starts, rows)], starts_of(counts))

    def join(self, others: Sequence[Needs]) -> Needs:
        """The needs of several batches, one after the other."""
        every = [self, *others]
        return Needs(
            np.concatenate([needs.weights for needs in every]),
            np.concatenate([needs.wholes for needs in every]),
            np.concatenate([needs.parts for needs in every]),
            starts_of(np.concatenate([np.diff(needs.starts) for needs in every])),
        )


def _mask(needs: Sequence[int]) -> int:
    if any(not 0 <= need < MOST for need in needs):
        raise InputError(f"Needs are numbered from 0 to {MOST - 1}. Got {list(needs)!r}.")
    return sum(1 << int(need) for need in set(needs))
