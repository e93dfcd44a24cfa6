"""One running service: its parts, and the order they start and stop in."""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from listwright.apps.serve.building import SMALL, build, build_all, work
from listwright.apps.serve.database import Database
from listwright.apps.serve.journal import Noted, Told, add_feedback, add_lists
from listwright.apps.serve.metrics import Metrics
from listwright.apps.serve.payloads import FeedbackRequest, ListRequest, Traffic
from listwright.apps.serve.records import Served, now
from listwright.apps.serve.refusals import Refused, invalid, unavailable
from listwright.apps.serve.retention import EVERY, MOST, Old, forget
from listwright.apps.serve.settings import Settings
from listwright.apps.serve.updates import Updater, learner_maker
from listwright.apps.serve.versions import Fleet, add_models, before, deploy, first_traffic
from listwright.apps.serve.writer import Writer
from listwright.errors import InputError

DAY = 86_400.0


class Service:
    """Made before the event loop runs, so that what is wrong is told at once; handlers ask it for everything."""

    writer: Writer

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self.settings, self.metrics, self.limits = settings, metrics, settings.limits
        self.file = _read(settings.model)
        maker = learner_maker(settings.explore, settings.seed) if settings.learn else None
        self.database = Database.of(settings.store)
        self.fleet = Fleet(self.database.reading, maker)
        self.fleet.opened(0, self.file)  # an error where it cannot be served
        self.database.upgrade()
        self.updater: Updater | None = None
        self.keeping: asyncio.Task[None] | None = None
        self.deploying = asyncio.Lock()

    async def start(self) -> None:
        """Loads what serves, and begins to write, to learn and to forget."""
        self.writer = Writer(self.database.writing, self.metrics.of_group)
        traffic = await self.writer.write(first_traffic, self.file)
        await asyncio.to_thread(self.fleet.switch, traffic)
        gc.collect()
        gc.freeze()  # what is there now stays: looking through it again and again would hold up requests
        if self.settings.learn:
            self.updater = Updater(self.database.reading, self.writer, self.fleet, self.metrics)
        if self.settings.keep_days is not None:
            self.keeping = asyncio.create_task(self._keep(self.settings.keep_days))

    async def stop(self) -> None:
        """Learns and writes what is at hand, then closes the store."""
        if self.keeping is not None:
            self.keeping.cancel()
        if self.updater is not None:
            await asyncio.to_thread(self.updater.stop)
        await asyncio.to_thread(self.writer.stop)
        self.database.close()

    async def lists(self, asked: list[ListRequest], *, batch: bool) -> list[Served]:
        """Builds lists and stores them."""
        if not batch and work(asked) <= SMALL:
            served = [build(asked[0], self.fleet, self.limits)]
        elif not batch:
            served = [await asyncio.to_thread(build, asked[0], self.fleet, self.limits)]
        else:
            served = await asyncio.to_thread(build_all, asked, self.fleet, self.limits)
        await self.writer.write(add_lists, served)
        for one in served:
            self.metrics.lists.labels(one.version).inc()
        return served

    async def feedback(self, told: FeedbackRequest) -> Noted:
        """Stores what came of a list."""
        clicks = None if told.clicks is None else tuple(told.clicks)
        gains = None if told.gains is None else tuple(told.gains)
        one = Told(told.list_id, told.idempotency_key or told.list_id, clicks, gains)
        noted: Noted = await self.writer.write(add_feedback, one)
        if not noted.duplicate:
            self.metrics.feedback.labels(noted.version, "failure" if noted.failed else "success").inc()
            self.metrics.events.set(noted.event)
        return noted

    async def add_model(self, file: bytes) -> int:
        """Stores a new version, which serves nothing yet."""
        try:
            await asyncio.to_thread(self.fleet.opened, 0, file)
        except InputError as error:
            raise invalid("body", str(error)) from None
        number: int = await self.writer.write(add_models, file)
        await asyncio.to_thread(self.fleet.get, number)
        return number

    async def deploy(self, traffic: Traffic) -> Traffic:
        """Changes who serves; no request is dropped."""
        async with self.deploying:
            await asyncio.to_thread(self.fleet.check, traffic)
            await self.writer.write(deploy, traffic)
            await asyncio.to_thread(self.fleet.switch, traffic)
        return traffic

    async def roll_back(self) -> Traffic:
        """The version before serves again, without a canary."""
        return await self.deploy(await self.read(before, self.fleet.traffic.current))

    async def read(self, question: Any, *arguments: Any) -> Any:
        """What a function of a connection reads from the store."""
        return await asyncio.to_thread(self._read, question, *arguments)

    def _read(self, question: Any, *arguments: Any) -> Any:
        try:
            with self.database.reading.connect() as connection:
                return question(connection, *arguments)
        except SQLAlchemyError:
            raise unavailable() from None

    async def check_ready(self) -> None:
        """Refuses where a list could not be built, stored and learned from."""
        await self.read(_one)
        if not self.writer.healthy:
            raise unavailable("The last write failed.")
        if self.updater is not None and self.updater.failed:
            raise unavailable("Learning has stopped.")

    async def _keep(self, days: float) -> None:
        while True:
            with suppress(Refused):
                while await self.writer.write(forget, Old(now() - days * DAY, self.settings.learn)) == MOST:
                    await asyncio.sleep(0.1)
            await asyncio.sleep(EVERY)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None


def _one(connection: Connection) -> int:
    return int(connection.execute(text("SELECT 1")).scalar_one())
