"""Threads: one for linear algebra, so that sums are reproducible, and many for independent problems."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
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
    """Return the controller of the libraries loaded now; libraries loaded later need a new one, hence the key."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Inside, BLAS and LAPACK use one thread, so that sums are always added in the same order."""
    return _controller().limit(limits=1, user_api="blas")


def threads_for(table: Any) -> AbstractContextManager[Any]:
    """Inside, OpenMP, which estimators run on, uses one thread where the table is small."""
    if table.shape[0] * table.shape[1] >= SMALL:
        return nullcontext()
    return _controller(frozenset(name for name in OPENMP if name in sys.modules)).limit(limits=1, user_api="openmp")


@contextmanager
def own_warnings() -> Iterator[None]:
    """Inside, threads of scikit-learn may lose the filters of warnings, and say so for each tree: neither lasts."""
    with warnings.catch_warnings(record=True) as noted:
        yield
    for entry in noted:
        if "sklearn.utils.parallel" not in str(entry.message):
            warnings.warn_explicit(entry.message, entry.category, entry.filename, entry.lineno)


def in_parallel(work: Callable[[int, int], None], offsets: Ints, worth_it: bool = True) -> None:
    """Call work(low, high) on consecutive ranges of problems that cover all, on as many threads as numba may use."""
    n_threads = min(numba.get_num_threads(), len(offsets) - 1) if worth_it else 1
    if n_threads == 1:
        return work(0, len(offsets) - 1)
    ends = offsets[-1] * np.arange(n_threads + 1) // n_threads
    cuts = np.unique(np.searchsorted(offsets, ends)).tolist()
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(work, cuts[:-1], cuts[1:]))
    return None
