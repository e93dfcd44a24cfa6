"""A service in a fork of this process: starting it again takes no time, and it can be killed like any other."""

from __future__ import annotations

import gc
import json
import multiprocessing
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np

import listwright as lw
from benchmarks.reliability.audit import audit
from benchmarks.reliability.client import make_model
from benchmarks.reliability.server import START_SECONDS, free_port
from benchmarks.reliability.traffic import CANDIDATES, FEATURES, LENGTH, Book, Traffic
from listwright.feedback import OnlineSCP
from listwright.serve import Settings, serve

FORK = multiprocessing.get_context("fork")


class Forked:
    """A service in a fork."""

    def __init__(self, model: Path, store: str) -> None:
        self.port = free_port()
        self.process = FORK.Process(target=serve, args=(Settings(model, store, learn=True, port=self.port),))
        self.process.start()
        end = time.monotonic() + START_SECONDS
        while self.get("/readyz") is None:
            if not self.process.is_alive() or time.monotonic() > end:
                self.kill()
                raise RuntimeError("the service did not start")
            time.sleep(0.01)

    def get(self, path: str) -> dict[str, Any] | None:
        try:
            with urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
                return json.load(answer)
        except (URLError, OSError):
            return None

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        self.process.close()

    def stop(self) -> None:
        self.process.terminate()
        self.process.join(60)
        if self.process.is_alive():
            self.kill()
            raise RuntimeError("the service did not stop")
        self.process.close()

    def learn_all(self) -> None:
        """Waits until all feedback has been learned from."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            learning = (self.get("/v1/stats") or {}).get("learning")
            if learning and learning["applied"] == learning["events"]:
                return
            time.sleep(0.05)
        raise RuntimeError(f"learning is not done: {learning}")


def finished(model: Path, store: str, book: Book) -> list[str]:
    """Sends again what got no answer, learns all, stops in good order, and looks into the store: what is wrong."""
    service = Forked(model, store)
    traffic = Traffic(service.port, book, connections=1)
    until(lambda: not book.unknown)
    traffic.stop()
    service.learn_all()
    service.stop()
    return audit(store, book)


def warm_model(folder: Path) -> Path:
    """Made here, so that forks have the compiled code."""
    path = folder / "model.listwright"
    make_model(path, features=FEATURES, candidates=CANDIDATES, length=LENGTH)
    learner = OnlineSCP.from_model(lw.load(path), random_state=0)
    shown = learner.recommend(lw.Problems.from_arrays(np.zeros((1, CANDIDATES, FEATURES))), list_ids=["warm"])
    learner.feedback(shown.list_ids, [np.zeros(LENGTH)])
    gc.freeze()  # forks need not look through, and copy, what they share
    return path


@contextmanager
def folder_of(prefix: str) -> Iterator[Path]:
    name = tempfile.mkdtemp(prefix=prefix)
    try:
        yield Path(name)
    finally:
        shutil.rmtree(name, ignore_errors=True)


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError("what should happen did not")
        time.sleep(0.02)


def report(name: str, book: Book, wrong: list[str]) -> None:
    """What was seen; ends the program where something is wrong."""
    answers = ", ".join(f"{count} x {status}" for status, count in sorted(book.statuses.items()))
    known = f"{len(book.lists)} lists and {len(book.feedback)} feedbacks acknowledged"
    print(f"{name}: {known} ({answers}); {len(wrong)} wrong", flush=True)
    if wrong:
        sys.exit("\n".join(wrong[:20]))
