"""The loaded model versions, the traffic among them, and what each has learned.

`ModelRegistry` mirrors the store in memory. Requests read it without locks: versions and traffic are immutable and
replaced as a whole when `ModelRegistry.follow` notices a new revision, whichever replica caused it.
"""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, select

from listwright.serve.learning.published import Published, played
from listwright.serve.models.opened import Opening, Version
from listwright.serve.models.requests import DEFAULT, Traffic
from listwright.serve.models.versions import all_deployed
from listwright.serve.refusals import Refused, invalid
from listwright.serve.store.schema import clock, learning, models


class ModelRegistry:
    """All loaded versions and the traffic of each model, as this replica sees them."""

    def __init__(self, engine: Engine, opening: Opening) -> None:
        """Start empty; `follow` loads what the store serves."""
        self.engine = engine  # to read from
        self.opening = opening
        self.lock = Lock()
        self.loaded: dict[int, Version] = {}
        self.traffic: dict[str, Traffic] = {}
        self.revision = -1

    def choose(self, list_id: str, name: str) -> Version:
        """Return the version that builds a list: the canary if the random end of the id falls into its share, else the
        current.
        """
        traffic = self.of(name)
        if traffic.canary is not None and int(list_id[-8:], 16) < traffic.share * 2**32:
            return self.loaded[traffic.canary]
        return self.loaded[traffic.current]

    def of(self, name: str) -> Traffic:
        """Return the traffic of a model; refuses with 404 if there is no such model."""
        traffic = self.traffic.get(name)
        if traffic is None:
            raise Refused(404, "not_found", f"There is no model {name!r}.", field="model")
        return traffic

    def shadow(self, name: str) -> Version | None:
        """Return the version that gets copies of a model's requests, if there is one."""
        number = self.of(name).shadow
        return None if number is None else self.loaded.get(number)

    def get(self, number: int) -> Version:
        """Return a version, loading it from the store if necessary; refuses with 404 if it does not exist."""
        found = self.loaded.get(number)
        if found is not None:
            return found
        with self.lock, self.engine.connect() as connection:
            return self._get(connection, number)

    def _get(self, connection: Connection, number: int) -> Version:
        """Load a version with what it has learned; the caller holds the lock."""
        if number not in self.loaded:
            row = connection.execute(select(models).where(models.c.version == number)).first()
            if row is None:
                raise Refused(404, "not_found", f"There is no model version {number}.")
            version = self.opening.opened(number, row.name, row.file)
            found = connection.execute(select(learning).where(learning.c.version == number)).first()
            self.loaded = {**self.loaded, number: _learned(version, found)}
        return self.loaded[number]

    def follow(self) -> bool:
        """Take over changes of the store: versions, traffic and learned policies."""
        # Cheap if nothing changed, because only the revision number is read.
        with self.engine.connect() as connection:
            revision = connection.execute(select(clock.c.value).where(clock.c.name == "revision")).scalar_one()
            if revision == self.revision:
                return False
            with self.lock:
                self._follow(connection)
                self.revision = revision
        return True

    def _follow(self, connection: Connection) -> None:
        """Load all versions with traffic, apply learned policies, drop deleted versions, then switch the traffic."""
        traffic = all_deployed(connection)
        for one in traffic.values():
            for number in (one.current, one.canary, one.shadow):
                if number is not None:
                    self._get(connection, number)
        kept = set(connection.execute(select(models.c.version)).scalars())
        rows = {row.version: row for row in connection.execute(select(learning))}
        self.loaded = {
            number: _learned(version, rows.get(number)) for number, version in self.loaded.items() if number in kept
        }
        self.traffic = traffic

    def check(self, traffic: Traffic) -> None:
        """Refuse traffic that cannot work."""
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
                told = f"The {field} takes different features from the current version."
                raise Refused(409, "conflict", told, field=field)

    def default(self) -> Traffic:
        """Return the traffic of the model that requests mean if they name none: the only one, or the one named
        "default".
        """
        return next(iter(self.traffic.values())) if len(self.traffic) == 1 else self.of(DEFAULT)


def _learned(version: Version, row: Any) -> Version:
    """Return the version with the learned policy in its row of the store; the same object if nothing changed."""
    if version.deployed is None:
        return version
    published = None if row is None or row.policy is None else Published(row.base, row.applied, row.count, row.policy)
    if published == version.published:
        return version
    return replace(version, online=played(version.deployed, published), published=published)
