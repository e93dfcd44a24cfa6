"""Traffic that keeps book: what was acknowledged, so that it can be looked for afterwards."""

from __future__ import annotations

import json
import random
import threading
import time
from dataclasses import dataclass, field

from benchmarks.reliability.client import Broken, Client, feedback_body, list_bodies

CANDIDATES, FEATURES, LENGTH = 20, 8, 4


@dataclass
class Book:
    """What clients know for sure."""

    lists: dict[str, int] = field(default_factory=dict)  # acknowledged: id to number of items
    feedback: dict[str, int] = field(default_factory=dict)  # acknowledged: id of the list to number of the event
    unknown: list[bytes] = field(default_factory=list)  # feedback that was sent, and no answer came
    statuses: dict[int, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def note(self, status: int) -> None:
        self.statuses[status] = self.statuses.get(status, 0) + 1


class Traffic:
    """Some connections that ask for lists and give feedback until they are stopped or cut off."""

    def __init__(self, port: int, book: Book, *, connections: int = 4) -> None:
        self.port, self.book = port, book
        self.bodies = list_bodies(16, candidates=CANDIDATES, features=FEATURES, length=LENGTH)
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self._run, args=(i,)) for i in range(connections)]
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def _run(self, number: int) -> None:
        rng = random.Random(number + len(self.book.lists))
        try:
            client = Client(self.port)
            for body in self._retried():
                self._tell(client, body)
            while not self.stopping.is_set():
                self._pair(client, rng)
            client.close()
        except (Broken, OSError):
            return  # cut off: what was in the air is not known

    def _retried(self) -> list[bytes]:
        """Feedback whose answer was lost is sent again, as a client should."""
        sent, self.book.unknown = self.book.unknown, []
        return sent

    def _pair(self, client: Client, rng: random.Random) -> None:
        status, answer = client.post("/v1/lists", rng.choice(self.bodies))
        self.book.note(status)
        if status != 200:
            time.sleep(0.05)
            return
        served = json.loads(answer)
        self.book.lists[served["list_id"]] = len(served["items"])
        self._tell(client, feedback_body(answer, rng.random() < 0.4))

    def _tell(self, client: Client, body: bytes) -> None:
        list_id = json.loads(body)["list_id"]
        try:
            status, answer = client.post("/v1/feedback", body)
        except Broken:
            self.book.unknown.append(body)
            raise
        self.book.note(status)
        if status == 200:
            self._acknowledged(list_id, json.loads(answer)["event"])
        else:
            self.book.unknown.append(body)
            time.sleep(0.05)

    def _acknowledged(self, list_id: str, event: int) -> None:
        if self.book.feedback.setdefault(list_id, event) != event:
            self.book.wrong.append(f"{list_id} was event {self.book.feedback[list_id]} and is now {event}")
