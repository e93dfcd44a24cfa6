"""Compiled functions on plain arrays. They check nothing: callers pass arrays of the right types and shapes."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core import event
from numba.core import options as numba_options

SOON = 0.5  # seconds of compiling after which it is announced
ABOUT = 5  # seconds that an idle core compiles for the first fit and predict, or pack: see benchmarks/first_minute.py
MESSAGE = f"Compiling once: about {ABOUT} s on an idle core. `listwright warmup` does it ahead of time."


class Announcer(event.Listener):
    """Announces once what numba compiles, which is not what it reads from its cache; on a terminal, a line counts."""

    def __init__(self) -> None:
        self.depth, self.count, self.seconds, self.started = 0, 0, 0.0, 0.0
        self.silent = False

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.started = time.perf_counter()
        self.depth += 1
        self._say()

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        self.count += 1
        self._say()
        if self.depth == 0:
            self.seconds += time.perf_counter() - self.started

    def _say(self) -> None:
        seconds = self.seconds + time.perf_counter() - self.started
        if self.silent or seconds < SOON:
            return
        if sys.stderr is sys.__stderr__ and sys.stderr is not None and sys.stderr.isatty():
            line = f"{MESSAGE} {self.count} functions, {seconds:.1f} s" if self.depth else ""
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        else:
            print(MESSAGE, file=sys.stderr, flush=True)
            self.silent = True


announcer = Announcer()
event.register("numba:compile", announcer)  # type: ignore[no-untyped-call]

_NO_WRAPPERS: dict[str, Any] = {  # not documented by numba, so used only where they exist
    name: True for name in ("no_cpython_wrapper", "no_cfunc_wrapper") if hasattr(numba_options.DefaultOptions, name)
}


# What the cache of a kernel is valid for: numba compares the kernel's own file only, and reads an index before that.
_FILES = [(file.name, file.stat()) for file in sorted(Path(__file__).parent.glob("*.py"))]
_STAMP = " ".join([numba.__version__, *(f"{name} {stat.st_mtime_ns} {stat.st_size}" for name, stat in _FILES)])


def kernel(**options: Any) -> Any:
    """Compile a function that Python and other kernels call."""

    def compile_cached(function: Any) -> Any:
        dispatcher = njit(cache=True, nogil=True, **options)(function)
        index = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
        if index is not None and hasattr(index, "_version"):  # not documented by numba
            index._version = _STAMP
        return dispatcher

    return compile_cached


def outer(**options: Any) -> Any:
    """Compile a function that Python calls and C does not: quickest if it fills in arrays and makes none."""
    if "no_cfunc_wrapper" in _NO_WRAPPERS:
        options["no_cfunc_wrapper"] = True
    return kernel(**options)


def inner(**options: Any) -> Any:
    """Compile a function without the wrappers that let Python call it, which take up to half of the time."""
    return kernel(**_NO_WRAPPERS, **options)


def inline(function: Any) -> Any:
    """Put a function into each caller before types are known: fastest to compile if it is short and called once."""
    return kernel(inline="always")(function)
