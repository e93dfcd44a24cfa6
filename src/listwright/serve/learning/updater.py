"""The thread that learns. Every replica with learning on has one; the one that holds the lease works, the others
stand by.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from listwright.errors import InputError
from listwright.feedback.online import OnlineSCP
from listwright.feedback.updates import TrainingUpdate
from listwright.serve.learning.learner import GROUP, Learner, record_of
from listwright.serve.learning.published import publish
from listwright.serve.learning.states import (
    LOST,
    Event,
    Progress,
    begin,
    events_after,
    rows_of,
    state_bytes,
    store_progress,
)
from listwright.serve.learning.watch import Watch
from listwright.serve.metrics import Metrics
from listwright.serve.models.fleet import ModelRegistry
from listwright.serve.refusals import Refused
from listwright.serve.store.lease import Claim, give_up, take
from listwright.serve.store.writer import Writer

PAUSE = 0.5  # seconds between two looks for events
BYTES_A_SECOND = 1 << 20  # that snapshots may take on average: large states are stored less often
log = logging.getLogger("listwright.serve")


class Updater:
    """Learns from stored feedback while it holds the lease."""

    def __init__(self, reading: Engine, writer: Writer, fleet: ModelRegistry, metrics: Metrics, *, every: int) -> None:
        """Start the thread."""
        self.reading, self.writer, self.fleet, self.metrics, self.every = reading, writer, fleet, metrics, every
        self.claim = Claim("learner", secrets.token_hex(8))
        self.term: int | None = None
        self.learners: dict[int, Learner] = {}
        self.watches: dict[int, Watch] = {}
        self.snapped: dict[int, tuple[int, float]] = {}  # by version: count and time of the last snapshot
        self.failure: str | None = None
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._run, name="updater", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """End after the current group and give up the lease; remaining events are learned from later."""
        self.stopped.set()
        self.thread.join()

    def _run(self) -> None:
        """Take steps until stopped, pausing while there are no events."""
        while not self.stopped.is_set():
            busy = False
            try:
                busy = self._step()
                self.failure = None
            except (SQLAlchemyError, Refused) as error:
                if error is LOST:  # another replica learns, or an operator has changed what was learned
                    self.learners.clear()
                else:
                    self._begin_anew("waiting for the store", error)
            except Exception as error:
                self._begin_anew("failed", error)
                log.exception("learning failed")
            self.stopped.wait(0 if busy else PAUSE)
        self._give_up()

    def _begin_anew(self, what: str, error: Exception) -> None:
        """Drop everything in memory after an error and log it once; events and progress are in the store."""
        if self.failure is None:
            log.warning("learning %s", what, extra={"cause": f"{type(error).__name__}: {error}"[:300]})
        self.failure = f"Learning {what}."
        self.term = None
        self.learners.clear()

    def _give_up(self) -> None:
        """Give up the lease, so that another replica takes over at once."""
        if self.term is not None:
            try:
                self.writer.write_from_thread(give_up, self.claim)
            except (SQLAlchemyError, Refused):
                log.info("the lease runs out by itself")

    def _step(self) -> bool:
        """Learn from one group of events per version; return whether more may be waiting."""
        term = self.writer.write_from_thread(take, self.claim)
        if term != self.term:
            self.learners.clear()
        self.term = term
        self.metrics.leader.set(term is not None)
        if term is None:
            return False
        with self.reading.connect() as connection:
            rows = rows_of(connection)
        more = [self._learn(number, rows[number]) for number in self._versions(rows)]
        return any(more)

    def _versions(self, rows: dict[int, Any]) -> list[int]:
        """Return the versions to learn for; versions that serve for the first time get a row of progress."""
        serving = {number for one in self.fleet.traffic.values() for number in (one.current, one.canary) if number}
        for number in serving - rows.keys():
            self.writer.write_from_thread(begin, number)
        return sorted(rows)

    def _learn(self, number: int, row: Any) -> bool:
        """Learn from one group of events of a version; return whether the group was full."""
        self.metrics.frozen.labels(number).set(row.frozen)
        if row.frozen:
            self.learners.pop(number, None)
            return False
        learner = self._learner(number, row)
        with self.reading.connect() as connection:
            events = events_after(connection, number, learner.applied, GROUP)
        if events or (row.policy is None and learner.count):
            self._apply(learner, row, events)
        return len(events) == GROUP

    def _learner(self, number: int, row: Any) -> Learner:
        """Return the learner in memory, or rebuild it where the store has another base or progress."""
        found = self.learners.get(number)
        if found is None or (found.base, found.applied) != (row.base, row.applied):
            found = Learner.read(self.reading, number, lambda: self._fresh(number), row)
            self.learners[number] = found
            self.watches[number] = Watch(found.online.features_, self._fresh(number).playing_.policy)
            self.snapped.setdefault(number, (row.count, monotonic()))
        return found

    def _fresh(self, number: int) -> OnlineSCP:
        """Return a new learner in the state of the model file, which may be changed."""
        version = self.fleet.get(number)
        if version.deployed is None:
            raise InputError(f"Version {number} cannot learn.")
        return self.fleet.opening.learner(version.model)

    def _apply(self, learner: Learner, row: Any, events: list[Event]) -> None:
        """Apply events and store the result."""
        # The comparison with the deployed policy is updated before learning, so that both policies are judged on
        # feedback they have not seen.
        watch = self.watches[learner.version]
        watch.look(learner.online.playing_.policy, _records(events))
        left = learner.apply(events)
        found = watch.comparison()
        behind = found is not None and found.behind
        snapshot = None if behind else self._snapshot(learner)
        step = Progress(
            claim=self.claim,
            term=self.term or 0,
            version=learner.version,
            base=row.base,
            before=row.applied,
            applied=learner.applied,
            count=learner.count,
            policy=publish(learner.online),
            left=left,
            comparison=None if found is None else found.to_dict(),
            alarm=f"Behind the deployed policy: {found}." if behind else None,
            snapshot=snapshot,
        )
        base = self.writer.write_from_thread(store_progress, step)
        learner.base = int(base)
        self._stored(learner, step)

    def _snapshot(self, learner: Learner) -> bytes | None:
        """Return the full state if a snapshot is due: after `every` lists, and less often for large states."""
        count, at = self.snapped[learner.version]
        if learner.count - count < self.every:
            return None
        state = state_bytes(learner.online)
        return state if monotonic() - at >= len(state) / BYTES_A_SECOND else None

    def _stored(self, learner: Learner, step: Progress) -> None:
        """Update memory, metrics and the fleet after progress was stored."""
        if step.snapshot is not None:
            self.snapped[learner.version] = learner.count, monotonic()
        if step.alarm is not None:
            log.error("learning is paused", extra={"version": learner.version, "cause": step.alarm})
            self.metrics.frozen.labels(learner.version).set(1)
            self.learners.pop(learner.version)
        self.metrics.applied.set(step.applied)
        self.metrics.skipped.inc(len(step.left))
        self.fleet.follow()


def _records(events: list[Event]) -> list[TrainingUpdate]:
    """Return the records of events that can be read; damaged ones are left to the learner, which reports them."""
    found = []
    for event in events:
        if event.learn:
            try:
                found.append(record_of(event))
            except InputError:
                continue
    return found


def learner_maker(explore: str, seed: int, leverage: float | None) -> Callable[[Any], OnlineSCP]:
    """Return a function that makes an `OnlineSCP` from a model."""

    def make(model: Any) -> OnlineSCP:
        """Make the learner of a model, in the state of its file."""
        return OnlineSCP.from_model(
            model, explore=explore, random_state=seed, allow_short=True, memory=0, leverage=leverage
        )

    return make
