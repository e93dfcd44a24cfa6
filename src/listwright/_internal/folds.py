"""The one rule by which problems fall into folds: by name, so that a problem is in the same fold everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np

from listwright._internal.arrays import Ints

FOLDS = 5


def folds_of(names: Iterable[Any], n_folds: int = FOLDS) -> Ints:
    """A fold for each problem, or for anything else with a name.

    >>> folds_of(["a", "b", "c"])
    array([2, 1, 0])
    """
    return np.array([fold_of(str(name), n_folds) for name in names], dtype=np.int64)


@lru_cache(maxsize=100_000)  # the same problems come up in every pass
def fold_of(name: str, n_folds: int = FOLDS) -> int:
    """The fold of one name, from 0 to 4."""
    return crc32(name.encode()) % n_folds
