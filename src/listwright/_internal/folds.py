"""The one rule by which problems fall into folds: by a checksum of the name.

A problem is in the same fold in every process, pass and shard, so that out-of-fold predictions, penalties and scores
never mix training and held-out problems. Used by `RidgeFTRL`, the cross-fitted features and `SCP`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np

from listwright._internal.arrays import Ints

FOLDS = 5


def folds_of(names: Iterable[Any], n_folds: int = FOLDS) -> Ints:
    """Return the fold of each problem, or of anything else with a name, as an array of numbers from 0 to
    `n_folds` - 1.
    """
    return np.array([fold_of(str(name), n_folds) for name in names], dtype=np.int64)


@lru_cache(maxsize=100_000)  # the same problems come up in every pass
def fold_of(name: str, n_folds: int = FOLDS) -> int:
    """Return the fold of one name, from 0 to `n_folds` - 1: its CRC-32 modulo the number of folds."""
    return crc32(name.encode()) % n_folds
