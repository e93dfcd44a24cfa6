"""The loaded model versions, the traffic among them, and what each has learned.

`Fleet` mirrors the store in memory. Requests read it without locks: versions and traffic are immutable and replaced as
a whole when `Fleet.follow` notices a new revision, whichever replica caused it.
"""

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
    """Running estimate of the time that a version takes to build a list, per number in the request.

    Used to decide whether a list is built in the event loop or in a thread.

    Examples
    --------
    >>> cost = Cost()
    >>> cost.expected(100)
    inf
    >>> cost.note(100, 0.5)
    >>> cost.expected(200)
    1.0
    """

    def __init__(self) -> None:
        """Start without an estimate."""
        self.forget()

    def forget(self) -> None:
        """Drop the estimate; the first list includes the time of the compiler."""
        self.seconds: float | None = None  # per number of a request

    def expected(self, numbers: int) -> float:
        """Return the expected seconds for a request of that many numbers; infinite without an estimate."""
        return inf if self.seconds is None else self.seconds * numbers

    def note(self, numbers: int, seconds: float) -> None:
        """Update the exponential average with one list.

        Observations are capped at twice the estimate, since a list may have been delayed by other threads.
        """
        seen, known = seconds / max(1, numbers), self.seconds
        self.seconds = seen if known is None else 0.9 * known + 0.1 * min(seen, 2 * known)


@dataclass(frozen=True, eq=False)
class Version:
    """A loaded model version. Immutable: learning replaces it by a copy with a new `online`.

    Attributes
    ----------
    number : int
        Version number, unique over all models.
    name : str
        Name of the model it belongs to.
    model : Any
        The fitted estimator.
    shape : Shape
        What requests must look like.
    cost : Cost
        Time per list; shared by copies.
    explores : bool
        Whether lists are drawn at random, so that feedback can be learned from.
    deployed : OnlineSCP or None
        Learner in the state of the model file; None for models that cannot learn.
    online : OnlineSCP or None
        The same with what was learned since.
    published : Published or None
        The learned policy that `online` plays; None if nothing was learned.
    """

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
        """Build the list of one problem, shorter than `length` where there are fewer candidates.

        Parameters
        ----------
        problem : Problems
            A single problem.
        length, budget : int or None, float or None
            Limits of the list; None for the model's own.
        list_id : str
            Seeds the exploration, together with the seed of the service.

        Returns
        -------
        Lists
            One list, with propensities if the version explores.
        """
        if self.online is not None and self.explores:
            return self.online.recommend(problem, length=length, budget=budget, list_ids=[list_id])
        if self.online is not None and self._plays_online:
            return self.online.predict(problem, length=length, budget=budget)
        return self.model.predict(problem, length=length, budget=budget, short_lists=True)

    @property
    def policy(self) -> Any:
        """The policy without exploration, in the form that off-policy estimators take."""
        return self.online.predict if self.online is not None and self._plays_online else self.model

    @property
    def _plays_online(self) -> bool:
        """Whether lists come from the online learner rather than from the estimator in the file."""
        return self.published is not None or isinstance(self.model, OnlineSCP)

    def as_deployed(self) -> Version:
        """Return the version without what it has learned."""
        return replace(self, online=self.deployed, published=None)

    @property
    def state(self) -> int:
        """Number of lists the version has learned from."""
        return 0 if self.published is None else self.published.count


@dataclass(frozen=True)
class Opening:
    """How model files become versions.

    Attributes
    ----------
    learner : callable
        Makes an `OnlineSCP` from a model; raises InputError if the model cannot learn.
    explores : bool
        Whether lists are drawn so that something can be learned; then models that cannot learn are rejected.
    tolerance : float
        How far beyond its trained range a column may be, in widths of that range.
    refuse : bool
        Refuse requests beyond that, instead of clipping them.
    trust : str
        Comma-separated classes outside listwright that model files may contain.
    """

    learner: Callable[[Any], OnlineSCP]
    explores: bool
    tolerance: float = 1.0
    refuse: bool = False
    trust: str = ""

    def opened(self, number: int, name: str, file: bytes) -> Version:
        """Load a version from the content of its file.

        Raises
        ------
        InputError
            If the file holds no model that can be served, or one that cannot learn where learning is on.
        """
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
    """All loaded versions and the traffic of each model, as this replica sees them.

    Parameters
    ----------
    engine : Engine
        To read from the store.
    opening : Opening
        How model files are loaded.

    Attributes
    ----------
    loaded : dict of int to Version
        By version number; replaced, never changed.
    traffic : dict of str to Traffic
        By model name; replaced, never changed.
    revision : int
        Revision of the store that both reflect.
    """

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

        The choice depends on the id alone, so it can be repeated.
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
        """Take over changes of the store: versions, traffic and learned policies.

        Cheap if nothing changed, because only the revision number is read. Returns whether anything did.
        """
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
        """Refuse traffic that cannot work.

        All versions must exist, belong to the model and take the same features as the current one, so that any of them
        can
        answer any request. Canary and shadow must differ from the current version.

        Raises
        ------
        Refused
            404, 409 or 422, with the field at fault.
        """
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


def load_bytes(file: bytes, trust: str = "") -> Any:
    """Load a model from the content of a file; `trust` lists further classes that it may contain."""
    with _kept(file) as path:
        return load_trusting(path, trust)


def inspect_bytes(file: bytes) -> dict[str, Any]:
    """Return the metadata of a model file's content without constructing the model."""
    with _kept(file) as path:
        return inspect(path)


@contextmanager
def _kept(file: bytes) -> Iterator[Path]:
    """Yield a temporary file with the content; InputErrors are raised again without its path."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(file)
        try:
            yield path
        except InputError as error:
            raise InputError(str(error).replace(str(path), "The model")) from None
