"""Model versions and traffic in the store.

Functions that write take a connection and a sequence of arguments, as `Writer` calls them, and return one result per
argument. Every change increments the revision, which makes all replicas follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from listwright.serve.models.requests import Traffic
from listwright.serve.refusals import Refused
from listwright.serve.store.ids import now
from listwright.serve.store.journal import revise
from listwright.serve.store.schema import deployments, learning, models, quarantine, snapshots


@dataclass(frozen=True, eq=False)
class NewModel:
    """A model file and the name of the model that it is a version of."""

    name: str
    file: bytes


@dataclass(frozen=True, eq=False)
class Start:
    """How one model is started."""

    name: str  # name of the model
    file: bytes | None  # content of the model file given
    version: int | None  # stored version to serve
    # whether the file replaces the version that serves; None: only if the store has never seen the file
    deploy: bool | None


@dataclass(frozen=True)
class Begun:
    """Result of a start: the traffic in force, the version number of the file, and whether it was deployed now."""

    traffic: Traffic
    given: int | None
    deployed: bool


def add_models(connection: Connection, files: Sequence[NewModel]) -> list[int]:
    """Store model files and return their version numbers; a file stored before keeps its number."""
    return [_add_model(connection, one) for one in files]


def _add_model(connection: Connection, one: NewModel) -> int:
    """Store one file under the next number, unless the same content exists under the same name."""
    digest = sha256(one.file).hexdigest()
    same = (models.c.name == one.name) & (models.c.digest == digest)
    known = connection.execute(select(models.c.version).where(same)).scalar()
    if known is not None:
        return int(known)
    number = 1 + (connection.execute(select(func.max(models.c.version))).scalar() or 0)
    row = {"version": number, "name": one.name, "digest": digest, "created": now(), "file": one.file}
    connection.execute(insert(models), row)
    revise(connection)
    return number


def delete_models(connection: Connection, numbers: Sequence[int]) -> list[Refused | None]:
    """Delete versions without traffic and what they learned; the lists that they built are kept."""
    return [_delete_model(connection, number) for number in numbers]


def _delete_model(connection: Connection, number: int) -> Refused | None:
    """Delete one version; refuses with 409 if it has traffic and with 404 if it does not exist."""
    for traffic in all_deployed(connection).values():
        if number in (traffic.current, traffic.canary, traffic.shadow):
            return Refused(409, "conflict", "This version serves traffic. Move its traffic to another version first.")
    if not connection.execute(delete(models).where(models.c.version == number)).rowcount:
        return Refused(404, "not_found", f"There is no model version {number}.")
    for table in (learning, snapshots, quarantine):
        connection.execute(delete(table).where(table.c.version == number))
    revise(connection)
    return None


def deploy(connection: Connection, wanted: Sequence[Traffic]) -> list[Traffic]:
    """Record new traffic; the last record of each model is in force."""
    for traffic in wanted:
        number = 1 + (connection.execute(select(func.max(deployments.c.number))).scalar() or 0)
        parts = {name: getattr(traffic, name) for name in ("current", "canary", "share", "shadow")}
        row = {"number": number, "name": traffic.model, "created": now(), **parts}
        connection.execute(insert(deployments), row)
        revise(connection)
    return list(wanted)


def all_deployed(connection: Connection) -> dict[str, Traffic]:
    """Return the traffic in force, by model name."""
    last = select(func.max(deployments.c.number)).group_by(deployments.c.name)
    rows = connection.execute(select(deployments).where(deployments.c.number.in_(last)))
    return {row.name: _traffic(row) for row in rows}


def _traffic(row: Any) -> Traffic:
    """Convert a row of deployments to `Traffic`."""
    return Traffic(row.current, row.canary, row.share, row.shadow, row.name)


def before(connection: Connection, traffic: Traffic) -> Traffic:
    """Return the traffic for a rollback: the version that was current before the present one first was."""
    mine = deployments.c.name == traffic.model
    first = select(func.min(deployments.c.number)).where(mine, deployments.c.current == traffic.current)
    earlier = select(deployments.c.current).where(mine, deployments.c.number < first.scalar_subquery())
    kept = earlier.where(deployments.c.current.in_(select(models.c.version)))
    found = connection.execute(kept.order_by(deployments.c.number.desc()).limit(1)).scalar()
    if found is None:
        raise Refused(409, "conflict", "There is no earlier version to roll back to.")
    return Traffic(current=found, model=traffic.model)


def begin(connection: Connection, starts: Sequence[Start]) -> list[Begun | Refused]:
    """Determine and record which versions serve when a service starts."""
    return [_begin(connection, start) for start in starts]


def _begin(connection: Connection, start: Start) -> Begun | Refused:
    """Start one model."""
    # It is deployed if the model has no traffic yet, if the caller asked for it, or if it is new and the caller left
    # the choice open; otherwise the stored traffic stays in force, so that a restart with an old file does not undo a
    # deployment.
    traffic, given, new = all_deployed(connection).get(start.name), start.version, False
    if start.file is not None:
        last = connection.execute(select(func.max(models.c.version))).scalar() or 0
        given = _add_model(connection, NewModel(start.name, start.file))
        new = given > last
    elif given is not None and not connection.execute(select(models.c.version).where(models.c.version == given)).all():
        return Refused(404, "not_found", f"The store has no model version {given}.")
    wanted = start.version is not None or start.deploy or (start.deploy is None and new)
    if traffic is None or (wanted and given is not None and traffic.current != given):
        if given is None:
            return Refused(404, "not_found", f"The store has no model {start.name!r} yet. Pass a model file.")
        return Begun(deploy(connection, [Traffic(current=given, model=start.name)])[0], given, deployed=True)
    return Begun(traffic, given, deployed=False)
