"""Learning in the store: the lease of the one that learns, progress, snapshots, events and the quarantine.

The term of a lease grows with each new holder and acts as a fencing token: `holds` checks it in the transaction that
writes, so a replica that was paused and lost its lease cannot write any more.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, case, delete, func, insert, select, update

from listwright.serve.messages import LearnedComparison
from listwright.serve.refusals import Refused
from listwright.serve.store.database import clock_of
from listwright.serve.store.journal import each, revise
from listwright.serve.store.records import FeedbackEvent, read_gains
from listwright.serve.store.schema import feedback, learning, leases, lists, quarantine, snapshots

SECONDS = 5.0  # that a lease lasts; it is renewed long before
KEPT = 10  # snapshots of a version, beside the one in use


class Lost(Refused):
    """Nothing was stored. A new one each time: an exception keeps every frame that it was ever raised through."""

    def __init__(self) -> None:
        super().__init__(409, "conflict", "Another replica learns, or what was learned has been changed.")


class Claim(NamedTuple):
    """A request for a lease."""

    name: str  # the work to be done, such as "learner"
    holder: str  # identity of the replica
    seconds: float = SECONDS  # duration of the lease


@each
def take(connection: Connection, claim: Claim) -> int | None:
    """Take or renew one lease with a single conditional update, which is atomic on both databases."""
    now = clock_of(connection)
    mine = leases.c.holder == claim.holder
    # One that ends later than any new lease would was taken before the clock was set back: nobody holds it.
    free = (leases.c.name == claim.name) & (mine | ~leases.c.expires.between(now, now + 2 * claim.seconds))
    term = case((mine, leases.c.term), else_=leases.c.term + 1)
    values = {"holder": claim.holder, "term": term, "expires": now + claim.seconds}
    return connection.execute(update(leases).where(free).values(values).returning(leases.c.term)).scalar()


@each
def give_up(connection: Connection, claim: Claim) -> None:
    mine = (leases.c.name == claim.name) & (leases.c.holder == claim.holder)
    connection.execute(update(leases).where(mine).values(expires=0.0))


def holds(connection: Connection, claim: Claim, term: int) -> bool:
    """Return whether the claim still has the lease in that term, and lock it until the transaction ends."""
    mine = (leases.c.name == claim.name) & (leases.c.holder == claim.holder) & (leases.c.term == term)
    return connection.execute(select(leases.c.term).where(mine).with_for_update()).scalar() is not None


def holder(connection: Connection, name: str) -> str | None:
    now = clock_of(connection)
    held = (leases.c.name == name) & leases.c.expires.between(now, now + 2 * SECONDS)
    return connection.execute(select(leases.c.holder).where(held)).scalar()


@dataclass(frozen=True, eq=False)
class Unlearnable:
    """An event that cannot be learned from, with the reason."""

    event: int
    list_id: str
    reason: str


@dataclass(frozen=True, eq=False)
class Progress:
    """The result of one group of events, to be stored if nobody else has changed the version's progress meanwhile."""

    claim: Claim  # lease under which it was computed
    term: int
    version: int  # the model version
    base: int  # snapshot and event that the stored row must still have
    before: int  # the event up to which it was stored
    applied: int  # last event applied, and lists learned from in all
    count: int
    policy: bytes  # what replicas are to serve
    left: Sequence[Unlearnable] = ()  # events for the quarantine
    comparison: LearnedComparison | None = None  # comparison with the deployed policy
    alarm: str | None = None  # why learning is to pause
    snapshot: bytes | None = None  # the whole state, where it is time for one
    reason: str = "scheduled"  # why the snapshot was taken


def rows_of(connection: Connection) -> dict[int, Any]:
    return {row.version: row for row in connection.execute(select(learning))}


@each
def start_learning(connection: Connection, version: int) -> None:
    """Create the row of progress of a version that has none; its base is the model as deployed."""
    if version not in rows_of(connection):
        base = add_snapshot(connection, version, applied=0, count=0, reason="as deployed", state=None)
        start = {"version": version, "applied": 0, "count": 0, "base": base, "frozen": 0}
        connection.execute(insert(learning), start)


