"""The decorators of functions that only compiled functions call."""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.core import options as numba_options

_NO_WRAPPERS: dict[str, Any] = {  # not documented by numba, so used only where they exist
    name: True for name in ("no_cpython_wrapper", "no_cfunc_wrapper") if hasattr(numba_options.DefaultOptions, name)
}


def inner(**options: Any) -> Any:
    """Compiles a function without the wrappers that let Python call it, which take up to half of the time.

    A call from Python would crash the process; a test makes sure that no module outside of this package imports one.
    Integers that start as a constant and change in a loop, such as a count of picks, should be `np.int64(0)`: for a
    plain 0, numba compiles what they are passed to twice, for the constant and for any integer.

    Parameters
    ----------
    **options
        Further options of `numba.njit`, such as `fastmath`.
    """
    return njit(cache=True, nogil=True, **_NO_WRAPPERS, **options)


def inlined(function: Any) -> Any:
    """Puts a function into each caller before types are known: fastest to compile if it is short and called once."""
    return njit(cache=True, nogil=True, inline="always")(function)
