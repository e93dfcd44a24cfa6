"""The learner of one model version: applies events in order and isolates those that cannot be learned from."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Engine

from listwright.feedback.online import OnlineSCP
from listwright.feedback.updates import TrainingUpdate
from listwright.serve.learning.states import (
    Event,
    Left,
    check_finite,
    events_after,
    restored,
    snapshot,
)
from listwright.serve.store.records import unpack

GROUP = 256  # events at a time
log = logging.getLogger("listwright.serve")


class Learner:
    """What a version has learned, in memory.

    The state is a function of the base snapshot and the events after it, in their order; it does not depend on when
    events are read or how they are grouped. So any replica that starts from the same snapshot reaches the same state,
    bit by bit.

    Attributes
    ----------
    version : int
        The model version.
    online : OnlineSCP
        The learner with its state.
    base : int
        Number of the snapshot it started from.
    applied : int
        Number of the last event applied.
    """

    def __init__(self, version: int, online: OnlineSCP, base: int, applied: int) -> None:
        """Wrap a learner that has applied all events up to `applied`."""
        self.version, self.online, self.base, self.applied = version, online, base, applied

    @classmethod
    def read(cls, engine: Engine, version: int, fresh: Callable[[], OnlineSCP], row: Any) -> Learner:
        """Rebuild a learner from the store: restore its base snapshot and replay events up to its stored progress.

        Parameters
        ----------
        engine : Engine
            To read from.
        version : int
            The model version.
        fresh : callable
            Makes a learner in the state of the model file.
        row : Row
            The version's row of progress.
        """
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
        """Number of lists learned from."""
        return self.online.version

    def apply(self, events: Sequence[Event]) -> list[Left]:
        """Learn from events in order.

        If one cannot be learned from, it is left out, and so are later events on the same list: they would correct an
        update that was never made. The remaining events are then applied again from the state before.

        Returns
        -------
        list of Left
            The events to put into quarantine.
        """
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
        """Apply events, all or none; on failure split them in half to find those at fault."""
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
        """Log an event that cannot be learned from and describe it for the quarantine."""
        reason = f"{type(error).__name__}: {error}"[:300]
        log.error("feedback cannot be learned from", extra={"event": event.number, "cause": reason})
        return Left(event.number, event.list_id, reason)


def record_of(event: Event) -> TrainingUpdate:
    """Return an event in the form that a learner takes."""
    return unpack(event.record, ids=False).record(event.list_id, event.gains, earlier=event.earlier)


def _without(events: Sequence[Event], left: Sequence[Left]) -> list[Event]:
    """Return events except those left out and later ones on the same lists."""
    first = {one.list_id: one.event for one in reversed(left)}
    return [event for event in events if event.number < first.get(event.list_id, event.number + 1)]
