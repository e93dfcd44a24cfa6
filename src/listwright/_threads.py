"""One thread for linear algebra, so that results do not depend on how many there are."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401  (brings its own BLAS, which must be loaded before the controller looks for it)
from threadpoolctl import ThreadpoolController


@cache
def _controller() -> Any:
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Inside, BLAS and LAPACK add up in one order. It takes some ten microseconds.

    >>> import numpy as np
    >>> with one_thread():
    ...     float(np.ones(20_000) @ np.ones(20_000))
    20000.0
    """
    return _controller().limit(limits=1, user_api="blas")
