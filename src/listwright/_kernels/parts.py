"""The decorators of functions that only compiled functions call."""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.core import options as numba_options

_NO_WRAPPERS: dict[str, Any] = {  # not documented by numba, so used only where they exist
    name: True for name in ("no_cpython_wrapper", "no_cfunc_wrapper") if hasattr(numba_options.DefaultOptions, name)
}


def inner(**options: Any) -> Any:
    """Compile a function without the wrappers that let Python call it, which take up to half of the time."""
    return njit(cache=True, nogil=True, **_NO_WRAPPERS, **options)


def inlined(function: Any) -> Any:
    """Put a function into each caller before types are known: fastest to compile if it is short and called once."""
    return njit(cache=True, nogil=True, inline="always")(function)
