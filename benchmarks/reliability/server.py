"""A service in a process of its own, on a free port of this machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

COMMAND = [sys.executable, "-c", "from listwright.cli import main; main()", "serve"]
START_SECONDS = 1_800.0  # a busy machine takes long, which is no fault of the service
PATIENT = {f"LISTWRIGHT_LIMIT_{limit}SECONDS": "1800" for limit in ("", "HEADER_", "UPLOAD_")}


@dataclass(frozen=True)
class Server:
    """A running service."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """As a power cut would end it."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """As an operator would end it; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=START_SECONDS)

    def memory(self) -> int:
        """Bytes that the process holds."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def cpu_seconds(self) -> float:
        """Of the process so far."""
        return cpu_seconds(self.process.pid)


def cpu_seconds(process: int) -> float:
    """Processor time of a process and its children so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(cpu_seconds(int(child)) for child in children)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def start(model: Path, store: str, folder: Path, *options: str, environment: Mapping[str, str] | None = None) -> Server:
    """Starts a service and waits until it is ready."""
    port, log = free_port(), folder / "server.log"
    command = [*COMMAND, str(model), "--store", store, "--port", str(port), *options]
    variables = os.environ | PATIENT | dict(environment or {})
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=variables)
    server = Server(process, port, log)
    end = time.monotonic() + START_SECONDS
    while not is_ready(server):
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            process.wait()
            raise RuntimeError(f"the service did not start: {log.read_text()[-2000:]}")
        time.sleep(0.05)
    return server


def is_ready(server: Server) -> bool:
    """Whether it says so."""
    try:
        with urlopen(f"{server.url}/readyz", timeout=60) as answer:
            return answer.status == 200
    except (URLError, OSError):
        return False


@contextmanager
def running(model: Path, store: str, folder: Path, *options: str) -> Iterator[Server]:
    """A service that is stopped at the end, whatever happens."""
    server = start(model, store, folder, *options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.terminate()
            try:
                server.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                server.kill()
