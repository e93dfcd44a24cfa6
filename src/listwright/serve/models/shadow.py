"""Shadow versions: they build the lists of real requests after the answer was sent, and nobody is shown them.

Use a shadow to see how a new version behaves under production traffic before it gets any.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from listwright.errors import InputError
from listwright.serve.models.building import Built, Copy
from listwright.serve.refusals import Refused
from listwright.serve.store.journal import add_shadows

if TYPE_CHECKING:
    from listwright.serve.service import Service

WAITING = 32  # lists; beyond, they are left out, so that a slow shadow slows nobody down


class Shadows:
    """Builds and stores the lists of shadow versions in the background."""

    def __init__(self, service: Service) -> None:
        """Start without pending lists."""
        self.service = service
        self.tasks: set[asyncio.Task[None]] = set()

    def offer(self, built: Built) -> None:
        """Schedule the shadow's list for one that was served, if its model has a shadow and there is room."""
        if built.copy is None:
            return
        if len(self.tasks) >= WAITING:
            self.service.metrics.dropped.inc()
            return
        task = asyncio.create_task(self._build(built.copy, built))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _build(self, copy: Copy, built: Built) -> None:
        """Build and store one shadow list; failures are counted as dropped."""
        try:
            row = await self.service.background.run(shadowed, copy, built)
            await self.service.writer.write(add_shadows, row)
            self.service.metrics.shadowed.labels(copy.version.number).inc()
        except (Refused, InputError):
            self.service.metrics.dropped.inc()


def shadowed(copy: Copy, built: Built) -> dict[str, Any]:
    """Return the row of a shadow's list for a request of which `built` was shown."""
    list_id = built.served.id
    lists = copy.version.lists(copy.problem, copy.length, copy.budget, list_id)
    picks, seen = [int(row) for row in lists[0]], set(built.items)
    overlap = sum(copy.ids[row] in seen for row in picks) / max(1, len(built.items))
    return {
        "list_id": list_id,
        "version": copy.version.number,
        "overlap": overlap,
        "picks": msgspec.json.encode(picks).decode(),
    }
