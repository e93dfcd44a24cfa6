"""A served list as it is stored: what it was built from, so that it can be explained and learned from later."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic_core import from_json
from safetensors.numpy import load, save

from listwright._internal.arrays import Floats, Ints
from listwright.feedback.records import Record
from listwright.problems import Problems

PARTS = ("features", "context", "sizes", "catalogue", "vectors")
TIME_DIGITS = 12  # of an id: milliseconds in hex


def new_id(now: float) -> str:
    """An id that nobody can guess and that sorts by time.

    >>> new_id(1.0)[:12], len(new_id(1.0))
    ('0000000003e8', 32)
    """
    return first_id(now)[:TIME_DIGITS] + secrets.token_hex(10)


def first_id(at: float) -> str:
    """The lowest id of that time."""
    return f"{int(at * 1000):0{TIME_DIGITS}x}" + "0" * (32 - TIME_DIGITS)


@dataclass(frozen=True, eq=False)
class Served:
    """One list with its problem."""

    id: str
    created: float
    version: int
    state: int
    answer: bytes  # JSON
    problem: bytes

    def row(self) -> dict[str, Any]:
        """As the table takes it."""
        return {
            "id": self.id,
            "created": self.created,
            "version": self.version,
            "state": self.state,
            "answer": self.answer.decode(),
            "problem": self.problem,
        }


def pack(
    problem: Problems, item_ids: list[Any], picks: Ints, propensities: Floats | None, budget: float | None
) -> bytes:
    """A problem of one list, its picks, their propensities and the budget as bytes."""
    arrays = {name: getattr(problem, name) for name in PARTS if getattr(problem, name) is not None}
    arrays["picks"] = picks.astype(np.int64)
    if propensities is not None:
        arrays["propensities"] = propensities.astype(np.float64)
    if budget is not None:
        arrays["budget"] = np.array([budget])
    return save(arrays, {"item_ids": json.dumps(item_ids)})


@dataclass(frozen=True, eq=False)
class Packed:
    """What `pack` packed."""

    problem: Problems
    picks: Ints
    propensities: Floats | None
    budget: float | None


def unpack(data: bytes, *, names: tuple[str, ...] | None = None, ids: bool = True) -> Packed:
    """The other way round; without `ids` in less time.

    >>> problem = Problems.from_arrays([[0.5], [0.1]], offsets=[0, 2])
    >>> unpack(pack(problem, ["a", "b"], np.array([1]), None, None)).problem.item_ids
    array(['a', 'b'], dtype=object)
    """
    arrays = load(data)
    parts: dict[str, Any] = {name: arrays[name] for name in PARTS[1:] if name in arrays}
    parts["item_ids"] = _objects(_item_ids(data)) if ids else None
    offsets = [0, len(arrays["features"])]
    problem = Problems.from_arrays(arrays["features"], offsets=offsets, feature_names=names, **parts)
    budget = float(arrays["budget"][0]) if "budget" in arrays else None
    return Packed(problem, arrays["picks"], arrays.get("propensities"), budget)


def as_record(list_id: str, problem: bytes, gains: str) -> Record:
    """A stored list with its feedback, as a learner takes it."""
    packed = unpack(problem, ids=False)
    return Record.of(list_id, packed.problem, packed.picks, packed.propensities, from_json(gains), room=packed.budget)


def now() -> float:
    """Seconds since 1970."""
    return time.time()


def _item_ids(data: bytes) -> list[Any]:
    """From the header of the safetensors format: its length in 8 bytes, then JSON."""
    size = int.from_bytes(data[:8], "little")
    return json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["item_ids"])


def _objects(values: list[Any]) -> Any:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found
