"""kill -9 at random moments under load: nothing acknowledged is lost or applied twice, and learning ends the same.

Then the same with a full disk and with a database that somebody else locks.
"""

from __future__ import annotations

import random
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.reliability.forked import Forked, finished, folder_of, report, until, warm_model
from benchmarks.reliability.traffic import Book, Traffic

AUDITED = 50  # kills between two audits, so that a run that is broken off has proved what it did until then


def killed(cycles: int, *, seed: int = 0, most_seconds: float = 1.0) -> tuple[Book, list[str]]:
    """Starts, loads and kills a service again and again on one store, and audits it after every `AUDITED` kills."""
    rng, book = random.Random(seed), Book()
    with folder_of("listwright-crash-") as folder:
        model, store = warm_model(folder), f"sqlite:///{folder}/store.db"
        for number in range(1, cycles + 1):
            service = Forked(model, store)
            traffic = Traffic(service.port, book)
            time.sleep(rng.uniform(0.02, most_seconds))
            service.kill()
            traffic.stop()
            if number % AUDITED == 0 and number < cycles:
                report(f"{number} x kill -9", book, finished(model, store, book))
        return book, finished(model, store, book)


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
    """`crash [cycles] [full] [locked]`: without names all three."""
    cycles = next((int(one) for one in arguments if one.isdigit()), 200)
    names = [one for one in arguments if not one.isdigit()] or ["killed", "full", "locked"]
    start = time.monotonic()
    if "killed" in names:
        report(f"{cycles} x kill -9", *killed(cycles))
    if "full" in names:
        report("full disk", *full_disk())
    if "locked" in names:
        report("locked database", *locked())
    print(f"{time.monotonic() - start:.0f} s")
