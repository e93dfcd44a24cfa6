"""Questions with the passages that were packed for them, as the store keeps them for a packer to learn from."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import zstandard
from sqlalchemy import Connection, insert, select

from listwright.serve.store.records import ServedList, new_id, outcome_of
from listwright.serve.store.schema import PACKER, contexts, feedback

AT_ONCE = 200  # contexts that are read together


@dataclass(frozen=True, eq=False)
class PackedContext:
    """A question, its passages, and which of them the answer held."""

    asked: dict[str, Any]  # the question, the passages and what is known of them, as `ContextPacker.fit` reads them
    shown: list[int]  # positions of the passages, best first
    created: float = field(default_factory=time.time)
    id: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", new_id(self.created))

    def as_list(self) -> ServedList:
        """Return the positions as a list, which is what feedback is validated against."""
        return _as_list(self.id, self.created, self.shown)


def _as_list(context_id: str, created: float, shown: list[int]) -> ServedList:
    return ServedList(context_id, created, PACKER, 0, False, None, None, shown, np.arange(len(shown)))


def add_contexts(connection: Connection, packed: Sequence[PackedContext]) -> list[None]:
    """Store contexts; waits for no other replica."""
    compress = zstandard.ZstdCompressor().compress
    rows = [
        {
            "id": context.id,
            "created": context.created,
            "shown": msgspec.json.encode(context.shown).decode(),
            "record": compress(msgspec.msgpack.encode(context.asked)),
        }
        for context in packed
    ]
    connection.execute(insert(contexts), rows)
    return [None] * len(packed)


def find_context(connection: Connection, context_id: str) -> ServedList | None:
    """Return the positions that a context showed as a list, or None if there is no such context."""
    row = connection.execute(select(contexts).where(contexts.c.id == context_id)).first()
    return None if row is None else _as_list(row.id, row.created, msgspec.json.decode(row.shown))


def answered_contexts(connection: Connection) -> Iterator[dict[str, Any]]:
    """Read the contexts with feedback, the oldest first, as records that `ContextPacker.fit` reads."""
    joined = contexts.join(feedback, feedback.c.list_id == contexts.c.id)
    columns = (contexts, feedback.c.gains, feedback.c.earlier)
    wanted = select(*columns).select_from(joined).order_by(contexts.c.id, feedback.c.event)
    latest: Any = None  # the last feedback knows the gains of those before it
    for row in connection.execution_options(yield_per=AT_ONCE).execute(wanted):
        if latest is not None and row.id != latest.id:
            yield _as_record(latest)
        latest = row
    if latest is not None:
        yield _as_record(latest)


def _as_record(row: Any) -> dict[str, Any]:
    asked = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(row.record))
    shown = msgspec.json.decode(row.shown)
    gains = outcome_of(row.gains, row.earlier)
    cited = [position for position, gain in zip(shown, gains, strict=True) if gain > 0]
    return {"id": row.id, "created": row.created, **asked, "shown": shown, "cited": cited}
