"""The loaded model versions, the traffic among them, and what each has learned.

Requests read `ModelRegistry` without locks: versions and traffic are immutable and replaced as a whole when
`ModelRegistry.follow` notices a new revision of the store, whichever replica caused it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from hashlib import sha256
from threading import Lock
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine, delete, func, insert, select

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.serve.messages import DEFAULT, Traffic
from listwright.serve.models.version import ModelLoader, Published, Version, play_published
from listwright.serve.refusals import Refused, invalid
from listwright.serve.store.database import intact
from listwright.serve.store.journal import each, revise
from listwright.serve.store.records import USER_DIGITS
from listwright.serve.store.schema import clock, deployments, learning, models, quarantine, snapshots


class ModelRegistry:
    """All loaded versions and the traffic of each model, as this replica sees them."""

    def __init__(self, engine: Engine, loader: ModelLoader, *, mixes_slots: bool = False) -> None:
        self.engine = engine  # to read from
        self.loader = loader
        self.mixes_slots = mixes_slots  # whether the default model's canary has a share of the slots, not of the lists
        self.lock = Lock()
        self.loaded: dict[int, Version] = {}
        self.checked: dict[tuple[str, str], Version] = {}  # by name and digest of the file: not in the store yet
        self.traffic: dict[str, Traffic] = {}
        self.revision = -1

    def choose(self, list_id: str, name: str) -> Version:
        """Return the canary if the end of the id, which is that of all lists of a user, falls into its share."""
        traffic = self.of(name)
        if self.mixes_slots and name == DEFAULT:
            return self.loaded[traffic.current]
        if traffic.canary is not None and int(list_id[-USER_DIGITS:], 16) < traffic.share * 16**USER_DIGITS:
            return self.loaded[traffic.canary]
        return self.loaded[traffic.current]

    def rival(self, version: Version) -> tuple[Version, float] | None:
        """Return the version that shares its lists with another, and that one's share; None without a canary."""
        traffic = self.of(version.name)
        if traffic.canary is None or version.number not in (traffic.current, traffic.canary):
            return None
        first = version.number == traffic.current
        other, share = (traffic.canary, traffic.share) if first else (traffic.current, 1.0 - traffic.share)
        return (self.loaded[other], share) if share > 0 and other in self.loaded else None

    def of(self, name: str) -> Traffic:
        traffic = self.traffic.get(name)
        if traffic is None:
            raise Refused(404, "not_found", f"There is no model {name!r}.", field="model")
        return traffic

    def shadow(self, name: str) -> Version | None:
        number = self.of(name).shadow
        return None if number is None else self.loaded.get(number)

    def get(self, number: int) -> Version:
        version = self.loaded.get(number)
        if version is not None:
            return version
        with self.lock, self.engine.connect() as connection:
            return self._get(connection, number)

    def _get(self, connection: Connection, number: int) -> Version:
        """Load a version with what it has learned; the caller holds the lock."""
        if number not in self.loaded:
            row = connection.execute(select(models).where(models.c.version == number)).first()
            if row is None:
                raise Refused(404, "not_found", f"There is no model version {number}.")
            checked = self.checked.pop((row.name, row.digest), None)
            version = checked or self._load(row)
            version = replace(version, number=number)
            progress = connection.execute(select(learning).where(learning.c.version == number)).first()
            self.loaded = {**self.loaded, number: _with_learned(version, progress)}
        return self.loaded[number]

    def _load(self, row: Any) -> Version:
        try:
            return self.loader.load(row.version, row.name, row.file)
        except InputError as error:
            raise InputError(f"Version {row.version} of {row.name!r} in the store cannot be loaded: {error}") from None

    def check_file(self, name: str, file: bytes) -> None:
        self.checked[name, sha256(file).hexdigest()] = self.loader.load(0, name, file)

    def follow(self) -> None:
        # Cheap if nothing changed, because only the revision number is read.
        with self.engine.connect() as connection:
            revision = connection.execute(select(clock.c.value).where(clock.c.name == "revision")).scalar_one()
            if revision != self.revision:
                with self.lock:
                    self._follow(connection)
                    self.revision = revision
        self.checked.clear()  # what was stored is loaded by now

    def _follow(self, connection: Connection) -> None:
        traffic = traffic_in_force(connection)
        for share in traffic.values():
            for number in (share.current, share.canary, share.shadow):
                if number is not None:
                    self._get(connection, number)
        kept = set(connection.execute(select(models.c.version)).scalars())
        rows = {row.version: row for row in connection.execute(select(learning))}
        loaded = {number: version for number, version in self.loaded.items() if number in kept}
        self.loaded = {number: _with_learned(version, rows.get(number)) for number, version in loaded.items()}
        self.traffic = traffic

    def check(self, traffic: Traffic) -> None:
        # All versions must exist, belong to the model and take the same features as the current one, so that any of
        # them can answer any request. Canary and shadow must differ from the current version.
        current = self.get(traffic.current)
        if traffic.canary is None and traffic.share:
            raise invalid("share", "Without a canary the share is 0.")
        for field in ("current", "canary", "shadow"):
            number = getattr(traffic, field)
            if number is not None and self.get(number).name != traffic.model:
                raise Refused(409, "conflict", f"Version {number} belongs to another model.", field=field)
        for field in ("canary", "shadow"):
            number = getattr(traffic, field)
            if number is None:
                continue
            if number == traffic.current:
                raise invalid(field, f"The {field} must be another version than the current one.")
            if self.get(number).shape.signature != current.shape.signature:
                message = f"The {field} takes different features from the current version."
                raise Refused(409, "conflict", message, field=field)

    def default(self) -> Traffic:
        """Return the traffic of the model that requests mean if they name none."""
        return next(iter(self.traffic.values())) if len(self.traffic) == 1 else self.of(DEFAULT)


