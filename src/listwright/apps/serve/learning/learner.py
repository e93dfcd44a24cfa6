"""One version's learner: applies events, and leaves out those that it cannot learn from."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Engine

from listwright.apps.serve.learning.states import (
    Event,
    Left,
    check_finite,
    events_after,
    restored,
    snapshot,
)
from listwright.apps.serve.store.records import unpack
from listwright.feedback.online import OnlineSCP
from listwright.feedback.records import Record

GROUP = 256  # events at a time
log = logging.getLogger("listwright.serve")


class Learner:
    """What a version has learned, in memory: the state of its base snapshot, and the events from there on.

    The state depends on the events and their order alone: not on when they were read, nor in which groups. So whoever
    begins from the same snapshot comes to the same state, to the last bit.
    """

    def __init__(self, version: int, online: OnlineSCP, base: int, applied: int) -> None:
        self.version, self.online, self.base, self.applied = version, online, base, applied

    @classmethod
    def read(cls, engine: Engine, version: int, fresh: Callable[[], OnlineSCP], row: Any) -> Learner:
        """The learner as its row in the store says it is."""
        with engine.connect() as connection:
            base = snapshot(connection, row.base)
        learner = cls(version, restored(fresh(), base.state), row.base, base.applied)
        while learner.applied < row.applied:
            with engine.connect() as connection:
                events = events_after(connection, version, learner.applied, GROUP, until=row.applied)
            learner.apply(events)
            learner.applied = events[-1].number if events else row.applied
        return learner

    @property
    def count(self) -> int:
        """Lists learned from."""
        return self.online.version

    def apply(self, events: Sequence[Event]) -> list[Left]:
        """Learns from events in their order; gives those that it cannot learn from, which change nothing."""
        wanted = [event for event in events if event.learn]
        before = self.online.state() if wanted else None
        left = self._try(wanted) if wanted else []
        kept = _without(wanted, left)
        if before is not None and len(kept) < len(wanted) - len(left):
            self.online.restore(before)
            left += self._try(kept)
        if events:
            self.applied = events[-1].number
        return left

    def _try(self, events: list[Event]) -> list[Left]:
        before = self.online.state()
        try:
            self.online.update([record_of(event) for event in events])
            check_finite(self.online)
        except MemoryError:
            self.online.restore(before)
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is: one event must not end learning
            self.online.restore(before)
            if len(events) == 1:
                return [self._leave(events[0], error)]
            half = len(events) // 2
            return self._try(events[:half]) + self._try(events[half:])
        return []

    def _leave(self, event: Event, error: Exception) -> Left:
        reason = f"{type(error).__name__}: {error}"[:300]
        log.error("feedback cannot be learned from", extra={"event": event.number, "cause": reason})
        return Left(event.number, event.list_id, reason)


def record_of(event: Event) -> Record:
    """An event as a learner takes it."""
    return unpack(event.record, ids=False).record(event.list_id, event.gains, earlier=event.earlier)


def _without(events: Sequence[Event], left: Sequence[Left]) -> list[Event]:
    """The events that are not left out, nor come after one on the same list: they would change what was not learned."""
    first = {one.list_id: one.event for one in reversed(left)}
    return [event for event in events if event.number < first.get(event.list_id, event.number + 1)]
