"""Progress of long work: one callback, `progress(what, done, total)`, kept apart between threads."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from listwright.errors import InputError

ProgressCallback = Callable[[str, int, int], None]
"""Called with what is being done, how many steps of it are done, and of how many; 0 of 0 where nobody counts them."""

EVERY = 2.0  # seconds between two lines, where they go to a file or a pipe
SOON = 0.3  # seconds before a terminal shows anything, and between two changes of the same line

_callback: ContextVar[ProgressCallback | None] = ContextVar("callback", default=None)
_depth: ContextVar[int] = ContextVar("depth", default=0)  # fits inside of fits


def report_progress(what: str, done: int = 0, total: int = 0) -> None:
    callback = _callback.get()
    if callback is not None:
        callback(what, done, total)


@contextmanager
def progress_to(progress: Any, *, lines: bool = False) -> Iterator[ProgressCallback]:
    """Inside, `progress` hears all reports; "auto" is the callback around this, or else a line on the terminal."""
    if not (callable(progress) or progress in (True, False, "auto")):
        raise InputError(f"progress must be 'auto', True, False or a function. Got {progress!r}.")
    own = _display(progress, lines) if progress != "auto" or _callback.get() is None else None
    token = _callback.set(own or _callback.get())
    try:
        yield report_progress
    finally:
        _callback.reset(token)
        if isinstance(own, _Line | _Lines):
            own.close()


@contextmanager
def fitting() -> Iterator[None]:
    """Mark a fit, so that `outermost` knows those that run inside of it."""
    token = _depth.set(_depth.get() + 1)
    try:
        yield
    finally:
        _depth.reset(token)


def outermost() -> bool:
    """Return whether the current fit was started by the user, and not by another fit."""
    return _depth.get() == 1


def silent(what: str, done: int, total: int) -> None:
    """Show nothing."""


def _display(progress: Any, lines: bool) -> ProgressCallback:
    if callable(progress):
        return progress
    if progress and sys.stderr.isatty():
        return _Line()
    return _Lines() if progress is True or (progress and lines) else silent


class _Lines:
    """Prints the first report, at most one every two seconds, and the last."""

    def __init__(self) -> None:
        self.waiting, self.due = "", 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        self.waiting = f"{what} ({done:,} of {total:,})" if total else what
        if time.monotonic() >= self.due:
            self.close()
            self.due = time.monotonic() + EVERY

    def close(self) -> None:
        if self.waiting:
            print(self.waiting, file=sys.stderr, flush=True)
        self.waiting = ""


class _Line:
    """One line of the terminal that is overwritten, and removed at the end."""

    def __init__(self) -> None:
        self.what, self.visible = "", False
        self.since = self.shown = time.monotonic()

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        same, self.what = what == self.what, what
        self.since = self.since if same else now
        if now - self.shown >= SOON or (self.visible and not same):
            self.shown, self.visible = now, True
            text = _describe(what, done, total, now - self.since)[: shutil.get_terminal_size().columns - 1]
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.visible:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _describe(what: str, done: int, total: int, seconds: float) -> str:
    left = f", {seconds * (total - done) / done:.0f} s left" if done and seconds > SOON else ""
    return f"{what} ({done:,} of {total:,}{left})" if total else what
