"""The thread that learns: every replica with learning on has one, and the one that holds the lease works."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from listwright.errors import InputError
from listwright.feedback.explore import Epsilon, Floor
from listwright.feedback.online import OnlineSCP
from listwright.feedback.updates import TrainingUpdate
from listwright.serve.learning import progress
from listwright.serve.learning.learner import GROUP, VersionLearner, state_bytes
from listwright.serve.learning.monitor import PolicyMonitor
from listwright.serve.metrics import Metrics
from listwright.serve.models.registry import ModelRegistry
from listwright.serve.models.version import publish
from listwright.serve.refusals import Refused
from listwright.serve.settings import Settings
from listwright.serve.store.records import FeedbackEvent
from listwright.serve.store.writer import Writer

PAUSE = 0.5  # seconds between two looks for events
DAY = 86_400.0
BYTES_A_SECOND = 1 << 20  # that snapshots may take on average: large states are stored less often
log = logging.getLogger("listwright.serve")


class Updater:
    """Learns from stored feedback while it holds the lease."""

    def __init__(
        self, reading: Engine, writer: Writer, registry: ModelRegistry, metrics: Metrics, settings: Settings
    ) -> None:
        self.reading, self.writer, self.registry, self.metrics = reading, writer, registry, metrics
        self.every = settings.snapshot_every  # lists between two snapshots
        self.seconds = DAY * min(settings.snapshot_hours / 24, (settings.keep_days or inf) / 4)  # and time
        self.claim = progress.Claim("learner", secrets.token_hex(8))
        self.term: int | None = None
        self.learners: dict[int, VersionLearner] = {}
        self.monitors: dict[int, PolicyMonitor] = {}
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
        while not self.stopped.is_set():
            busy = False
            try:
                busy = self._step()
                self.failure = None
            except progress.Lost:  # another replica learns, or an operator has changed what was learned
                self.learners.clear()
            except (SQLAlchemyError, Refused) as error:
                self._restart("waiting for the store", error)
            except InputError as error:
                self._restart("failed", error)
            except Exception as error:
                self._restart("failed", error)
                log.exception("learning failed")
            self.stopped.wait(0 if busy else PAUSE)
        self._give_up()

    def _restart(self, what: str, error: Exception) -> None:
        """Drop everything in memory after an error and log it once; events and progress are in the store."""
        if self.failure is None:
            log.warning("learning %s", what, extra={"cause": f"{type(error).__name__}: {error}"[:300]})
        self.failure = f"Learning failed: {error}" if isinstance(error, InputError) else f"Learning {what}."
        self.term = None
        self.learners.clear()

    def _give_up(self) -> None:
        if self.term is not None:
            try:
                self.writer.write_from_thread(progress.give_up, self.claim)
            except (SQLAlchemyError, Refused):
                log.info("the lease runs out by itself")

    def _step(self) -> bool:
        term = self.writer.write_from_thread(progress.take, self.claim)
        if term != self.term:
            self.learners.clear()
        self.term = term
        self.metrics.leader.set(term is not None)
        if term is None:
            return False
        with self.reading.connect() as connection:
            rows = progress.rows_of(connection)
        more = [self._learn(number, rows[number]) for number in self._versions(rows)]
        return any(more)

    def _versions(self, rows: dict[int, Any]) -> list[int]:
        """Return the versions to learn for; versions that serve for the first time get a row of progress."""
        shares = self.registry.traffic.values()
        serving = {number for share in shares for number in (share.current, share.canary) if number}
        for number in serving - rows.keys():
            self.writer.write_from_thread(progress.start_learning, number)
        return sorted(rows)

    def _learn(self, number: int, row: Any) -> bool:
        self.metrics.frozen.labels(number).set(row.frozen)
        if row.frozen:
            self.learners.pop(number, None)
            return False
        learner = self._learner(number, row)
        with self.reading.connect() as connection:
            events = progress.events_after(connection, number, learner.applied, GROUP)
        if events or (row.policy is None and learner.count) or self._is_due(learner):
            self._apply(learner, row, events)
        return len(events) == GROUP

    def _learner(self, number: int, row: Any) -> VersionLearner:
        """Return the learner in memory, or rebuild it where the store has another base or progress."""
        learner = self.learners.get(number)
        if learner is None or (learner.base, learner.applied) != (row.base, row.applied):
            learner = VersionLearner.read(self.reading, number, lambda: self._fresh(number), row)
            self.learners[number] = learner
            self.monitors[number] = PolicyMonitor(learner.online.features_, self._fresh(number).playing_.policy)
            with self.reading.connect() as connection:
                base = progress.snapshot(connection, row.base)
            self.snapped[number] = base.count, monotonic() - max(0.0, time.time() - base.created)
        return learner

    def _fresh(self, number: int) -> OnlineSCP:
        version = self.registry.get(number)
        if version.deployed is None:
            raise InputError(f"Version {number} cannot learn.")
        return self.registry.loader.learner(version.model)

    def _apply(self, learner: VersionLearner, row: Any, events: list[FeedbackEvent]) -> None:
        # The comparison with the deployed policy is updated before learning, so that both policies are judged on
        # feedback they have not seen.
        monitor = self.monitors[learner.version]
        monitor.observe(learner.online.playing_.policy, *_updates(events))
        left = learner.apply(events)
        comparison = monitor.comparison(learner.online.playing_.policy)
        alarm = monitor.contradiction()
        if comparison is not None and comparison.behind:
            alarm = f"Behind the deployed policy: {comparison}."
        step = progress.Progress(
            claim=self.claim,
            term=self.term or 0,
            version=learner.version,
            base=row.base,
            before=row.applied,
            applied=learner.applied,
            count=learner.count,
            policy=publish(learner.online),
            left=left,
            comparison=comparison,
            alarm=alarm,
            snapshot=None if alarm else self._snapshot(learner),
        )
        base = self.writer.write_from_thread(progress.store_progress, step)
        learner.base = int(base)
        self._after_storing(learner, step)

    def _snapshot(self, learner: VersionLearner) -> bytes | None:
        if not self._is_due(learner):
            return None
        state = state_bytes(learner.online)
        return state if monotonic() - self.snapped[learner.version][1] >= len(state) / BYTES_A_SECOND else None

    def _is_due(self, learner: VersionLearner) -> bool:
        count, at = self.snapped[learner.version]
        return learner.count - count >= self.every or (learner.count > count and monotonic() - at >= self.seconds)

    def _after_storing(self, learner: VersionLearner, step: progress.Progress) -> None:
        if step.snapshot is not None:
            self.snapped[learner.version] = learner.count, monotonic()
        if step.alarm is not None:
            log.error("learning is paused", extra={"version": learner.version, "cause": step.alarm})
            self.metrics.frozen.labels(learner.version).set(1)
            self.learners.pop(learner.version)
        self.metrics.applied.set(step.applied)
        self.metrics.skipped.inc(len(step.left))
        self.registry.follow()


def _updates(events: list[FeedbackEvent]) -> tuple[list[TrainingUpdate], list[str]]:
    """Return the updates of events that can be read, and their sources; the learner reports damaged ones."""
    updates, sources = [], []
    for event in events:
        if event.learnable:
            with suppress(InputError):
                updates.append(event.update())
                sources.append(event.source)
    return updates, sources


def learner_maker(settings: Settings) -> Callable[[Any], OnlineSCP]:
    rate = settings.explore_rate  # without learning, nothing but what was asked for is explored
    rate = 0.0 if rate is None and settings.explores and not settings.learn else rate
    explore: Any = settings.explore if rate is None else Epsilon(rate)

    def make(model: Any) -> OnlineSCP:
        shared: dict[str, Any] = {"allow_short": True, "memory": 0, "leverage": settings.leverage}
        learner = OnlineSCP.from_model(
            model, explore=explore, random_state=settings.seed, slots=settings.explore_slots, **shared
        )
        if rate is not None:
            learner.exploration_ = Epsilon(rate)
        if settings.explore_floor:
            learner.exploration_ = Floor(learner.exploration_, settings.explore_floor)
        return learner

    return make
