"""Replicas on one PostgreSQL, with clocks that disagree, through faults of every kind: one history remains.

Replicas are killed and started again, stopped for longer than a lease lasts, cut off from the database, left without an
answer, and lose the answer to a COMMIT; the database crashes. Meanwhile versions are deployed on one of them at random.
At the end nothing that was acknowledged is lost or doubled, events have no gaps, what was learned is the same to the
last bit as without any fault, and all replicas serve the same.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from sqlalchemy import create_engine

from benchmarks.reliability.audit import audit, one_history
from benchmarks.reliability.client import make_model
from benchmarks.reliability.database import PostgreSQL, postgresql
from benchmarks.reliability.forked import folder_of, report, until
from benchmarks.reliability.proxy import Proxy
from benchmarks.reliability.server import free_port
from benchmarks.reliability.traffic import CANDIDATES, FEATURES, LENGTH, Book, Traffic

SKEWS = (0.0, 300.0, -300.0)  # seconds that the replicas' clocks are ahead
PROGRAM = (
    "import time; real = time.time; time.time = lambda: real() + {skew}; "
    "from listwright.cli import main; main()"
)  # fmt: skip
LEASE = 5.0
FOLLOWED = 2.0  # seconds in which all replicas follow a deployment
PATIENCE = 300.0  # seconds: a busy machine takes long to start a process


class Replica:
    """One service with its own way to the database, its own clock and its own traffic."""

    def __init__(self, number: int, model: Path, server: PostgreSQL, folder: Path, book: Book) -> None:
        self.skew, self.model, self.book = SKEWS[number], model, book
        self.port, self.log = free_port(), folder / f"replica-{number}.log"
        self.proxy = Proxy(server.port)
        self.store = server.url.replace(str(server.port), str(self.proxy.port))
        self.traffic: Traffic | None = None
        self.start()

    def start(self) -> None:
        """Starts the service; `recovered` waits for it."""
        program = [sys.executable, "-c", PROGRAM.format(skew=self.skew)]
        options = ["serve", str(self.model), "--store", self.store, "--port", str(self.port), "--learn"]
        with self.log.open("ab") as output:
            self.process = subprocess.Popen([*program, *options, "--no-deploy"], stdout=output, stderr=output)

    def ready(self) -> bool:
        """Whether it says so."""
        return self.ask("GET", "/readyz") is not None

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """What it answers; None where that is no success."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        request = Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": kind}, method=method)
        try:
            with urlopen(request, timeout=15) as answer:
                return json.load(answer)
        except HTTPError as error:
            error.close()
        except (URLError, OSError):
            pass
        return None

    def load(self) -> None:
        """Begins its traffic anew, where it was cut off."""
        if self.traffic is not None:
            self.traffic.stop()
        self.traffic = Traffic(self.port, self.book, connections=2)

    def served(self) -> int:
        """Answers so far, on all replicas."""
        return len(self.book.feedback)

    def end(self) -> None:
        """Stops everything in good order."""
        if self.traffic is not None:
            self.traffic.stop()
        self.process.terminate()
        self.process.wait(60)
        self.proxy.close()


