"""Says that kernels are being compiled, where that takes long enough to wonder."""

from __future__ import annotations

import sys
import threading
from typing import Any

from numba.core import event

SOON = 1.0  # seconds of compiling after which it is said
ABOUT = 10  # seconds that it takes in all


class Announcer(event.Listener):
    """Listens to numba, which tells of every function that it compiles, but not of those that it reads from its cache.

    Functions that are compiled for others count as part of these.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.told = False
        self.timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        """A function begins: in a second it is said, unless all is done by then."""
        self.depth += 1
        if self.depth == 1 and not self.told:
            self.timer = threading.Timer(SOON, self.say)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: Any) -> None:
        """A function is done."""
        self.depth -= 1
        if self.depth == 0 and self.timer is not None:
            self.timer.cancel()

    def say(self) -> None:
        """Once in a process."""
        if not self.told:
            self.told = True
            print(f"compiling, once: about {ABOUT} s (`listwright warmup` does it ahead)", file=sys.stderr, flush=True)


announcer = Announcer()
event.register("numba:compile", announcer)  # type: ignore[no-untyped-call]
