"""uvicorn's HTTP protocol, with bounds on headers that never end and on connections that never ask."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from listwright.apps.settings import Limits

TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%b"
)
BODY = b'{"error":{"code":"too_large","message":"The headers are too large.","field":"headers"}}'


class LimitedProtocol(HttpToolsProtocol):
    """One connection. Its headers must be there in time and may not be too large; uvicorn has no bounds of its own.

    Where there are more connections than allowed, the one that has waited longest without a request is closed, so that
    connections that were opened and left cannot lock others out.
    """

    def __init__(self, config: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(config, *arguments, **options)
        self.limits: Limits = config.listwright.limits
        self.header_bytes, self.waiting, self.since = 0, True, 0.0
        self.arrived = 0  # bytes that came last: those of a request that begins are among them
        self.timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A new connection."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._wait()
        if len(self.connections) > self.limits.connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end of the connection."""
        self._wait_no_longer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Some bytes; of headers that are not complete, no more than allowed."""
        self.arrived = len(data)
        self.header_bytes += self.arrived
        super().data_received(data)
        if self.waiting and self.header_bytes > self.limits.header_bytes and not self.transport.is_closing():
            self.transport.write(TOO_LARGE % (len(BODY), BODY))
            self.transport.close()

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._wait(self.arrived)

    def on_headers_complete(self) -> None:
        """Its headers are there."""
        self._wait_no_longer()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """It was answered."""
        self.since = self.loop.time()
        super().on_response_complete()

    @property
    def idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _wait(self, arrived: int = 0) -> None:
        self._wait_no_longer()
        self.waiting, self.header_bytes = True, arrived
        self.timer = self.loop.call_later(self.limits.header_seconds, self._give_up)

    def _wait_no_longer(self) -> None:
        self.waiting = False
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _give_up(self) -> None:
        if self.waiting and not self.transport.is_closing():
            self.transport.close()

    def _make_room(self) -> None:
        mine = [one for one in self.connections if isinstance(one, LimitedProtocol) and one is not self and one.idle]
        oldest = min(mine, key=lambda one: one.since, default=self)
        oldest.transport.close()
        self.connections.discard(oldest)
