"""Looks into a store: is everything there that was acknowledged, once, and learned from as if nothing had happened?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors.numpy import load
from sqlalchemy import create_engine, select

import listwright as lw
from benchmarks.reliability.traffic import Book
from listwright.apps.serve.records import as_record
from listwright.apps.serve.schema import clock, feedback, learners, lists
from listwright.feedback import OnlineSCP


def audit(store: str, model: Path, book: Book, *, learned: bool = True) -> list[str]:
    """What is wrong; nothing, if all is well."""
    engine = create_engine(store.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        stored_lists = set(connection.execute(select(lists.c.id)).scalars())
        joined = select(feedback, lists.c.problem).join(lists, lists.c.id == feedback.c.list_id)
        rows = connection.execute(joined.order_by(feedback.c.event)).all()
        numbers = {row.name: row.value for row in connection.execute(select(clock))}
        state = connection.execute(select(learners.c.state).where(learners.c.version == 1)).scalar()
    engine.dispose()
    events = {row.list_id: row.event for row in rows}
    wrong = list(book.wrong)
    wrong += [f"list {one} was acknowledged and is lost" for one in book.lists if one not in stored_lists]
    wrong += [
        f"feedback {event} on {one} was acknowledged and is now {events.get(one)}"
        for one, event in book.feedback.items()
        if events.get(one) != event
    ]
    if len({row.event for row in rows}) != len(rows) or len(events) != len(rows):
        wrong.append("an event is there twice")
    if learned:
        wrong += _audit_learner(model, rows, numbers, state)
    return wrong


def _audit_learner(model: Path, rows: list, numbers: dict[str, int], state: bytes | None) -> list[str]:
    """The stored state against that of a learner that was never interrupted."""
    last = rows[-1].event if rows else 0
    if not rows or state is None:
        return ["nothing was learned"]
    if numbers["applied"] != last:
        return [f"learned up to event {numbers['applied']} of {last}"]
    learner = OnlineSCP.from_model(lw.load(model), random_state=0, short_lists=True)
    learner.update([as_record(row.list_id, row.problem, row.gains) for row in rows])
    expected, found = learner.state(), load(state)
    same = expected.keys() == found.keys() and all(
        np.array_equal(expected[name], found[name]) and expected[name].dtype == found[name].dtype for name in expected
    )
    return [] if same else ["the learner's state differs from that of an uninterrupted run"]
