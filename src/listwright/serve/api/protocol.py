"""uvicorn's HTTP protocol with limits against slow or endless headers and idle connections.

uvicorn bounds neither the size nor the duration of headers. Without limits, clients that send one byte at a time
(slowloris) or open connections and leave them could exhaust the server.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from listwright.serve.settings import Limits

TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%b"
)
BODY = b'{"error":{"code":"too_large","message":"The headers are too large.","field":"headers"}}'


class LimitedProtocol(HttpToolsProtocol):
    """One client connection.

    Headers must arrive within `limits.header_seconds` and `limits.header_bytes`. Beyond `limits.connections`, the
    connection that has been waited for longest is closed, so that abandoned connections cannot lock others out.

    Attributes
    ----------
    waiting : bool
        Whether the headers of a request are incomplete.
    header_bytes : int
        Bytes received of those headers.
    since : float
        Loop time at which the last data came or the last answer went.
    """

    def __init__(self, config: Any, *arguments: Any, **options: Any) -> None:
        """Read the limits from the configuration, where `serve` put the settings."""
        super().__init__(config, *arguments, **options)
        self.limits: Limits = config.listwright.limits
        self.header_bytes, self.waiting, self.since = 0, True, 0.0
        self.arrived = 0  # bytes that came last: those of a request that begins are among them
        self.timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first request, and close an idle connection if there are too many."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._start_timer()
        if len(self.connections) > self.limits.connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timer."""
        self._wait_no_longer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received bytes; answers 431 and close if incomplete headers exceed the limit."""
        self.arrived, self.since = len(data), self.loop.time()
        self.header_bytes += self.arrived
        super().data_received(data)
        if self.waiting and self.timer is None:
            self._start_timer()
        if self.waiting and self.header_bytes > self.limits.header_bytes and not self.transport.is_closing():
            self.transport.write(TOO_LARGE % (len(BODY), BODY))
            self.transport.close()

    def on_message_begin(self) -> None:
        """Start the byte count of a new request."""
        super().on_message_begin()
        self._wait_no_longer()
        self.waiting, self.header_bytes = True, self.arrived

    def on_headers_complete(self) -> None:
        """Stop the timer; the body is bounded by `read_body` and the timeout of `Guard`."""
        self._wait_no_longer()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Note the time from which the connection is idle."""
        self.since = self.loop.time()
        super().on_response_complete()

    @property
    def idle(self) -> bool:
        """Whether the client is to send something: a request, or the rest of one."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _start_timer(self) -> None:
        """Allow some seconds for the rest of the headers."""
        self.timer = self.loop.call_later(self.limits.header_seconds, self._give_up)

    def _wait_no_longer(self) -> None:
        """Cancel the timer."""
        self.waiting = False
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _give_up(self) -> None:
        """Close a connection whose headers did not arrive in time."""
        if self.waiting and not self.transport.is_closing():
            self.transport.close()

    def _make_room(self) -> None:
        """Close the connection of this process that has been idle for longest; this one if none is idle."""
        mine = [one for one in self.connections if isinstance(one, LimitedProtocol) and one is not self and one.idle]
        oldest = min(mine, key=lambda one: one.since, default=self)
        oldest.transport.close()
        self.connections.discard(oldest)