@each
def store_progress(connection: Connection, step: Progress) -> int | Refused:
    """Store one result with an optimistic check: lease, base, progress and not being frozen must be as they were."""
    if not holds(connection, step.claim, step.term):
        return Lost()
    mine = (learning.c.version == step.version) & (learning.c.base == step.base)
    mine &= (learning.c.applied == step.before) & (learning.c.frozen == 0)
    values: dict[str, Any] = {"applied": step.applied, "count": step.count, "policy": step.policy}
    if step.comparison is not None:
        values["comparison"] = msgspec.json.encode(step.comparison).decode()
    if step.alarm is not None:
        values |= {"frozen": 1, "reason": step.alarm, "policy": None}
    if step.snapshot is not None:
        shared = {"version": step.version, "applied": step.applied, "count": step.count}
        values["base"] = add_snapshot(connection, **shared, reason=step.reason, state=step.snapshot)
    if connection.execute(update(learning).where(mine).values(values)).rowcount != 1:
        if "base" in values:
            connection.execute(delete(snapshots).where(snapshots.c.number == values["base"]))
        return Lost()
    for event in step.left:
        row = {"event": event.event, "version": step.version, "list_id": event.list_id, "reason": event.reason}
        connection.execute(insert(quarantine), row | {"created": time.time()})
    _drop_old_snapshots(connection, step.version)
    revise(connection)
    return int(values.get("base", step.base))


def add_snapshot(
    connection: Connection, version: int, *, applied: int, count: int, reason: str, state: bytes | None
) -> int:
    number = 1 + (connection.execute(select(func.max(snapshots.c.number))).scalar() or 0)
    row = {"number": number, "version": version, "applied": applied, "count": count, "created": time.time()}
    connection.execute(insert(snapshots), row | {"reason": reason, "state": state})
    return number


def _drop_old_snapshots(connection: Connection, version: int) -> None:
    mine = select(snapshots.c.number).where(snapshots.c.version == version, snapshots.c.state.is_not(None))
    numbers = connection.execute(mine.order_by(snapshots.c.number.desc())).scalars().all()
    base = connection.execute(select(learning.c.base).where(learning.c.version == version)).scalar()
    old = [number for number in numbers[KEPT:] if number != base]
    if old:
        connection.execute(delete(snapshots).where(snapshots.c.number.in_(old)))


def events_after(
    connection: Connection, version: int, applied: int, limit: int, *, until: int | None = None
) -> list[FeedbackEvent]:
    joined = feedback.outerjoin(lists, lists.c.id == feedback.c.list_id)
    mine = (feedback.c.version == version) & (feedback.c.event > applied)
    if until is not None:
        mine &= feedback.c.event <= until
    columns = [column for column in feedback.c if column.name not in ("version", "created")]
    rows = connection.execute(
        select(lists, *columns).select_from(joined).where(mine).order_by(feedback.c.event).limit(limit)
    ).all()
    bad = _in_quarantine(connection, [row.list_id for row in rows])
    return [_event(row, version, bad.get(row.list_id, row.event + 1)) for row in rows]


def _event(row: Any, version: int, bad: int) -> FeedbackEvent:
    """Return feedback joined with its list, unless that is deleted, clipped, or in quarantine from event `bad` on."""
    return FeedbackEvent(
        row.list_id,
        row.key,
        read_gains(row.gains),
        version,
        row.source,
        weight=row.weight,
        number=row.event,
        earlier=None if row.earlier is None else read_gains(row.earlier),
        row=row if row.record is not None and row.learn and bad > row.event else None,
    )


def _in_quarantine(connection: Connection, list_ids: Sequence[str]) -> dict[str, int]:
    """Return the first event in quarantine of each list; later feedback on it would correct an update never made."""
    first = select(quarantine.c.list_id, func.min(quarantine.c.event)).where(quarantine.c.list_id.in_(set(list_ids)))
    return {row[0]: row[1] for row in connection.execute(first.group_by(quarantine.c.list_id))}


def snapshot(connection: Connection, number: int) -> Any:
    """Return the row of a snapshot; its `state` is None for the model file's. Refuses with 404 if it does not exist."""
    row = connection.execute(select(snapshots).where(snapshots.c.number == number)).first()
    if row is None:
        raise Refused(404, "not_found", f"There is no snapshot {number}.", field="snapshot")
    return row
