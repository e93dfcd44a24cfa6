"""Groups of rows of which a list may hold only a limited number: a partition matroid.

Labels are turned into numbers within each problem (`numbered_within`) and limits into one number per row (`most_of`),
the form that the list-building kernels take.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Ints, as_whole_numbers
from listwright._internal.limits import at_least_one
from listwright.errors import InputError

MOST = 2**31 - 1  # of a limit: larger ones are none, and do not fit into an array


def codes_of(values: NDArray[Any]) -> Ints:
    """Numbers the different values in order of first appearance; equal values get the same number."""
    seen: dict[Any, int] = {}
    try:
        return np.array([seen.setdefault(value, len(seen)) for value in values.tolist()], dtype=np.int64)
    except TypeError as error:
        raise InputError(f"Ids must be strings, numbers or other hashable values: {error}.") from None


def numbered_within(labels: NDArray[Any], offsets: Ints) -> Ints:
    """By row: the number of its label among those of its problem, from 0 and below the problem's number of rows."""
    codes = codes_of(labels)
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    found, rows = np.unique(owners * (int(codes.max()) + 1) + codes, return_inverse=True)
    firsts = np.searchsorted(found // (int(codes.max()) + 1), np.arange(len(offsets) - 1))
    numbers: Ints = rows - firsts[owners]
    return numbers


def most_of(per_group: Any, labels: NDArray[Any]) -> Ints:
    """By row: how many rows of its group a list may hold."""
    if not isinstance(per_group, Mapping):
        at_least_one("per_group", per_group)
        return np.full(len(labels), min(int(per_group), MOST), dtype=np.int64)
    names = list(dict.fromkeys(labels.tolist()))
    missing = [name for name in names if name not in per_group]
    if missing:
        raise InputError(f"per_group has no entry for group {missing[0]!r}. Give a number for each group, 0 for none.")
    counts = dict(zip(names, as_whole_numbers([per_group[name] for name in names], "per_group"), strict=True))
    if min(counts.values()) < 0:
        name = min(counts, key=lambda one: counts[one])
        raise InputError(f"per_group must be 0 or more. Got {counts[name]} for group {name!r}.")
    return np.array([counts[label] for label in labels.tolist()], dtype=np.int64)
