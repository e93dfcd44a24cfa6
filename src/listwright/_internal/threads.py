"""Threads: one for linear algebra, so that sums are reproducible, and many for independent problems."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import numba
import numpy as np
import scipy.linalg  # noqa: F401  (brings its own BLAS, which must be loaded before the controller looks for it)
from threadpoolctl import ThreadpoolController

from listwright._internal.arrays import Ints

OPENMP = ("catboost", "lightgbm", "sklearn", "torch", "xgboost")  # packages that bring OpenMP
SMALL = 2_000_000  # numbers in a table below which threads cost more than they bring


@cache
def _controller(loaded: frozenset[str] = frozenset()) -> Any:
    """The threadpoolctl controller of the libraries loaded now; libraries loaded later need a new one, hence the
    key.
    """
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Inside, BLAS and LAPACK use one thread, so that sums are always added in the same order. Costs about ten
    microseconds.

    >>> import numpy as np
    >>> with one_thread():
    ...     float(np.ones(20_000) @ np.ones(20_000))
    20000.0
    """
    return _controller().limit(limits=1, user_api="blas")


def threads_for(table: Any) -> AbstractContextManager[Any]:
    """Inside, OpenMP, which estimators run on, uses one thread where the table is small.

    Boosting synchronises its threads at every node of every tree. Where other threads compete for the cores, small
    tables take many times as long on two threads as on one.

    Parameters
    ----------
    table : array of shape (rows, columns)
        The data that an estimator is fitted to, or predicts.
    """
    if table.shape[0] * table.shape[1] >= SMALL:
        return nullcontext()
    return _controller(frozenset(name for name in OPENMP if name in sys.modules)).limit(limits=1, user_api="openmp")


def in_parallel(work: Callable[[int, int], None], offsets: Ints, worth_it: bool = True) -> None:
    """Calls work(low, high) on consecutive ranges of problems that cover all, on as many threads as numba may use.

    That is NUMBA_NUM_THREADS in the environment, or one per core. The ranges have about equally many rows.

    Parameters
    ----------
    work : callable
        Handles problems low to high - 1. Its result for a problem must not depend on the range, and it should release
        the GIL (nogil kernels).
    offsets : ndarray of int
        Where the rows of each problem start, and the number of rows.
    worth_it : bool
        False runs everything in the calling thread.

    Examples
    --------
    >>> seen = []
    >>> in_parallel(lambda low, high: seen.extend(range(low, high)), np.array([0, 5, 6, 8]), worth_it=False)
    >>> seen
    [0, 1, 2]
    """
    n_threads = min(numba.get_num_threads(), len(offsets) - 1) if worth_it else 1
    if n_threads == 1:
        return work(0, len(offsets) - 1)
    ends = offsets[-1] * np.arange(n_threads + 1) // n_threads
    cuts = np.unique(np.searchsorted(offsets, ends)).tolist()
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(work, cuts[:-1], cuts[1:]))
    return None
