"""A way to a database that can be cut, go silent, or lose what comes back, as networks do."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

PIECE = 1 << 16
REFUSING = ("cut",)


class Proxy:
    """Passes connections on to a port of this machine.

    `state` says how: "open" passes everything on, "cut" breaks connections off and takes no new ones, "silent" keeps
    them and passes nothing on, and "deaf" passes on what is asked but loses the answers.
    """

    def __init__(self, target: int) -> None:
        self.target, self.state = target, "open"
        self.changed = threading.Condition()
        self.pairs: set[tuple[socket.socket, socket.socket]] = set()
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self.listening.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def set(self, state: str) -> None:
        """Changes how connections are passed on; answers that were lost stay lost, so such connections are closed."""
        with self.changed:
            lost, self.state = self.state == "deaf", state
            self.changed.notify_all()
        if lost or state in REFUSING:
            self._break_all()

    def close(self) -> None:
        """Ends all connections."""
        self.listening.close()
        self.set("cut")

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            if self.state in REFUSING:
                client.close()
                continue
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.target), timeout=5)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        pair = client, server
        self.pairs.add(pair)
        threading.Thread(target=self._pass_on, args=(server, client, True), daemon=True).start()
        self._pass_on(client, server, False)
        self._break(pair)

    def _pass_on(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(PIECE):
                with self.changed:
                    self.changed.wait_for(lambda: self.state != "silent")
                    lost = answers and self.state == "deaf"
                if not lost:
                    sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _break_all(self) -> None:
        for pair in list(self.pairs):
            self._break(pair)

    def _break(self, pair: tuple[socket.socket, socket.socket]) -> None:
        self.pairs.discard(pair)
        for end in pair:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
