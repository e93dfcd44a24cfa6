"""PostgreSQL restarted and crashed under load: requests fail cleanly, then all goes on, and nothing is lost."""

from __future__ import annotations

import sys
import time

from benchmarks.reliability.database import postgresql
from benchmarks.reliability.forked import Forked, finished, folder_of, report, until, warm_model
from benchmarks.reliability.traffic import Book, Traffic


def restarted(times: int) -> tuple[Book, list[str]]:
    """Stops the server in turn in good order and as in a crash, waits until requests fail, and starts it again."""
    book = Book()
    with folder_of("listwright-restart-") as folder, postgresql() as server:
        model = warm_model(folder)
        service = Forked(model, server.url)
        traffic = Traffic(service.port, book)
        for number in range(times):
            served, failed = len(book.feedback), book.statuses.get(503, 0)
            until(lambda served=served: len(book.feedback) > served + 20)
            server.stop("fast" if number % 2 else "immediate")
            until(lambda failed=failed: book.statuses.get(503, 0) > failed)
            server.start()
        served = len(book.feedback)
        until(lambda: len(book.feedback) > served + 20)
        traffic.stop()
        others = {status: count for status, count in book.statuses.items() if status not in (200, 503)}
        book.wrong += [f"{count} answers of {status}" for status, count in others.items()]
        service.kill()
        return book, finished(model, server.url, book)


def main(arguments: list[str]) -> None:
    """`postgres [restarts]`."""
    times = int(arguments[0]) if arguments else 20
    start = time.monotonic()
    report(f"{times} restarts of PostgreSQL", *restarted(times))
    print(f"{time.monotonic() - start:.0f} s", file=sys.stderr)
