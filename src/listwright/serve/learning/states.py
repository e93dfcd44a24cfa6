"""Learning in the store: progress of each version, snapshots of its state, the events to learn from, and the
quarantine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save
from sqlalchemy import Connection, delete, func, insert, select, update

from listwright.errors import InputError
from listwright.feedback.online import OnlineSCP
from listwright.serve.refusals import Refused
from listwright.serve.store.ids import now
from listwright.serve.store.journal import revise
from listwright.serve.store.lease import Claim, holds
from listwright.serve.store.records import whole
from listwright.serve.store.schema import feedback, learning, lists, quarantine, snapshots

State = Mapping[str, NDArray[Any]]
KEPT = 10  # snapshots of a version, beside the one in use
LOST = Refused(409, "conflict", "Another replica learns, or what was learned has been changed.")


@dataclass(frozen=True, eq=False)
class Event:
    """One feedback with the list that it is about."""

    number: int  # number of the event
    list_id: str  # the list
    record: bytes  # its record; empty if the list was deleted
    gains: list[float]  # gains as reported, and the outcome before them
    earlier: list[float] | None
    learn: bool  # whether its list may be learned from


@dataclass(frozen=True, eq=False)
class Left:
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
    left: Sequence[Left] = ()  # events for the quarantine
    comparison: dict[str, Any] | None = None  # comparison with the deployed policy
    alarm: str | None = None  # why learning is to pause
    snapshot: bytes | None = None  # the whole state, where it is time for one
    reason: str = field(default="scheduled")  # why the snapshot was taken


def rows_of(connection: Connection) -> dict[int, Any]:
    """Return the rows of progress, by version."""
    return {row.version: row for row in connection.execute(select(learning))}


def begin(connection: Connection, versions: Sequence[int]) -> list[None]:
    """Create the rows of progress of versions that have none; their base is the model as deployed."""
    for version in versions:
        if version not in rows_of(connection):
            base = add_snapshot(connection, version, applied=0, count=0, reason="as deployed", state=None)
            start = {"version": version, "applied": 0, "count": 0, "base": base, "frozen": 0}
            connection.execute(insert(learning), start)
    return [None] * len(versions)


def store_progress(connection: Connection, steps: Sequence[Progress]) -> list[int | Refused]:
    """Store the results of groups of events."""
    return [_store(connection, step) for step in steps]


def _store(connection: Connection, step: Progress) -> int | Refused:
    """Store one result with an optimistic check: lease, base, progress and not being frozen must be as they were."""
    if not holds(connection, step.claim, step.term):
        return LOST
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
        return LOST
    for one in step.left:
        row = {"event": one.event, "version": step.version, "list_id": one.list_id, "reason": one.reason}
        connection.execute(insert(quarantine), row | {"created": now()})
    _drop_old_snapshots(connection, step.version)
    revise(connection)
    return int(values.get("base", step.base))


def add_snapshot(
    connection: Connection, version: int, *, applied: int, count: int, reason: str, state: bytes | None
) -> int:
    """Store a state under the next number and return it."""
    number = 1 + (connection.execute(select(func.max(snapshots.c.number))).scalar() or 0)
    row = {"number": number, "version": version, "applied": applied, "count": count, "created": now()}
    connection.execute(insert(snapshots), row | {"reason": reason, "state": state})
    return number


def _drop_old_snapshots(connection: Connection, version: int) -> None:
    """Delete all but the latest `KEPT` snapshots of a version; its base is kept in any case."""
    mine = select(snapshots.c.number).where(snapshots.c.version == version, snapshots.c.state.is_not(None))
    numbers = connection.execute(mine.order_by(snapshots.c.number.desc())).scalars().all()
    base = connection.execute(select(learning.c.base).where(learning.c.version == version)).scalar()
    old = [number for number in numbers[KEPT:] if number != base]
    if old:
        connection.execute(delete(snapshots).where(snapshots.c.number.in_(old)))


def events_after(
    connection: Connection, version: int, applied: int, limit: int, *, until: int | None = None
) -> list[Event]:
    """Return feedback on a version's lists in order."""
    told = feedback.c.event, feedback.c.list_id, feedback.c.gains, feedback.c.earlier
    columns = *told, lists.c.record, lists.c.rest, lists.c.learn
    joined = feedback.outerjoin(lists, lists.c.id == feedback.c.list_id)
    mine = (feedback.c.version == version) & (feedback.c.event > applied)
    if until is not None:
        mine &= feedback.c.event <= until
    rows = connection.execute(
        select(*columns).select_from(joined).where(mine).order_by(feedback.c.event).limit(limit)
    ).all()
    bad = _in_quarantine(connection, [row.list_id for row in rows])
    return [
        Event(
            row.event,
            row.list_id,
            b"" if row.record is None else whole(row),
            msgspec.json.decode(row.gains),
            None if row.earlier is None else msgspec.json.decode(row.earlier),
            bool(row.record is not None and row.learn and bad.get(row.list_id, row.event + 1) > row.event),
        )
        for row in rows
    ]


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


def state_bytes(learner: OnlineSCP) -> bytes:
    """Return the full state of a learner as safetensors bytes."""
    return save(learner.state())


def restored(learner: OnlineSCP, state: bytes | None) -> OnlineSCP:
    """Return the learner in a stored state."""
    if state is None:
        return learner
    known = {name: array for name, array in load(state).items() if array.size or not name.endswith(".anchor_")}
    return learner.restore({**learner.state(), **known})


def check_finite(learner: OnlineSCP) -> None:
    """Raise InputError if the state or the policy of a learner has numbers that are not finite."""
    for name, array in learner.state().items():
        if not np.isfinite(array).all():
            raise InputError(f"{name} is not finite any more")
    weights = getattr(learner.playing_.policy, "weights", None)
    if weights is not None and not np.isfinite(weights).all():
        raise InputError("the weights of the policy are not finite any more")
