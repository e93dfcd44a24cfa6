"""Arrays cut into one piece per problem, of different lengths.

All per-problem data share one layout: values one after the other, and offsets of length problems + 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Ints, starts_of


def pieces(offsets: Ints, which: Ints) -> Ints:
    """Indices of all entries of the chosen pieces, in the order chosen.

    Parameters
    ----------
    offsets : ndarray of int
        Where each piece starts, and the end of the last.
    which : ndarray of int
        The pieces wanted; may repeat.

    Examples
    --------
    >>> pieces(np.array([0, 2, 2, 5]), np.array([2, 0]))
    array([2, 3, 4, 0, 1])
    """
    lengths = np.diff(offsets)[which]
    ends = np.cumsum(lengths)
    return np.repeat(offsets[which] - ends + lengths, lengths) + np.arange(lengths.sum())


def is_run(which: Ints) -> bool:
    """Whether the indices are consecutive, such as 4, 5, 6, so that a view can replace a copy."""
    return which.size > 0 and bool((np.diff(which) == 1).all())


@dataclass(frozen=True, eq=False)
class Ragged:
    """A table in which `values[offsets[i]:offsets[i + 1]]` belongs to problem i.

    Attributes
    ----------
    values : ndarray
        Entries of all problems, one after the other.
    offsets : ndarray of int
        Where each problem starts, and the end of the last.

    Examples
    --------
    >>> table = Ragged(np.array([1, 2, 3, 4, 5]), np.array([0, 2, 2, 5]))
    >>> table.take(np.array([2, 0])).values
    array([3, 4, 5, 1, 2])
    """

    values: NDArray[Any]
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, which: Ints) -> Ragged:
        """The pieces of the chosen problems; a view where these are consecutive, else a copy."""
        offsets = starts_of(np.diff(self.offsets)[which])
        if is_run(which):
            return Ragged(self.values[self.offsets[which[0]] : self.offsets[which[-1] + 1]], offsets)
        return Ragged(self.values[pieces(self.offsets, which)], offsets)

    @staticmethod
    def concat(parts: Sequence[Ragged]) -> Ragged:
        """The problems of all parts, one after the other."""
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        return Ragged(np.concatenate([part.values for part in parts]), starts_of(lengths))


def per_problem(values: NDArray[Any]) -> Ragged:
    """A `Ragged` with exactly one entry per problem."""
    return Ragged(values, np.arange(len(values) + 1))
