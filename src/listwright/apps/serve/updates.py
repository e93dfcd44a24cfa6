"""The single updater: feedback in its order, and the learner's state stored with how far it is.

The state depends on the events and their order alone: not on when they were read, nor in which groups (see
`OnlineSCP.update`). So after a crash the events since the stored state are applied again, and the end is the same to
the last bit.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from safetensors.numpy import load, save
from sqlalchemy import Connection, Engine, delete, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from listwright.apps.serve.metrics import Metrics
from listwright.apps.serve.records import as_record
from listwright.apps.serve.refusals import Refused
from listwright.apps.serve.schema import clock, feedback, learners, lists
from listwright.apps.serve.versions import Fleet
from listwright.apps.serve.writer import Writer
from listwright.errors import InputError
from listwright.feedback import OnlineSCP

MOST = 256  # events between two stored states
PAUSE = 0.5  # seconds between two looks for events
log = logging.getLogger("listwright.apps.serve")


class Progress(NamedTuple):
    """States to store, and how far they are."""

    states: dict[int, bytes]  # by version
    before: int
    applied: int


class Updater:
    """A thread that learns."""

    def __init__(self, reading: Engine, writer: Writer, fleet: Fleet, metrics: Metrics) -> None:
        self.reading, self.writer, self.fleet, self.metrics = reading, writer, fleet, metrics
        self.applied = self.stored = _applied(reading)
        self.changed: set[int] = set()
        self.stopped = threading.Event()
        self.failed = False
        self.thread = threading.Thread(target=self._run, name="updater", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """Ends after the events at hand; what is left is applied at the next start."""
        self.stopped.set()
        self.thread.join()

    def _run(self) -> None:
        while not self.failed:
            busy = False
            try:
                busy = self._step()
            except (SQLAlchemyError, Refused) as error:  # tried again: nothing is lost, as the events are stored
                log.warning("learning waits for the store: %s", type(error).__name__)
                self.failed = isinstance(error, Refused) and error.status == 409
            except Exception:
                log.exception("learning ended")
                self.failed = True
            if self.stopped.wait(0 if busy else PAUSE):
                return

    def _step(self) -> bool:
        """Some events; whether there may be more at once."""
        with self.reading.connect() as connection:
            rows = _events_after(connection, self.applied, MOST)
        for number in sorted({row.version for row in rows}):
            self._apply(number, [row for row in rows if row.version == number])
        self.applied = rows[-1].event if rows else self.applied
        if self.applied > self.stored:
            states = {number: save(self.fleet.get(number).online.state()) for number in self.changed}
            self.writer.write_from_thread(store_progress, Progress(states, self.stored, self.applied))
            self.stored, self.changed = self.applied, set()
            self.metrics.applied.set(self.applied)
        return len(rows) == MOST

    def _apply(self, number: int, rows: list[Any]) -> None:
        """Events of one version."""
        learner = self.fleet.get(number).online
        self.changed.add(number)
        try:
            learner.update([as_record(row.list_id, row.problem, row.gains) for row in rows])
        except InputError as error:  # of one of them, found before any was learned from
            if len(rows) > 1:
                for row in rows:
                    self._apply(number, [row])
                return
            self.metrics.skipped.inc()
            log.warning("event %d cannot be learned from: %s", rows[0].event, error)


def learner_maker(explore: str, seed: int) -> Callable[[Any, bytes | None], OnlineSCP]:
    """Makes the learner of a model, in the state it was stored in."""

    def make(model: Any, state: bytes | None) -> OnlineSCP:
        learner = OnlineSCP.from_model(model, explore=explore, random_state=seed, short_lists=True, memory=0)
        if state is not None:
            learner.restore(load(state))
        return learner

    return make


def store_progress(connection: Connection, steps: Sequence[Progress]) -> list[Refused | None]:
    """States and how far they are, in one transaction; refused where somebody else went on from the same place."""
    return [_store(connection, step) for step in steps]


def _store(connection: Connection, step: Progress) -> Refused | None:
    mine = (clock.c.name == "applied") & (clock.c.value == step.before)
    if connection.execute(update(clock).where(mine).values(value=step.applied)).rowcount != 1:
        return Refused(409, "conflict", "Another service learns on this store. Only one may run with --learn.")
    for number, state in step.states.items():
        connection.execute(delete(learners).where(learners.c.version == number))
        connection.execute(insert(learners), {"version": number, "applied": step.applied, "state": state})
    return None


def _applied(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(select(clock.c.value).where(clock.c.name == "applied")).scalar_one())


def _events_after(connection: Connection, applied: int, limit: int) -> Sequence[Any]:
    """Feedback with its list, in order."""
    columns = feedback.c.event, feedback.c.list_id, feedback.c.version, feedback.c.gains, lists.c.problem
    wanted = select(*columns).join(lists, lists.c.id == feedback.c.list_id).where(feedback.c.event > applied)
    return connection.execute(wanted.order_by(feedback.c.event).limit(limit)).all()
