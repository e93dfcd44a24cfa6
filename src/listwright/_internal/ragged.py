"""Arrays cut into one piece per problem, of different lengths.

All per-problem data share one layout: values one after the other, and offsets of length problems + 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from listwright._internal.arrays import Ints, starts_of
from listwright.errors import InputError


def pieces(offsets: Ints, which: Ints) -> Ints:
    """Indices of all entries of the chosen pieces, in the order chosen."""
    lengths = np.diff(offsets)[which]
    ends = np.cumsum(lengths)
    return np.repeat(offsets[which] - ends + lengths, lengths) + np.arange(lengths.sum())


def is_run(which: Ints) -> bool:
    """Return whether the indices are consecutive, such as 4, 5, 6, so that a view can replace a copy."""
    return which.size > 0 and bool((np.diff(which) == 1).all())


def chosen(key: int | slice | ArrayLike, length: int) -> Ints:
    """Return the indices that `key` selects out of `length` problems, or raises if it selects none or too many."""
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        if not -length <= key < length:
            raise IndexError(f"There are {length} problems. Got index {key}.")
        return np.array([int(key) % length])
    array = np.arange(length)[key] if isinstance(key, slice) else np.asarray(key)
    if array.dtype == bool:
        if array.shape != (length,):
            raise IndexError(f"A mask needs one entry per problem ({length}). Got shape {array.shape}.")
        array = np.flatnonzero(array)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise InputError(f"A selection must name at least one problem by index or mask. Got {key!r}.")
    if array.min() < -length or array.max() >= length:
        raise IndexError(f"There are {length} problems. Got indices {array.min()} to {array.max()}.")
    return array.astype(np.int64) % length


@dataclass(frozen=True, eq=False)
class Ragged:
    """A table in which `values[offsets[i]:offsets[i + 1]]` belongs to problem i."""

    values: NDArray[Any]  # entries of all problems, one after the other
    offsets: Ints  # where each problem starts, and the end of the last

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, which: Ints) -> Ragged:
        """Return the pieces of the chosen problems; a view where these are consecutive, else a copy."""
        offsets = starts_of(np.diff(self.offsets)[which])
        if is_run(which):
            return Ragged(self.values[self.offsets[which[0]] : self.offsets[which[-1] + 1]], offsets)
        return Ragged(self.values[pieces(self.offsets, which)], offsets)

    @staticmethod
    def concat(parts: Sequence[Ragged]) -> Ragged:
        """Return the problems of all parts, one after the other."""
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        return Ragged(np.concatenate([part.values for part in parts]), starts_of(lengths))


def per_problem(values: NDArray[Any]) -> Ragged:
    """Return a `Ragged` with exactly one entry per problem."""
    return Ragged(values, np.arange(len(values) + 1))