class Trial:
    """The replicas, their database, and what was seen."""

    def __init__(self, folder: Path, server: PostgreSQL, seed: int, count: int) -> None:
        self.rng, self.book, self.server = random.Random(seed), Book(), server
        shape = {"features": FEATURES, "candidates": CANDIDATES, "length": LENGTH}
        model, self.other = (make_model(folder / f"{i}.listwright", **shape, seed=i) for i in range(2))
        self.replicas = [Replica(i, model, server, folder, self.book) for i in range(count)]
        self.seen: Counter[str] = Counter()
        self.recovery: list[float] = []
        self.told_to_stop = False  # before the next fault
        self.following: list[float] = []

    def run(self, faults: int, kinds: Sequence[Fault]) -> list[str]:
        """So many faults of these kinds, one after the other; what is wrong at the end."""
        try:
            self._recovered()
            self.replicas[0].ask("POST", "/v1/models", self.other.read_bytes())
            for number in range(faults):
                if self.told_to_stop:
                    break
                replica = self.rng.choice(self.replicas)
                fault = self.rng.choice(kinds)
                self.seen[fault.__name__.strip("_")] += 1
                fault(self, replica)
                self._recovered()
                print(f"{number + 1}: {fault.__name__}, {self.recovery[-1]:.1f} s", file=sys.stderr, flush=True)
                if number % 5 == 4:
                    self._deploy()
            return self._agree()
        except RuntimeError as error:
            logs = "\n".join(f"{other.ready()}: {other.log.read_text()[-1500:]}" for other in self.replicas)
            raise RuntimeError(f"{error}, after {dict(self.seen)}\n{logs}") from None
        finally:
            for replica in self.replicas:
                replica.end()

    def _recovered(self) -> None:
        """All are ready, serve, and one of them learns."""
        start = time.monotonic()
        until(lambda: all(replica.ready() for replica in self.replicas), PATIENCE)
        for replica in self.replicas:
            replica.load()
        count = len(self.book.feedback)
        until(lambda: len(self.book.feedback) > count + 30, PATIENCE)
        applied = self._applied()
        until(lambda: self._applied() > applied, PATIENCE)
        self.recovery.append(time.monotonic() - start)

    def _applied(self) -> int:
        stats = self.replicas[0].ask("GET", "/v1/stats")
        return -1 if stats is None else int(stats["learning"]["applied"])

    def _deploy(self) -> None:
        """Another version serves: told to one replica, seen by all."""
        version = 3 - self._current(self.replicas[0])
        replica = self.rng.choice(self.replicas)
        until(lambda: replica.ask("PUT", "/v1/traffic", {"current": version}) is not None)
        start = time.monotonic()
        until(lambda: all(self._current(other) == version for other in self.replicas))
        self.following.append(time.monotonic() - start)

    def _current(self, replica: Replica) -> int:
        models = replica.ask("GET", "/v1/models")
        return 0 if models is None else int(models["traffic"]["current"])

    def _agree(self) -> list[str]:
        for replica in self.replicas:
            if replica.traffic is not None:
                replica.traffic.stop()
        last = Traffic(self.replicas[0].port, self.book, connections=1)  # sends again what got no answer
        until(lambda: not self.book.unknown)
        last.stop()
        until(lambda: self._learned_all(), PATIENCE)
        seen = [replica.ask("GET", "/v1/learning") for replica in self.replicas]
        learned = [[(row["version"], row["applied"], row["lists"]) for row in answer["versions"]] for answer in seen]
        wrong = (
            []
            if all(versions == learned[0] for versions in learned)
            else [f"replicas disagree on what was learned: {learned}"]
        )
        wrong += [
            f"a deployment was followed after {seconds:.1f} s" for seconds in self.following if seconds > FOLLOWED
        ]
        return wrong

    def _learned_all(self) -> bool:
        learning = self.replicas[0].ask("GET", "/v1/learning")
        return learning is not None and all(row["waiting"] == 0 for row in learning["versions"])

    def _kill(self, replica: Replica) -> None:
        replica.process.kill()
        replica.process.wait()
        time.sleep(self.rng.uniform(0.0, 1.0))
        replica.start()

    def _pause(self, replica: Replica) -> None:
        """Longer than its lease lasts: another replica takes over meanwhile."""
        os.kill(replica.process.pid, signal.SIGSTOP)
        time.sleep(LEASE + self.rng.uniform(0.5, 2.0))
        os.kill(replica.process.pid, signal.SIGCONT)

    def _cut(self, replica: Replica) -> None:
        self._parted(replica, "cut", self.rng.uniform(0.5, 3.0))

    def _silence(self, replica: Replica) -> None:
        self._parted(replica, "silent", LEASE + self.rng.uniform(1.0, 4.0))

    def _lose_answers(self, replica: Replica) -> None:
        """Also to COMMIT: whether it was done is not known."""
        self._parted(replica, "deaf", self.rng.uniform(0.2, 2.0))

    def _parted(self, replica: Replica, state: str, seconds: float) -> None:
        replica.proxy.set(state)
        time.sleep(seconds)
        replica.proxy.set("open")

    def _crash_database(self, replica: Replica) -> None:
        self.server.stop("immediate")
        time.sleep(self.rng.uniform(0.0, 2.0))
        self.server.start()


Fault = Callable[[Trial, Replica], None]
FAULTS: tuple[Fault, ...] = (
    Trial._kill,
    Trial._pause,
    Trial._cut,
    Trial._silence,
    Trial._lose_answers,
    Trial._crash_database,
)


def replicated(faults: int, seed: int, count: int, kinds: Sequence[Fault]) -> tuple[Trial, list[str]]:
    """Runs a trial on a database of its own; SIGINT ends it after the present fault, with everything checked."""
    with folder_of("listwright-replicas-") as folder, postgresql() as server:
        trial = Trial(folder, server, seed, count)
        signal.signal(signal.SIGINT, lambda number, frame: setattr(trial, "told_to_stop", True))
        wrong = trial.run(faults, kinds)
        others = {status: count for status, count in trial.book.statuses.items() if status not in (200, 503)}
        wrong += [f"{count} answers of {status}" for status, count in others.items()]
        wrong += audit(server.url, trial.book)
        engine = create_engine(server.url.replace("postgresql:", "postgresql+psycopg:"))
        with engine.connect() as connection:
            wrong += one_history(connection)
        engine.dispose()
        return trial, wrong


def main(arguments: list[str]) -> None:
    """`replicas [faults] [seed] [replicas] [kill]`."""
    given = [int(word) for word in arguments if word.isdigit()]
    faults, seed, count = (*given, *(50, 0, len(SKEWS))[len(given) :])
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit("stopped"))  # so that replicas are stopped too
    start = time.monotonic()
    trial, wrong = replicated(faults, seed, count, (Trial._kill,) if "kill" in arguments else FAULTS)
    kinds = ", ".join(f"{count} {name}" for name, count in sorted(trial.seen.items()))
    print(f"{kinds}; all replicas serve and learn again after at most {max(trial.recovery):.1f} s")
    if trial.following:
        print(f"{len(trial.following)} deployments reached all replicas after at most {max(trial.following):.2f} s")
    report(f"{count} replicas, {trial.seen.total()} faults", trial.book, wrong)
    print(f"{time.monotonic() - start:.0f} s")
