"""Trying a candidate on a share of the lists, until feedback decides for or against it.

The candidate is the canary of the default model. Its share keeps what may be lost within the budget, and the test may
be looked at after every list, so the trial ends as soon as there is a verdict.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from listwright.feedback.planning import SequentialTest, candidate_share
from listwright.serve.messages import DEFAULT, Traffic
from listwright.serve.models.registry import NewModel, add_models
from listwright.serve.store.records import outcome_of
from listwright.serve.store.schema import feedback

if TYPE_CHECKING:
    from listwright.serve.service import Service

PAUSE = 1.0  # seconds between two looks at the feedback
AT_ONCE = 10_000  # events
log = logging.getLogger("listwright.serve")


class CandidateTrial:
    """The trial of one candidate against the version that serves."""

    def __init__(self, service: Service, file: bytes) -> None:
        self.service, self.file = service, file
        self.test, self.event = SequentialTest(), 0

    async def run(self) -> None:
        """Start the trial, and end it with a verdict."""
        service = self.service
        number: int = await service.writer.write(add_models, NewModel(DEFAULT, self.file))
        current = service.registry.of(DEFAULT).current
        if number == current:
            return
        while self.test.verdict == "cannot tell":
            await self._share(current, number)
            await asyncio.sleep(PAUSE)
            while await service.read(self._read, current, number):
                pass
        await service.deploy(Traffic(current))
        low, high = self.test.interval()
        about = {"version": number, "cause": f"{low:+.4f} to {high:+.4f} per list against version {current}"}
        log.info("candidate: %s", self.test.verdict, extra=about)

    async def _share(self, current: int, number: int) -> None:
        """Give the candidate the share that the budget allows, by what today's lists are worth."""
        known = self.test.counts[0]
        today = self.test.sums[0] / known if known >= 20 else 1.0
        share = round(candidate_share(self.service.settings.loss_budget, today), 3)
        wanted = Traffic(current, canary=number, share=share)
        if self.service.registry.of(DEFAULT) != wanted:
            await self.service.deploy(wanted)

    def _read(self, connection: Connection, current: int, number: int) -> bool:
        """Add new feedback to the test; return whether there may be more."""
        wanted = (feedback.c.event > self.event) & feedback.c.version.in_((current, number))
        rows: list[Any] = list(
            connection.execute(select(feedback).where(wanted).order_by(feedback.c.event).limit(AT_ONCE))
        )
        for row in rows:
            earlier = None if row.earlier is None else sum(outcome_of(row.earlier, None))
            self.test.add(row.version == number, sum(outcome_of(row.gains, row.earlier)), earlier)
            self.event = row.event
        return len(rows) == AT_ONCE
