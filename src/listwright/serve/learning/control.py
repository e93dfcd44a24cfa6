"""What operators see of learning, and their commands: they change rows of the store, which the learner follows."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from sqlalchemy import Connection, func, select, update

from listwright._internal.arrays import Floats
from listwright.feedback.planning import SequentialTest, candidate_share
from listwright.serve import messages
from listwright.serve.learning.learner import VersionLearner, restore
from listwright.serve.learning.progress import add_snapshot, holder, rows_of, snapshot, start_learning
from listwright.serve.models.registry import ModelRegistry, NewModel, add_models, shares_of
from listwright.serve.models.version import publish
from listwright.serve.refusals import Refused
from listwright.serve.store.database import intact
from listwright.serve.store.journal import each, last_event, revise
from listwright.serve.store.records import USER_DIGITS, ServedList, created_at, outcome_of
from listwright.serve.store.schema import feedback, learning, lists, models, quarantine, snapshots

if TYPE_CHECKING:
    from listwright.serve.service import Service

LATEST = 20  # entries of the quarantine that are shown
PAUSE = 1.0  # seconds between two looks at the feedback on a candidate
AT_ONCE = 10_000  # events that are read together
KNOWN = 20  # lists of which the mean is today's value
MOVES = 0.1  # by which a share has to change to be changed
log = logging.getLogger("listwright.serve")


@dataclass(frozen=True)
class Command:
    """An action on what a version has learned."""

    action: str  # "freeze", "resume", "reset" or "rollback"
    version: int  # the model version
    snapshot: int | None = None  # snapshot to roll back to
    policy: bytes | None = None  # that the snapshot has, so that replicas serve it at once


def status(connection: Connection, on: bool) -> messages.LearningStatus:
    known = connection.execute(select(models.c.version, models.c.name)).all()
    rows = rows_of(connection)
    left = select(quarantine).order_by(quarantine.c.event.desc()).limit(LATEST)
    return messages.LearningStatus(
        on,
        holder(connection, "learner"),
        last_event(connection),
        [_version(connection, version, name, rows[version]) for version, name in known if version in rows],
        [messages.QuarantinedFeedback(**row) for row in connection.execute(left).mappings()],
    )


def _version(connection: Connection, version: int, name: str, row: Any) -> messages.VersionLearning:
    mine = feedback.c.version == version
    waiting = select(func.count()).select_from(feedback).where(mine, feedback.c.event > row.applied)
    size = func.coalesce(func.length(snapshots.c.state), 0).label("bytes")
    columns = [column for column in snapshots.c if column.name not in ("state", "version")]
    kept = select(*columns, size).where(snapshots.c.version == version).order_by(snapshots.c.number.desc())
    left = select(func.count()).select_from(quarantine).where(quarantine.c.version == version)
    with intact(f"The comparison of version {version}"):
        comparison = msgspec.json.decode(row.comparison or "null", type=messages.LearnedComparison | None)
    return messages.VersionLearning(
        version=version,
        model=name,
        state="frozen" if row.frozen else "learning",
        reason=row.reason if row.frozen else None,
        lists=row.count,
        applied=row.applied,
        waiting=int(connection.execute(waiting).scalar_one()),
        quarantined=int(connection.execute(left).scalar_one()),
        serves_learned=row.policy is not None,
        comparison=comparison,
        base=row.base,
        snapshots=[messages.SnapshotSummary(**taken) for taken in connection.execute(kept).mappings()],
    )


@each
def act(connection: Connection, command: Command) -> Refused | None:
    # A version that has not learned yet gets its row first, so that it can be frozen in advance.
    if connection.execute(select(models.c.version).where(models.c.version == command.version)).scalar() is None:
        return Refused(404, "not_found", f"There is no model version {command.version}.", field="version")
    start_learning(connection, [command.version])
    mine = learning.c.version == command.version
    row = connection.execute(select(learning).where(mine).with_for_update()).one()
    try:
        values = _values(connection, command, row)
    except Refused as refused:
        return refused
    connection.execute(update(learning).where(mine).values(values))
    revise(connection)
    return None


def prepare(connection: Connection, registry: ModelRegistry, command: Command) -> Command:
    """Return a rollback command with the policy of its snapshot; other commands are returned unchanged."""
    if command.action != "rollback" or command.snapshot is None:
        return command
    row, version = snapshot(connection, command.snapshot), registry.get(command.version)
    if row.version != command.version or version.deployed is None or not row.count:
        return command
    return replace(command, policy=publish(restore(registry.loader.learner(version.model), row.state)))


def _values(connection: Connection, command: Command, row: Any) -> dict[str, Any]:
    """Return what a command changes in the row of a version; feedback so far is not learned from again."""
    if command.action == "freeze":
        return {"frozen": 1, "reason": row.reason if row.frozen else "Frozen by an operator."}
    if command.action == "resume":  # with what was stored meanwhile
        return {"frozen": 0, "reason": None, "comparison": None}
    if command.action == "rollback":
        return _roll_back(connection, command, row)
    last = last_event(connection)
    base = add_snapshot(connection, command.version, applied=last, count=0, reason="reset", state=None)
    return {"base": base, "applied": last, "count": 0, "policy": None, "comparison": None}


def _roll_back(connection: Connection, command: Command, row: Any) -> dict[str, Any]:
    if command.snapshot is None:
        raise Refused(422, "invalid", "Say which snapshot to roll back to.", field="snapshot")
    chosen = snapshot(connection, command.snapshot)
    if chosen.version != command.version:
        raise Refused(409, "conflict", "This snapshot belongs to another version.", field="snapshot")
    reason = f"rolled back to snapshot {chosen.number}"
    shared = {"applied": row.applied, "count": chosen.count}
    base = add_snapshot(connection, command.version, **shared, reason=reason, state=chosen.state)
    return {"base": base, "count": chosen.count, "policy": command.policy, "comparison": None}


def export(connection: Connection, registry: ModelRegistry, version: int, number: int | None) -> bytes:
    loaded = registry.get(version)
    if loaded.deployed is None:
        raise Refused(409, "conflict", f"Version {version} cannot learn.", field="version")
    fresh = registry.loader.learner(loaded.model)
    row = rows_of(connection).get(version)
    if number is not None:
        chosen = snapshot(connection, number)
        if chosen.version != version:
            raise Refused(409, "conflict", "This snapshot belongs to another version.", field="snapshot")
        fresh = restore(fresh, chosen.state)
    elif row is not None:
        fresh = VersionLearner.read(registry.engine, version, lambda: fresh, row).online
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        fresh.save(path)
        return path.read_bytes()


class CandidateTrial:
    """The trial of a candidate, as canary of the default model, within a budget of what may be lost."""

    def __init__(self, service: Service, file: bytes) -> None:
        self.service, self.file, self.test, self.event = service, file, SequentialTest(), 0

    async def run(self) -> None:
        service = self.service
        number: int = await service.writer.write(add_models, NewModel(messages.DEFAULT, self.file))
        current = service.registry.of(messages.DEFAULT).current
        if number == current:
            return
        while True:
            while await service.read(self._read, current, number):
                pass
            if self.test.verdict != "cannot tell":
                break
            await self._share(current, number)
            await asyncio.sleep(PAUSE)
        await service.deploy(messages.Traffic(current))
        low, high = self.test.interval()
        about = {"version": number, "cause": f"{low:+.4f} to {high:+.4f} per list against version {current}"}
        log.info("candidate: %s", self.test.verdict, extra=about)

    async def _share(self, current: int, number: int) -> None:
        """Give the candidate the share that the budget allows, by what today's lists are worth."""
        today = float(self.test.later[0]) / self.test.seen if self.test.seen >= KNOWN else 1.0
        wanted = messages.Traffic(
            current, canary=number, share=candidate_share(self.service.settings.loss_budget, today)
        )
        now = self.service.registry.of(messages.DEFAULT)
        if (now.current, now.canary) != (current, number) or abs(wanted.share - now.share) > MOVES * now.share:
            await self.service.deploy(wanted)

    def _read(self, connection: Connection, current: int, number: int) -> bool:
        wanted = (feedback.c.event > self.event) & feedback.c.version.in_((current, number))
        rows: list[Any] = list(
            connection.execute(select(feedback).where(wanted).order_by(feedback.c.event).limit(AT_ONCE))
        )
        since, shares = shares_of(connection, messages.Traffic(current, canary=number))
        for row in rows:
            gains = np.array(outcome_of(row.gains, row.earlier))
            earlier = None if row.earlier is None else np.array(outcome_of(row.earlier, None))
            share = shares[np.searchsorted(since, created_at(row.list_id), side="right")]
            if not self.service.registry.mixes_slots:
                gains, earlier = gains.sum(keepdims=True), None if earlier is None else earlier.sum(keepdims=True)
                ratios: Floats | None = np.array([float(row.version == number) / share]) if share else None
            else:
                ratios = self._ratios(connection, row.list_id, number) if share else None
            weights = None if ratios is None else (ratios - 1.0) / (1.0 - share)
            self.test.add(weights, gains, earlier, unit=int(row.list_id[-USER_DIGITS:], 16))
            self.event = row.event
        return len(rows) == AT_ONCE

    def _ratios(self, connection: Connection, list_id: str, number: int) -> Floats | None:
        """Return the candidate's chance of each shown item over its propensity; None where it was not mixed in."""
        row = connection.execute(select(lists).where(lists.c.id == list_id)).first()
        served = None if row is None else ServedList.read(row)
        if served is None or served.propensities is None:
            return None
        chances = self.service.registry.get(number).chances(served.problem, served.picks, served.budget)
        alone = (served.propensities == 1.0) & (chances < 1.0)
        return None if alone.any() else chances / served.propensities
