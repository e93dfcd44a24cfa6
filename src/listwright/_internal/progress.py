"""What a long fit is at, told to whoever listens."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


def tell(what: str) -> None:
    """Says what begins now.

    >>> with heard_by(print):
    ...     tell("forest, without fold 1")
    forest, without fold 1
    """
    listener = _listener.get()
    if listener is not None:
        listener(what)


@contextmanager
def heard_by(listener: Callable[[str], None]) -> Iterator[None]:
    """Inside, everything told goes to the listener, unless somebody listens already."""
    if _listener.get() is not None:
        yield
        return
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def shown_on_terminal() -> Iterator[None]:
    """Inside, everything told is shown on one line of the terminal, which is cleared at the end; in a file, nothing."""
    if not sys.stderr.isatty():
        yield
        return
    shown: list[str] = []

    def show(what: str) -> None:
        shown[:] = [what[:100]]
        print(f"\r\x1b[K{shown[0]}", end="", file=sys.stderr, flush=True)

    try:
        with heard_by(show):
            yield
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
