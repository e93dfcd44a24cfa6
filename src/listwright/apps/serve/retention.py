"""Lists that are old enough are deleted, with their feedback; the sums for statistics stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, or_, select

from listwright.apps.serve.records import first_id
from listwright.apps.serve.schema import clock, feedback, lists

MOST = 500  # lists of one transaction, so that others need not wait
EVERY = 600.0  # seconds between two looks


class Old(NamedTuple):
    """What may go."""

    before: float  # seconds since 1970
    learned: bool  # only feedback that was learned from


def forget(connection: Connection, wanted: Sequence[Old]) -> list[int]:
    """Deletes some old lists; how many."""
    return [_forget(connection, old) for old in wanted]


def _forget(connection: Connection, old: Old) -> int:
    kept = select(lists.c.id).outerjoin(feedback, feedback.c.list_id == lists.c.id)
    found = kept.where(lists.c.id < first_id(old.before)).order_by(lists.c.id).limit(MOST)
    if old.learned:
        applied = select(clock.c.value).where(clock.c.name == "applied").scalar_subquery()
        found = found.where(or_(feedback.c.event.is_(None), feedback.c.event <= applied))
    ids = connection.execute(found).scalars().all()
    connection.execute(delete(feedback).where(feedback.c.list_id.in_(ids)))
    connection.execute(delete(lists).where(lists.c.id.in_(ids)))
    return len(ids)
