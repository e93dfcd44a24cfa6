"""Compiled functions on plain arrays. They check nothing: callers pass arrays of the right types and shapes.

While kernels are compiled, which takes seconds in a fresh environment, a line on standard error says so.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from numba import njit
from numba.core import event
from numba.core import options as numba_options

SOON = 1.0  # seconds of compiling after which the line is printed
ABOUT = 10  # seconds that it takes in all


class Announcer(event.Listener):
    """Listens to numba's compile events, which are sent for every function compiled but not for those read from its
    cache.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.announced = False
        self.timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        """Start the timer when an outermost compilation begins."""
        self.depth += 1
        if self.depth == 1 and not self.announced:
            self.timer = threading.Timer(SOON, self.say)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: Any) -> None:
        """Cancels the timer when the outermost compilation ends."""
        self.depth -= 1
        if self.depth == 0 and self.timer is not None:
            self.timer.cancel()

    def say(self) -> None:
        """Print the line, once per process."""
        if not self.announced:
            self.announced = True
            line = f"Compiling once: about {ABOUT} s. `listwright warmup` does it ahead of time."
            print(line, file=sys.stderr, flush=True)


announcer = Announcer()
event.register("numba:compile", announcer)  # type: ignore[no-untyped-call]

_NO_WRAPPERS: dict[str, Any] = {  # not documented by numba, so used only where they exist
    name: True for name in ("no_cpython_wrapper", "no_cfunc_wrapper") if hasattr(numba_options.DefaultOptions, name)
}


def outer(**options: Any) -> Any:
    """Compile a function that Python calls and C does not: quickest if it fills in arrays and makes none."""
    if "no_cfunc_wrapper" in _NO_WRAPPERS:
        options["no_cfunc_wrapper"] = True
    return njit(cache=True, nogil=True, **options)


def inner(**options: Any) -> Any:
    """Compile a function without the wrappers that let Python call it, which take up to half of the time."""
    return njit(cache=True, nogil=True, **_NO_WRAPPERS, **options)


def inline(function: Any) -> Any:
    """Put a function into each caller before types are known: fastest to compile if it is short and called once."""
    return njit(cache=True, nogil=True, inline="always")(function)
