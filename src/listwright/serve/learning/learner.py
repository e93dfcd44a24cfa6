"""The learner of one model version: applies events in order and isolates those that cannot be learned from."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from msgspec import structs
from safetensors.numpy import load, save
from sqlalchemy import Engine

from listwright._internal.arrays import Floats32
from listwright.errors import InputError
from listwright.feedback.online import OnlineSCP
from listwright.serve.learning.progress import Unlearnable, events_after, snapshot
from listwright.serve.messages import ListQuery
from listwright.serve.models.building import build
from listwright.serve.models.details import explain_list
from listwright.serve.models.intake import Shape
from listwright.serve.models.registry import ModelRegistry
from listwright.serve.models.version import Version
from listwright.serve.refusals import Refused
from listwright.serve.settings import Limits
from listwright.serve.store.database import intact
from listwright.serve.store.records import FeedbackEvent
from listwright.serve.store.schema import lists
from listwright.training.signature import some_group

GROUP = 256  # events at a time
SHORT, LONG = (4, 2), (256, 32)  # candidates and length of the lists that warm a version up
log = logging.getLogger("listwright.serve")


class VersionLearner:
    """What a version has learned, in memory."""

    # The state is a function of the base snapshot and the events after it, in their order; it does not depend on when
    # events are read or how they are grouped. So any replica that starts from the same snapshot reaches the same state,
    # bit by bit.

    def __init__(self, version: int, online: OnlineSCP, base: int, applied: int) -> None:
        self.version = version  # the model version
        self.online = online  # the learner with its state
        self.base = base  # number of the snapshot it started from
        self.applied = applied  # number of the last event applied

    @classmethod
    def read(cls, engine: Engine, version: int, fresh: Callable[[], OnlineSCP], row: Any) -> VersionLearner:
        """Rebuild a learner from the store: restore its base snapshot and replay events up to its stored progress."""
        with engine.connect() as connection:
            base = snapshot(connection, row.base)
        learner = cls(version, restore(fresh(), base.state), row.base, base.applied)
        while learner.applied < row.applied:
            with engine.connect() as connection:
                events = events_after(connection, version, learner.applied, GROUP, until=row.applied)
            learner.apply(events)
            learner.applied = events[-1].number if events else row.applied
        return learner

    @property
    def count(self) -> int:
        return self.online.version

    def apply(self, events: Sequence[FeedbackEvent]) -> list[Unlearnable]:
        """Learn from events in order, except those that cannot be learned from and later ones on the same lists."""
        # These would correct an update that was never made, so the remaining ones start from the state before.
        wanted = [event for event in events if event.learnable]
        before = self.online.state() if wanted else None
        left = self._try(wanted) if wanted else []
        kept = _without(wanted, left)
        if before is not None and len(kept) < len(wanted) - len(left):
            self.online.restore(before)
            left += self._try(kept)
        if events:
            self.applied = events[-1].number
        return left

    def _try(self, events: list[FeedbackEvent]) -> list[Unlearnable]:
        """Apply events, all or none; on failure split them in half to find those at fault."""
        before = self.online.state()
        try:
            self.online.update([event.update() for event in events])
            check_finite(self.online)
        except MemoryError:
            self.online.restore(before)
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is: one event must not end learning
            self.online.restore(before)
            if len(events) == 1:
                return [self._leave(events[0], error)]
            half = len(events) // 2
            return self._try(events[:half]) + self._try(events[half:])
        return []

    def _leave(self, event: FeedbackEvent, error: Exception) -> Unlearnable:
        reason = f"{type(error).__name__}: {error}"[:300]
        log.error("feedback cannot be learned from", extra={"event": event.number, "cause": reason})
        return Unlearnable(event.number, event.list_id, reason)


def _without(events: Sequence[FeedbackEvent], left: Sequence[Unlearnable]) -> list[FeedbackEvent]:
    """Return events except those left out and later ones on the same lists."""
    first = {event.list_id: event.event for event in reversed(left)}
    return [event for event in events if event.number < first.get(event.list_id, event.number + 1)]


def state_bytes(learner: OnlineSCP) -> bytes:
    return save(learner.state())


def restore(learner: OnlineSCP, state: bytes | None) -> OnlineSCP:
    if state is None:
        return learner
    with intact("A snapshot of what was learned"):
        known = {name: array for name, array in load(state).items() if array.size or not name.endswith(".anchor_")}
        return learner.restore({**learner.state(), **known})


def check_finite(learner: OnlineSCP) -> None:
    for name, array in learner.state().items():
        if not np.isfinite(array).all():
            raise InputError(f"{name} is not finite any more")
    weights = getattr(learner.playing_.policy, "weights", None)
    if weights is not None and not np.isfinite(weights).all():
        raise InputError("the weights of the policy are not finite any more")


def warm_up(version: Version, registry: ModelRegistry, limits: Limits) -> None:
    """Build a made-up list and learn from it, so that all kernels of a version are compiled."""
    short, long = (_example_query(version.shape, version.name, *size) for size in (SHORT, LONG))
    for rules in ({"per_group": short.length}, {"per_group": [1, short.length], "budget": 1.0 * len(short.ids)}):
        with suppress(Refused):  # some models take no groups
            limited = structs.replace(short, **rules)
            explain_list(version, build(limited, registry, limits, by=version).served)
    try:
        for turn in range(4):
            if turn < 2:
                version.cost.forget()  # the first time was that of the compiler
            served = build(short, registry, limits, by=version).served
            build(long, registry, replace(limits, items=len(long.ids)), by=version)
            explain_list(version, served)
    except Refused as refused:
        log.warning("version %d cannot build a list yet", version.number, extra={"cause": refused.message})
        return
    if version.explores and version.deployed is not None and len(served.picks):
        row = SimpleNamespace(**dict(zip(lists.c.keys(), served.row(), strict=True)))
        event = FeedbackEvent(served.id, "", (0.0,) * len(served.picks), version.number, number=1, row=row)
        VersionLearner(version.number, registry.loader.learner(version.model), 0, 0).apply([event])


def _example_query(shape: Shape, name: str, count: int, length: int) -> ListQuery:
    signature = shape.signature
    catalogue: list[Any] = [None] * count
    if signature.n_items is not None:
        count = min(count, max(1, signature.n_items))
        length, catalogue = min(length, count), list(signature.catalogue_names or range(count))[:count]
    vectors: list[Any] = [None] * count
    if signature.n_vector is not None:
        vectors = [_middle(shape, "vectors", signature.n_vector).tolist()] * count
    return ListQuery(
        ids=list(range(count)),
        rows=np.tile(_middle(shape, "features", signature.n_features), (count, 1)),
        sizes=[1.0] * count,
        catalogue=catalogue,
        vectors=vectors,
        groups=[some_group(shape.per_group)] * count,
        uses=[None] * count,
        length=length,
        context_features=None
        if signature.n_context is None
        else _middle(shape, "context", signature.n_context).tolist(),
        model=name,
    )


def _middle(shape: Shape, part: str, width: int) -> Floats32:
    ends = shape.ranges.get(part)
    return np.zeros(width, dtype=np.float32) if ends is None else (ends[0] / 2 + ends[1] / 2).astype(np.float32)
