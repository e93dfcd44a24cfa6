"""Looks into a store: is everything there that was acknowledged, once, and learned from as if nothing had happened?"""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine, create_engine, select

from benchmarks.reliability.traffic import Book
from listwright.serve import Settings
from listwright.serve.learning.learner import VersionLearner
from listwright.serve.learning.progress import events_after, rows_of
from listwright.serve.learning.updater import learner_maker
from listwright.serve.models.version import load_bytes, publish
from listwright.serve.store.records import FeedbackEvent
from listwright.serve.store.schema import feedback, lists, models

PART = 10_000  # events that are read at a time: PostgreSQL takes 65,535 parameters


def audit(store: str, book: Book, *, learned: bool = True) -> list[str]:
    """What is wrong; nothing, if all is well."""
    engine = create_engine(store.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        stored_lists = set(connection.execute(select(lists.c.id)).scalars())
        rows = connection.execute(select(feedback).order_by(feedback.c.event)).all()
    events = {row.key: row.event for row in rows}
    wrong = list(book.wrong)
    wrong += [f"list {list_id} was acknowledged and is lost" for list_id in book.lists if list_id not in stored_lists]
    wrong += [
        f"feedback {event} on {list_id} was acknowledged and is now {events.get(list_id)}"
        for list_id, event in book.feedback.items()
        if events.get(list_id) != event
    ]
    if len({row.event for row in rows}) != len(rows) or len(events) != len(rows):
        wrong.append("an event is there twice")
    if learned:
        wrong += _audit_learners(engine)
    engine.dispose()
    return wrong


def _audit_learners(engine: Engine) -> list[str]:
    """What the store says was learned by each version, against learners that were never interrupted."""
    with engine.connect() as connection:
        rows, files = rows_of(connection), connection.execute(select(models.c.version, models.c.file)).all()
    faults = [
        fault for version, file in files if version in rows for fault in _audit_learner(engine, rows[version], file)
    ]
    return faults if rows else ["nothing was learned"]


def _audit_learner(engine: Engine, row: Any, file: bytes) -> list[str]:
    make = learner_maker(Settings())
    events: list[FeedbackEvent] = []
    with engine.connect() as connection:
        while some := events_after(connection, row.version, events[-1].number if events else 0, PART):
            events += some
    if not events:
        return []
    if row.applied != events[-1].number:
        return [f"version {row.version} learned up to event {row.applied} of {events[-1].number}"]
    expected = make(load_bytes(file)).update([event.update() for event in events if event.learnable])
    restored = VersionLearner.read(engine, row.version, lambda: make(load_bytes(file)), row).online
    wrong = [] if _same(expected.state(), restored.state()) else ["the state differs from that of an uninterrupted run"]
    return wrong if row.policy == publish(expected) else [*wrong, "what is served differs from what was learned"]


def _same(mine: dict, other: dict) -> bool:
    return mine.keys() == other.keys() and all(
        np.array_equal(mine[name], other[name]) and mine[name].dtype == other[name].dtype for name in mine
    )


def one_history(connection: Connection) -> list[str]:
    """Whether events are numbered without a gap."""
    numbers = connection.execute(select(feedback.c.event).order_by(feedback.c.event)).scalars().all()
    return [] if numbers == list(range(1, len(numbers) + 1)) else ["events are not numbered one after the other"]
