"""The versions that are loaded, how traffic is shared among them, and what each has learned."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, select

from listwright.apps.serve.learning.published import Published, played
from listwright.apps.serve.models.intake import Shape
from listwright.apps.serve.models.requests import DEFAULT, Traffic
from listwright.apps.serve.models.versions import all_deployed
from listwright.apps.serve.refusals import Refused, invalid
from listwright.apps.serve.store.schema import clock, learning, models
from listwright.apps.trust import load_trusting
from listwright.errors import InputError
from listwright.feedback.online import OnlineSCP
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.storage import inspect


class Cost:
    """How long a version's lists take, by those that it built."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Nothing is known any more: the first list took the compiler's time too."""
        self.seconds: float | None = None  # per number of a request

    def expected(self, numbers: int) -> float:
        """Seconds for a list from a request with that many numbers; infinite where nothing is known yet."""
        return inf if self.seconds is None else self.seconds * numbers

    def note(self, numbers: int, seconds: float) -> None:
        """One more list; a long one that was held up by others counts no more than twice what was known."""
        seen, known = seconds / max(1, numbers), self.seconds
        self.seconds = seen if known is None else 0.9 * known + 0.1 * min(seen, 2 * known)


@dataclass(frozen=True, eq=False)
class Version:
    """A loaded model. Where it can learn, an `OnlineSCP` stands for it that draws from what was learned."""

    number: int
    name: str
    model: Any
    shape: Shape
    cost: Cost
    explores: bool  # lists are drawn, so that something can be learned from them
    deployed: OnlineSCP | None = None  # as the file has it
    online: OnlineSCP | None = None  # the same, with what was learned since
    published: Published | None = None  # what that is

    def lists(self, problem: Problems, length: int | None, budget: float | None, list_id: str) -> Lists:
        """The list of one problem; shorter where there are fewer candidates."""
        if self.online is not None and self.explores:
            return self.online.recommend(problem, length=length, budget=budget, list_ids=[list_id])
        if self.online is not None and self._plays_online:
            return self.online.predict(problem, length=length, budget=budget)
        return self.model.predict(problem, length=length, budget=budget, short_lists=True)

    @property
    def policy(self) -> Any:
        """What it serves, without exploration, as logs are evaluated with."""
        return self.online.predict if self.online is not None and self._plays_online else self.model

    @property
    def _plays_online(self) -> bool:
        return self.published is not None or isinstance(self.model, OnlineSCP)

    def as_deployed(self) -> Version:
        """The same version without what it has learned."""
        return replace(self, online=self.deployed, published=None)

    @property
    def state(self) -> int:
        """How many lists it has learned from."""
        return 0 if self.published is None else self.published.count


@dataclass(frozen=True)
class Opening:
    """How models are made ready to serve.

    Parameters
    ----------
    learner : callable
        Makes the learner of a model, or raises InputError.
    explores : bool
        Lists are drawn from what was learned, so that more can be learned.
    trust : str
        Classes that are not listwright's and that model files may have, by commas.
    """

    learner: Callable[[Any], OnlineSCP]
    explores: bool
    tolerance: float = 1.0
    refuse: bool = False
    trust: str = ""

    def opened(self, number: int, name: str, file: bytes) -> Version:
        """A version from its file; an error where the file holds no model, or none that can learn and has to."""
        model = load_bytes(file, self.trust)
        online = None
        try:
            online = self.learner(model)
        except InputError:
            if self.explores:
                raise
        shape = Shape.of(model, tolerance=self.tolerance, refuse=self.refuse)
        return Version(number, name, model, shape, Cost(), self.explores, online, online)


class Fleet:
    """The versions that are loaded and the traffic of each model; both are replaced as a whole, never changed."""

    def __init__(self, engine: Engine, opening: Opening) -> None:
        self.engine = engine  # to read from
        self.opening = opening
        self.lock = Lock()
        self.loaded: dict[int, Version] = {}
        self.traffic: dict[str, Traffic] = {}
        self.revision = -1

    def choose(self, list_id: str, name: str) -> Version:
        """The version that a list falls to: the end of its id is random."""
        traffic = self.of(name)
        if traffic.canary is not None and int(list_id[-8:], 16) < traffic.share * 2**32:
            return self.loaded[traffic.canary]
        return self.loaded[traffic.current]

    def of(self, name: str) -> Traffic:
        """The traffic of a model."""
        traffic = self.traffic.get(name)
        if traffic is None:
            raise Refused(404, "not_found", f"There is no model {name!r}.", field="model")
        return traffic

    def shadow(self, name: str) -> Version | None:
        """The version that gets copies of requests."""
        number = self.of(name).shadow
        return None if number is None else self.loaded.get(number)

    def get(self, number: int) -> Version:
        """A version, loaded if need be."""
        found = self.loaded.get(number)
        if found is not None:
            return found
        with self.lock, self.engine.connect() as connection:
            return self._get(connection, number)

    def _get(self, connection: Connection, number: int) -> Version:
        if number not in self.loaded:
            row = connection.execute(select(models).where(models.c.version == number)).first()
            if row is None:
                raise Refused(404, "not_found", f"There is no model version {number}.")
            version = self.opening.opened(number, row.name, row.file)
            found = connection.execute(select(learning).where(learning.c.version == number)).first()
            self.loaded = {**self.loaded, number: _learned(version, found)}
        return self.loaded[number]

    def follow(self) -> bool:
        """Takes over what changed in the store: versions, traffic, and what was learned; whether anything did."""
        with self.engine.connect() as connection:
            revision = connection.execute(select(clock.c.value).where(clock.c.name == "revision")).scalar_one()
            if revision == self.revision:
                return False
            with self.lock:
                self._follow(connection)
                self.revision = revision
        return True

    def _follow(self, connection: Connection) -> None:
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
        """Refuses traffic that would not work."""
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
                told = f"The {field} takes other features than the current version."
                raise Refused(409, "conflict", told, field=field)

    def default(self) -> Traffic:
        """The traffic of the model that requests are for where they do not say; of the only one, whatever its name."""
        return next(iter(self.traffic.values())) if len(self.traffic) == 1 else self.of(DEFAULT)


def _learned(version: Version, row: Any) -> Version:
    """The version with what its row says it has learned."""
    if version.deployed is None:
        return version
    published = None if row is None or row.policy is None else Published(row.base, row.applied, row.count, row.policy)
    if published == version.published:
        return version
    return replace(version, online=played(version.deployed, published), published=published)


def load_bytes(file: bytes, trust: str = "") -> Any:
    """The model in a file's content; `trust`: see `load_trusting`."""
    with _kept(file) as path:
        return load_trusting(path, trust)


def inspect_bytes(file: bytes) -> dict[str, Any]:
    """What a file's content says of itself; the model is not made."""
    with _kept(file) as path:
        return inspect(path)


@contextmanager
def _kept(file: bytes) -> Iterator[Path]:
    """The content as a file; messages do not tell where it was kept meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(file)
        try:
            yield path
        except InputError as error:
            raise InputError(str(error).replace(str(path), "The model")) from None
