"""Graceful shutdown: on SIGTERM the service first reports that it is not ready, and stops some seconds later.

Load balancers need a moment to notice that a replica has gone. Without the pause they would send requests to a socket
that no longer accepts them.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


def drain_first(service: Any, seconds: float) -> None:
    """Install a SIGTERM handler that delays the shutdown by `seconds`."""
    # Does nothing if `seconds` is 0, outside the main thread (Python allows signal handlers only there), or where no
    # callable handler is installed.
    if not seconds or threading.current_thread() is not threading.main_thread():
        return
    stop: Any = signal.getsignal(signal.SIGTERM)
    if not callable(stop):
        return

    def handle(number: int, frame: FrameType | None) -> None:
        """Mark the service as draining and schedule the previous handler."""
        signal.signal(signal.SIGTERM, stop)
        service.draining = True
        timer = threading.Timer(seconds, stop, (number, None))
        timer.daemon = True
        timer.start()

    signal.signal(signal.SIGTERM, handle)
