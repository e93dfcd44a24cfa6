"""kill -9 at random moments under load: nothing acknowledged is lost or applied twice, and learning ends the same.

Then the same with a full disk and with a database that somebody else locks.
"""

from __future__ import annotations

import random
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import inf
from pathlib import Path

from benchmarks.reliability.database import postgresql
from benchmarks.reliability.forked import Forked, finished, folder_of, report, until, warm_model
from benchmarks.reliability.traffic import Book, Traffic

AUDITED = 50  # kills between two audits, so that a run that is broken off has proved what it did until then


def killed(
    cycles: int, replicas: int = 0, *, seed: int = 0, most_seconds: float = 1.0, until_time: float = inf
) -> tuple[int, Book, list[str]]:
    """Kills a service on one store again and again under load and starts it anew; audits after every `AUDITED` kills.

    With `replicas`, so many serve on PostgreSQL, and any of them is killed while the others go on. Also returns the
    number of kills, which is smaller where the time was up before.
    """
    rng, book, number = random.Random(seed), Book(), 0
    with folder_of("listwright-crash-") as folder, ExitStack() as stack:
        model = warm_model(folder)
        store = stack.enter_context(postgresql()).url if replicas else f"sqlite:///{folder}/store.db"
        loaded: list[_Loaded | None] = [None] * max(1, replicas)
        while number < cycles and time.monotonic() < until_time:
            loaded = [service or _Loaded(model, store, book) for service in loaded]
            time.sleep(rng.uniform(0.02, most_seconds))
            number += 1
            chosen = rng.randrange(len(loaded))
            audited = number % AUDITED == 0 and number < cycles
            for i in range(len(loaded)) if audited else [chosen]:
                loaded[i].kill()
                loaded[i] = None
            if audited:
                report(f"{number} x kill -9", book, finished(model, store, book))
        for service in loaded:
            if service is not None:
                service.kill()
        return number, book, finished(model, store, book)


class _Loaded:
    """A service with clients."""

    def __init__(self, model: Path, store: str, book: Book) -> None:
        self.service = Forked(model, store)
        self.traffic = Traffic(self.service.port, book)

    def kill(self) -> None:
        self.service.kill()
        self.traffic.stop()


def full_disk() -> tuple[Book, list[str]]:
    """A disk of a few megabytes fills up under load, is extended, and all goes on."""
    book = Book()
    with folder_of("listwright-crash-") as folder, _small_disk(folder / "disk", "3m") as disk:
        model, store = warm_model(folder), f"sqlite:///{disk}/store.db"
        service = Forked(model, store)
        traffic = Traffic(service.port, book)
        until(lambda: book.statuses.get(503, 0) >= 20)
        service.kill()  # and a crash on top of it
        traffic.stop()
        subprocess.run(["mount", "-o", "remount,size=200m", str(disk)], check=True)
        service = Forked(model, store)
        traffic = Traffic(service.port, book)
        time.sleep(1.0)
        traffic.stop()
        service.stop()
        return book, finished(model, store, book)


def locked() -> tuple[Book, list[str]]:
    """Somebody else holds the database for longer than a write waits."""
    book = Book()
    with folder_of("listwright-crash-") as folder:
        model, store = warm_model(folder), f"sqlite:///{folder}/store.db"
        service = Forked(model, store)
        traffic = Traffic(service.port, book)
        time.sleep(0.5)
        other = sqlite3.connect(folder / "store.db", isolation_level=None, timeout=30)
        other.execute("BEGIN IMMEDIATE")
        until(lambda: book.statuses.get(503, 0) >= 4)
        other.execute("ROLLBACK")
        other.close()
        time.sleep(1.0)
        traffic.stop()
        service.stop()
        return book, finished(model, store, book)


@contextmanager
def _small_disk(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def main(arguments: list[str]) -> None:
    """`crash [cycles] [replicas] [most minutes] [killed] [full] [locked]`: without names all three."""
    numbers = [int(word) for word in arguments if word.isdigit()]
    cycles, replicas, minutes = (*numbers, *(200, 0, 10**6)[len(numbers) :])
    names = [word for word in arguments if not word.isdigit()] or ["killed", "full", "locked"]
    start = time.monotonic()
    if "killed" in names:
        number, *wrong = killed(cycles, replicas, until_time=start + 60 * minutes)
        report(f"{number} x kill -9", *wrong)
    if "full" in names:
        report("full disk", *full_disk())
    if "locked" in names:
        report("locked database", *locked())
    print(f"{time.monotonic() - start:.0f} s")