def _with_learned(version: Version, row: Any) -> Version:
    if version.deployed is None:
        return version
    published = None if row is None or row.policy is None else Published(row.base, row.applied, row.count, row.policy)
    if published == version.published:
        return version
    with intact(f"What version {version.number} has learned"):
        return replace(version, online=play_published(version.deployed, published), published=published)


@dataclass(frozen=True, eq=False)
class NewModel:
    """A model file and the name of the model that it is a version of."""

    name: str
    file: bytes


@dataclass(frozen=True, eq=False)
class ModelStart:
    """How one model is started."""

    name: str  # name of the model
    file: bytes | None  # content of the model file given
    version: int | None  # stored version to serve
    # whether the file replaces the version that serves; None: only if the store has never seen the file
    deploy: bool | None


@dataclass(frozen=True)
class StartResult:
    """Result of a start: the traffic in force, the version number of the file, and whether it was deployed now."""

    traffic: Traffic
    given: int | None
    deployed: bool


@each
def add_models(connection: Connection, model: NewModel) -> int:
    """Store a model file and return its version number; a file stored before keeps its number."""
    digest = sha256(model.file).hexdigest()
    same = (models.c.name == model.name) & (models.c.digest == digest)
    known = connection.execute(select(models.c.version).where(same)).scalar()
    if known is not None:
        return int(known)
    number = 1 + (connection.execute(select(func.max(models.c.version))).scalar() or 0)
    row = {"version": number, "name": model.name, "digest": digest, "created": time.time(), "file": model.file}
    connection.execute(insert(models), row)
    revise(connection)
    return number


@each
def delete_models(connection: Connection, number: int) -> Refused | None:
    """Delete a version without traffic and what it learned; the lists that it built are kept."""
    for traffic in traffic_in_force(connection).values():
        if number in (traffic.current, traffic.canary, traffic.shadow):
            return Refused(409, "conflict", "This version serves traffic. Move its traffic to another version first.")
    if not connection.execute(delete(models).where(models.c.version == number)).rowcount:
        return Refused(404, "not_found", f"There is no model version {number}.")
    for table in (learning, snapshots, quarantine):
        connection.execute(delete(table).where(table.c.version == number))
    revise(connection)
    return None


@each
def deploy(connection: Connection, traffic: Traffic) -> Traffic:
    """Record new traffic; the last record of each model is in force."""
    number = 1 + (connection.execute(select(func.max(deployments.c.number))).scalar() or 0)
    parts = {name: getattr(traffic, name) for name in ("current", "canary", "share", "shadow")}
    connection.execute(insert(deployments), {"number": number, "name": traffic.model, "created": time.time(), **parts})
    revise(connection)
    return traffic


def traffic_in_force(connection: Connection) -> dict[str, Traffic]:
    last = select(func.max(deployments.c.number)).group_by(deployments.c.name)
    rows = connection.execute(select(deployments).where(deployments.c.number.in_(last)))
    return {row.name: Traffic(row.current, row.canary, row.share, row.shadow, row.name) for row in rows}


def shares_of(connection: Connection, traffic: Traffic) -> tuple[Floats, Floats]:
    """Return the times at which the canary's share against the current version changed, and the shares around them."""
    mine = select(deployments).where(deployments.c.name == traffic.model).order_by(deployments.c.number)
    rows = connection.execute(mine).all()
    pair = traffic.current, traffic.canary
    shares = [row.share if (row.current, row.canary) == pair else 0.0 for row in rows]
    return np.array([row.created for row in rows]), np.array([0.0, *shares])


def traffic_before(connection: Connection, traffic: Traffic) -> Traffic:
    """Return the traffic for a rollback: the version that was current before the present one first was."""
    mine = deployments.c.name == traffic.model
    first = select(func.min(deployments.c.number)).where(mine, deployments.c.current == traffic.current)
    earlier = select(deployments.c.current).where(mine, deployments.c.number < first.scalar_subquery())
    kept = earlier.where(deployments.c.current.in_(select(models.c.version)))
    previous = connection.execute(kept.order_by(deployments.c.number.desc()).limit(1)).scalar()
    if previous is None:
        raise Refused(409, "conflict", "There is no earlier version to roll back to.")
    return Traffic(current=previous, model=traffic.model)


def check_stored(connection: Connection, version: int, name: str) -> Refused | None:
    if connection.execute(select(models.c.name).where(models.c.version == version)).scalar() == name:
        return None
    return Refused(404, "not_found", f"The store has no version {version} of the model {name!r}.")


@each
def start_models(connection: Connection, start: ModelStart) -> StartResult | Refused:
    # It is deployed if the model has no traffic yet, if the caller asked for it, or if it is new and the caller left
    # the choice open; otherwise the stored traffic stays in force, so that a restart with an old file does not undo a
    # deployment.
    traffic, given, new = traffic_in_force(connection).get(start.name), start.version, False
    if given is not None:
        refused = check_stored(connection, given, start.name)
        if refused is not None:
            return refused
    elif start.file is not None:
        last = connection.execute(select(func.max(models.c.version))).scalar() or 0
        given = add_models(connection, [NewModel(start.name, start.file)])[0]
        new = given > last
    wanted = start.version is not None or start.deploy or (start.deploy is None and new)
    if traffic is None or (wanted and given is not None and traffic.current != given):
        if given is None:
            return Refused(404, "not_found", f"The store has no model {start.name!r} yet. Pass a model file.")
        return StartResult(deploy(connection, [Traffic(current=given, model=start.name)])[0], given, deployed=True)
    return StartResult(traffic, given, deployed=False)
