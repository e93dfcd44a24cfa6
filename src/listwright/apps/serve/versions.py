"""Model versions: which are there, which serve, and how to change that without dropping a request."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, func, insert, select

from listwright.apps.serve.intake import Shape
from listwright.apps.serve.payloads import Traffic
from listwright.apps.serve.records import now
from listwright.apps.serve.refusals import Refused, invalid
from listwright.apps.serve.schema import deployments, learners, models
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.storage import load


@dataclass(frozen=True, eq=False)
class Version:
    """A loaded model, and the learner that stands for it while the service learns."""

    number: int
    model: Any
    shape: Shape
    online: Any = None  # an OnlineSCP, which only the updater changes

    def lists(self, problem: Problems, length: int | None, budget: float | None, list_id: str) -> Lists:
        """The list of one problem; shorter where there are fewer candidates."""
        if self.online is None:
            return self.model.predict(problem, length=length, budget=budget, short_lists=True)
        return self.online.recommend(problem, length=length, budget=budget, list_ids=[list_id])


class Fleet:
    """The versions that are loaded and how traffic is shared; both are replaced as a whole, never changed."""

    def __init__(self, engine: Engine, learner: Callable[[Any, bytes | None], Any] | None) -> None:
        self.engine = engine  # to read from
        self.learner = learner  # makes one of a model and of the state it was stored in, if any
        self.lock = Lock()
        self.loaded: dict[int, Version] = {}
        self.traffic = Traffic(current=1)

    def choose(self, list_id: str) -> Version:
        """The version that a list falls to: the end of its id is random."""
        traffic = self.traffic
        if traffic.canary is not None and int(list_id[-8:], 16) < traffic.share * 2**32:
            return self.loaded[traffic.canary]
        return self.loaded[traffic.current]

    def get(self, number: int) -> Version:
        """A version, loaded if need be."""
        with self.lock:
            if number not in self.loaded:
                self.loaded = {**self.loaded, number: self._read(number)}
        return self.loaded[number]

    def _read(self, number: int) -> Version:
        with self.engine.connect() as connection:
            file = connection.execute(select(models.c.file).where(models.c.version == number)).scalar()
            state = connection.execute(select(learners.c.state).where(learners.c.version == number)).scalar()
        if file is None:
            raise Refused(404, "not_found", f"There is no model version {number}.")
        return self.opened(number, file, state)

    def opened(self, number: int, file: bytes, state: bytes | None = None) -> Version:
        """A version from its file; an error where the file holds no model, or none that can learn on."""
        model = load_bytes(file)
        return Version(number, model, Shape.of(model), None if self.learner is None else self.learner(model, state))

    def switch(self, traffic: Traffic) -> None:
        """From now on lists are shared like this; requests that are being answered keep their version."""
        for number in (traffic.current, traffic.canary):
            if number is not None:
                self.get(number)
        self.traffic = traffic

    def check(self, traffic: Traffic) -> None:
        """Refuses traffic that would not work."""
        current = self.get(traffic.current)
        if traffic.canary is None:
            if traffic.share:
                raise invalid("share", "Without a canary the share is 0.")
            return
        if traffic.canary == traffic.current:
            raise invalid("canary", "The canary must be another version than the current one.")
        if self.get(traffic.canary).shape.signature != current.shape.signature:
            raise Refused(409, "conflict", "The canary takes other features than the current version.", field="canary")


def load_bytes(file: bytes) -> Any:
    """The model in a file's content; messages do not tell where it was kept meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(file)
        try:
            return load(path)
        except InputError as error:
            raise InputError(str(error).replace(str(path), "The model")) from None


def add_models(connection: Connection, files: Sequence[bytes]) -> list[int]:
    """Stores model files; their version numbers. A file that is there already keeps its number."""
    return [_add_model(connection, file) for file in files]


def _add_model(connection: Connection, file: bytes) -> int:
    digest = sha256(file).hexdigest()
    known = connection.execute(select(models.c.version).where(models.c.digest == digest)).scalar()
    if known is not None:
        return int(known)
    number = 1 + (connection.execute(select(func.max(models.c.version))).scalar() or 0)
    connection.execute(insert(models), {"version": number, "digest": digest, "created": now(), "file": file})
    return number


def deploy(connection: Connection, wanted: Sequence[Traffic]) -> list[Traffic]:
    """Writes down who serves from now on."""
    for traffic in wanted:
        number = 1 + (connection.execute(select(func.max(deployments.c.number))).scalar() or 0)
        connection.execute(insert(deployments), {"number": number, "created": now(), **traffic.model_dump()})
    return list(wanted)


def deployed(connection: Connection) -> Traffic | None:
    """Who serves, as it was last written down."""
    row = connection.execute(select(deployments).order_by(deployments.c.number.desc()).limit(1)).first()
    return None if row is None else Traffic(current=row.current, canary=row.canary, share=row.share)


def before(connection: Connection, current: int) -> Traffic:
    """Who was current before this version first was."""
    first = select(func.min(deployments.c.number)).where(deployments.c.current == current).scalar_subquery()
    earlier = select(deployments.c.current).where(deployments.c.number < first).order_by(deployments.c.number.desc())
    found = connection.execute(earlier.limit(1)).scalar()
    if found is None:
        raise Refused(409, "conflict", "No version served before this one.")
    return Traffic(current=found)


def first_traffic(connection: Connection, files: Sequence[bytes]) -> list[Traffic]:
    """Who serves at the start: as it was left; a file that is new to the store takes over."""
    return [_first_traffic(connection, file) for file in files]


def _first_traffic(connection: Connection, file: bytes) -> Traffic:
    known, traffic = connection.execute(select(func.max(models.c.version))).scalar() or 0, deployed(connection)
    number = _add_model(connection, file)
    if traffic is not None and number <= known:
        return traffic
    return deploy(connection, [Traffic(current=number)])[0]
