"""The record of a served list: what it was built from, packed into bytes, so that it can be explained and learned from.

A record is one compressed message. Numbers are stored exactly where they take little space. Features of larger lists
are quantized to the finest grid that fits, evenly spaced between the smallest and the largest value of each column in
that list: 65,536, 256 or 128 levels. Learning always reads the stored values, so its result does not depend on when it
happens.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Ints
from listwright._internal.quotas import Quotas
from listwright.errors import InputError
from listwright.feedback.updates import TrainingUpdate
from listwright.problems import Problems
from listwright.serve.store.tables import Table, array_of, exact, precision, rounded

PARTS = ("features", "context", "sizes", "catalogue", "vectors")
QUOTAS = "quotas."  # precedes the names of the arrays of quotas
ROUNDED = ("features", "vectors")  # what may be rounded
SMALL = 3_000  # bytes of numbers that are stored exactly, whatever they are
COMPRESSION = 1
WHOLE, FIRST = 1_900, 1_480  # bytes of the longest record that is not cut, and of the first part of others


@dataclass(frozen=True, eq=False)
class Packed:
    """One list with the problem it was built from.

    Attributes
    ----------
    problem : Problems
        A single problem.
    ids : sequence of str or int
        Ids of all candidates.
    picks : ndarray of int
        Rows of the picked candidates, in order.
    scores : sequence of float or None
        Score of each pick.
    propensities : ndarray or None
        Probability with which each pick was drawn; None if unknown.
    budget : float or None
        Budget of the list.
    """

    problem: Problems
    ids: Sequence[str | int]  # of all candidates
    picks: Ints  # rows within the problem, in order
    scores: Sequence[float] | None
    propensities: Floats | None
    budget: float | None

    def record(self, list_id: str, gains: Any, *, earlier: Any = None) -> TrainingUpdate:
        """Return the list with its outcome in the form that a learner takes.

        Parameters
        ----------
        list_id : str
            Id of the list.
        gains : array-like
            Gain by position, as reported last.
        earlier : array-like, optional
            Outcome that was learned from before; the new outcome is the larger of both.
        """
        outcomes = gains if earlier is None else np.maximum(gains, earlier)
        return TrainingUpdate.of(
            list_id, self.problem, self.picks, self.propensities, outcomes, budget=self.budget, earlier=earlier
        )

    def items(self) -> list[dict[str, Any]]:
        """Return the items as in the answer: id, position from 1, score and propensity."""
        scores = [None] * len(self.picks) if self.scores is None else self.scores
        chances = [None] * len(self.picks) if self.propensities is None else self.propensities.tolist()
        rows = zip(self.picks.tolist(), scores, chances, strict=True)
        return [
            {"id": self.ids[row], "position": position, "score": score, "propensity": chance}
            for position, (row, score, chance) in enumerate(rows, start=1)
        ]


class Message(msgspec.Struct, array_like=True):
    """The stored form of a list, encoded as a MessagePack array."""

    ids: list[str | int]
    picks: bytes
    scores: bytes | None
    propensities: bytes | None  # empty: all 1
    budget: float | None
    tables: dict[str, Table]
    groups: list[str | int] | None = None  # of all candidates; records of version 0.1 have none


def pack(one: Packed, *, small: int = SMALL) -> bytes:
    """Pack a list into bytes."""
    arrays = {name: getattr(one.problem, name) for name in PARTS if getattr(one.problem, name) is not None}
    if one.problem.quotas is not None:
        arrays |= {QUOTAS + name: array for name, array in one.problem.quotas.arrays().items() if array.size}
    room = small - sum(array.nbytes for name, array in arrays.items() if name not in ROUNDED)
    total = sum(arrays[name].nbytes for name in ROUNDED if name in arrays)
    levels, dtype = precision(room, total)
    tables = {
        name: rounded(array, levels, dtype) if levels and name in ROUNDED else exact(array)
        for name, array in arrays.items()
    }
    message = Message(
        list(one.ids),
        one.picks.astype("<u2").tobytes(),
        None if one.scores is None else np.asarray(one.scores, dtype="<f8").tobytes(),
        _chances(one.propensities),
        one.budget,
        tables,
        None if one.problem.groups is None else one.problem.groups.tolist(),
    )
    return _compressor().compress(msgspec.msgpack.encode(message))


def _compressor() -> zstandard.ZstdCompressor:
    """Return the compressor of this thread; making one costs as much as compressing a list."""
    if not hasattr(_mine, "compressor"):
        _mine.compressor = zstandard.ZstdCompressor(level=COMPRESSION)
    found: zstandard.ZstdCompressor = _mine.compressor
    return found


_mine = threading.local()


def cut(record: bytes) -> tuple[bytes, bytes | None]:
    """Cut a record in two where it is long; None for a part that is not there."""
    return (record, None) if len(record) <= WHOLE else (record[:FIRST], record[FIRST:])


def whole(row: Any) -> bytes:
    """Return the record of a row of lists, whose parts `cut` made."""
    record: bytes = row.record
    return record if row.rest is None else record + row.rest


def _chances(propensities: Floats | None) -> bytes | None:
    """Encode propensities: None if unknown, no bytes if all are 1, else float64."""
    if propensities is None:
        return None
    return b"" if (propensities == 1.0).all() else propensities.astype("<f8").tobytes()


def unpack(data: bytes, *, names: tuple[str, ...] | None = None, ids: bool = True) -> Packed:
    """Restore a list from its bytes."""
    try:
        plain = zstandard.ZstdDecompressor().decompress(data)
        message = _decoder().decode(plain)
    except (zstandard.ZstdError, msgspec.MsgspecError):
        raise InputError("This list cannot be read: its record is damaged.") from None
    arrays = {name: array_of(table) for name, table in message.tables.items()}
    picks = np.frombuffer(message.picks, dtype="<u2").astype(np.int64)
    chances = _floats(message.propensities)
    if chances is not None and not len(chances):
        chances = np.ones(len(picks))
    scores = _floats(message.scores)
    problem = problem_from(arrays, names=names, ids=message.ids if ids else None, groups=message.groups)
    return Packed(problem, message.ids, picks, None if scores is None else scores.tolist(), chances, message.budget)


@cache
def _decoder() -> msgspec.msgpack.Decoder[Message]:
    """Return the decoder of messages; cached."""
    return msgspec.msgpack.Decoder(Message)


def _floats(data: bytes | None) -> Floats | None:
    """Return float64 values of bytes, None for None."""
    return None if data is None else np.frombuffer(data, dtype="<f8")


def problem_from(
    arrays: Mapping[str, NDArray[Any]],
    *,
    names: tuple[str, ...] | None = None,
    ids: Sequence[str | int] | None = None,
    groups: Sequence[str | int] | None = None,
) -> Problems:
    """Construct a single problem from its arrays."""
    parts: dict[str, Any] = {name: arrays[name] for name in PARTS[1:] if name in arrays}
    quotas = {name.removeprefix(QUOTAS): array for name, array in arrays.items() if name.startswith(QUOTAS)}
    if ids is not None:
        parts["item_ids"] = np.empty(len(ids), dtype=object)
        parts["item_ids"][:] = ids
    features = arrays["features"]
    found = Problems.from_arrays(features, offsets=[0, len(features)], feature_names=names, groups=groups, **parts)
    return found._with(quotas=replace(Quotas.free(len(features)), **quotas)) if quotas else found
