"""Progress of a selection: a line on the terminal, or calls of a function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from listwright.errors import InputError

Tick = Callable[[str, int, int], None]  # called with (what, done, total)
PATIENCE = 1.0  # seconds before the first line, and between updates
WIDTH = 24


def silent(what: str, done: int, total: int) -> None:
    """Reports nothing."""


@contextmanager
def as_tick(progress: Any) -> Iterator[Tick]:
    """Provide the function that progress is reported to."""
    if callable(progress):
        yield progress
    elif progress is True or (progress == "auto" and sys.stderr.isatty()):
        line = Line()
        try:
            yield line.tick
        finally:
            line.clear()
    elif progress is False or progress == "auto":
        yield silent
    else:
        raise InputError(f"progress must be 'auto', True, False or a function. Got {progress!r}.")


class Line:
    """One line on the standard error stream that is overwritten."""

    def __init__(self) -> None:
        self.what, self.since, self.shown = "", time.monotonic(), time.monotonic()
        self.visible = False

    def tick(self, what: str, done: int, total: int) -> None:
        """Shows the progress, at most once per second."""
        now = time.monotonic()
        if what != self.what:
            self.what, self.since = what, now
        if now - self.shown < PATIENCE:
            return
        self.shown, self.visible = now, True
        print(f"\r\x1b[K{described(what, done, total, now - self.since)}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the line."""
        if self.visible:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def described(what: str, done: int, total: int, seconds: float) -> str:
    """Return a bar, the count and the time left, as shown on a terminal."""
    full = WIDTH * done // max(total, 1)
    left = f", {seconds * (total - done) / done:.0f} s left" if done else ""
    return f"{what} {'#' * full}{'.' * (WIDTH - full)} {done:,}/{total:,}{left}"
