"""Progress messages of long fits.

Code that works for long calls `tell`; callers that want the messages wrap the work in `send_progress_to` or
`show_progress`. Context variables keep listeners apart between threads and nested fits.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar

EVERY = 2.0  # seconds between two lines, where they go to a file or a pipe

SOON = 0.3  # seconds that pass before a terminal shows anything

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)
_depth: ContextVar[int] = ContextVar("depth", default=0)  # fits inside of fits


def tell(what: str) -> None:
    """Sends a message on what begins now, or was just done, to the current listener; does nothing without one."""
    listener = _listener.get()
    if listener is not None:
        listener(what)


@contextmanager
def send_progress_to(listener: Callable[[str], None]) -> Iterator[None]:
    """Inside, messages go to `listener`, unless an outer block has set one already."""
    if _listener.get() is not None:
        yield
        return
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def show_progress(*, lines: bool = False) -> Iterator[None]:
    """Inside, messages are shown on one line of the terminal, which is cleared at the end."""
    token = _depth.set(_depth.get() + 1)
    try:
        with _on_terminal() if sys.stderr.isatty() else _in_lines() if lines else nullcontext():
            yield
    finally:
        _depth.reset(token)


def outermost() -> bool:
    """Return whether the current fit was started by the user, and not by another fit."""
    return _depth.get() == 1


@contextmanager
def _in_lines() -> Iterator[None]:
    """Print the first message, at most one every two seconds, and the last."""
    waiting: list[str] = []
    due = 0.0

    def show(what: str) -> None:
        nonlocal due
        waiting[:] = [what]
        if time.monotonic() >= due:
            print(waiting.pop(), file=sys.stderr, flush=True)
            due = time.monotonic() + EVERY

    with send_progress_to(show):
        yield
    for what in waiting:
        print(what, file=sys.stderr, flush=True)


@contextmanager
def _on_terminal() -> Iterator[None]:
    """Overwrites one line of the terminal with each message, once 0.3 seconds have passed, and clears it at the end."""
    line: list[str] = []
    begun = time.monotonic()

    def show(what: str) -> None:
        if time.monotonic() - begun >= SOON:
            line[:] = [what[:100]]
            print(f"\r\x1b[K{line[0]}", end="", file=sys.stderr, flush=True)

    try:
        with send_progress_to(show):
            yield
    finally:
        if line:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
