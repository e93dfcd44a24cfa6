"""What happens first when a service is told to stop."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


def drain_first(service: Any, seconds: float) -> None:
    """Told to stop, the service is not ready for a while, so that no new requests are sent to it; then it stops.

    Told a second time, it stops at once. Takes over from the handler that is set; only the main thread can do this.
    """
    if not seconds or threading.current_thread() is not threading.main_thread():
        return
    stop: Any = signal.getsignal(signal.SIGTERM)
    if not callable(stop):
        return

    def handle(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, stop)
        service.draining = True
        timer = threading.Timer(seconds, stop, (number, None))
        timer.daemon = True
        timer.start()

    signal.signal(signal.SIGTERM, handle)
