"""Compiles kernels before requests arrive, because compilation would block them for seconds."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np
from msgspec import Raw

from listwright._internal.arrays import Floats32
from listwright.serve.learning.learner import Learner
from listwright.serve.learning.states import Event
from listwright.serve.models.building import build
from listwright.serve.models.fleet import ModelRegistry
from listwright.serve.models.intake import Shape
from listwright.serve.models.opened import Version
from listwright.serve.models.requests import Asked
from listwright.serve.refusals import Refused
from listwright.serve.settings import Settings
from listwright.training.loaded import some_group

CANDIDATES = 4
log = logging.getLogger("listwright.serve")


def warm_up(version: Version, fleet: ModelRegistry, settings: Settings) -> None:
    """Build a made-up list and learn from it, so that all kernels of a version are compiled."""
    asked = _made_up(version.shape, version.name)
    try:
        build(asked, fleet, replace(settings, list_bytes=0), by=version)
        version.cost.forget()
        built = build(asked, fleet, settings, by=version)
    except Refused as refused:
        log.warning("version %d cannot build a list yet", version.number, extra={"cause": refused.message})
        return
    if version.explores and version.deployed is not None and built.items:
        gains = [0.0] * len(built.items)
        event = Event(1, built.served.id, built.served.record, gains, None, learn=True)
        Learner(version.number, fleet.opening.learner(version.model), 0, 0).apply([event])


def _made_up(shape: Shape, name: str) -> Asked:
    """Return a request that fits a model, with values from the middle of the trained ranges."""
    signature = shape.signature
    catalogue: list[Any] = [None] * CANDIDATES
    if signature.n_items is not None:
        catalogue = [i % max(1, signature.n_items) for i in range(CANDIDATES)]
    middle = _middle(shape, "features", signature.n_features)
    vectors: list[Any] = [None] * CANDIDATES
    if signature.n_vector is not None:
        vectors = [_middle(shape, "vectors", signature.n_vector).tolist()] * CANDIDATES
    context = None if signature.n_context is None else _middle(shape, "context", signature.n_context).tolist()
    return Asked(
        ids=list(range(CANDIDATES)),
        rows=np.tile(middle, (CANDIDATES, 1)),
        sizes=[1.0] * CANDIDATES,
        catalogue=catalogue,
        vectors=vectors,
        length=2,
        budget=None,
        context_features=context,
        context=Raw(),
        explain=False,
        model=name,
        groups=[some_group(shape.per_group)] * CANDIDATES,
        per_group=None,
    )


def _middle(shape: Shape, part: str, width: int) -> Floats32:
    """Return the middle of the ranges of a part's columns; zeros where there are none."""
    ends = shape.ranges.get(part)
    return np.zeros(width, dtype=np.float32) if ends is None else (ends[0] / 2 + ends[1] / 2).astype(np.float32)
