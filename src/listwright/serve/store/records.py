"""Served lists, feedback, and packed passages, as the service holds them and, compressed, as the store keeps them."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
import numpy as np
import zstandard
from sqlalchemy import Connection, Select, func, insert, select

from listwright._internal.arrays import Floats, Ints
from listwright._internal.intake import join_quotas
from listwright._internal.quotas import Quotas
from listwright.errors import InputError
from listwright.feedback.recommendations import Recommendations
from listwright.feedback.updates import TrainingUpdate
from listwright.problems import Problems
from listwright.serve.messages import Picked
from listwright.serve.store.database import intact
from listwright.serve.store.schema import PACKER, contexts, feedback, lists

QUOTAS = "quotas."  # precedes the names of the arrays of quotas
COMPRESSION = 1
WHOLE, FIRST = 1_900, 1_480  # bytes of the longest record that is not cut, and of the first part of others
CONTEXTS = 200  # that are read together
TIME_DIGITS = 12  # of a list's id: milliseconds in hex
USER_DIGITS = 8  # at its end: the same for all lists of a user, else random; they choose among versions


def new_id(created: float, user: str | None = None) -> str:
    """Return a list id, which sorts by time: milliseconds as 12 hex digits, then 12 random ones, then the user's."""
    drawn = secrets.token_hex(10)
    mine = drawn[-USER_DIGITS:] if user is None else sha256(user.encode()).hexdigest()[:USER_DIGITS]
    return f"{int(created * 1000):0{TIME_DIGITS}x}" + drawn[:-USER_DIGITS] + mine


def created_at(list_id: str) -> float:
    return int(list_id[:TIME_DIGITS], 16) / 1000.0


def first_id(created: float) -> str:
    """Return the lowest possible id of a time, for queries by age."""
    return f"{int(created * 1000):0{TIME_DIGITS}x}" + "0" * (32 - TIME_DIGITS)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of one list; `join` makes problems of them, for one request or for many at once."""

    ids: Sequence[str | int]
    # Tables as `Problems` has them: "features", and "context", "sizes", "catalogue" and "vectors" where there are some.
    arrays: dict[str, Any]
    groups: Sequence[str | int] | None = None
    quotas: Quotas | None = None
    item_names: Sequence[str] | None = None  # in the model's catalogue, where that has names
    catalogue_names: tuple[str, ...] | None = None  # the whole of it, while the list is built

    @property
    def n_rows(self) -> int:
        return len(self.ids)


def join(parts: Sequence[Candidates], names: tuple[str, ...] | None = None, *, item_ids: Any = None) -> Problems:
    """Return one problem for each of the parts, which have the same arrays; `names` are those of the features."""
    arrays = parts[0].arrays
    if len(parts) > 1:
        arrays = {name: np.concatenate([part.arrays[name] for part in parts]) for name in arrays}
    given: dict[str, Any] = {"item_ids": item_ids, "groups": _labels(parts), "feature_names": names}
    batch = Problems.from_arrays(offsets=np.cumsum([0, *map(len, [part.ids for part in parts])]), **arrays, **given)
    quotas, known = join_quotas(parts), parts[0].catalogue_names
    return batch if quotas is None and known is None else batch._with(quotas=quotas, catalogue_names=known)


def _labels(parts: Sequence[Candidates]) -> Any:
    """Return the groups of all candidates; those that have none are in one without a name."""
    if all(part.groups is None for part in parts):
        return None
    labels = np.empty(sum(part.n_rows for part in parts), dtype=object)
    labels[:] = [label for part in parts for label in (part.groups or [""] * part.n_rows)]
    return labels


@dataclass(frozen=True, eq=False)
class ServedList:
    """A list that was shown, with the candidates it was built from."""

    id: str  # 32 hex digits that sort by time
    created: float  # seconds since 1970
    version: int  # model version that built it
    state: int  # number of lists the version had learned from
    learn: bool  # whether it may be learned from; False if values were clipped
    metadata: str | None  # the caller's own JSON
    candidates: Candidates
    picks: Ints  # rows of the picked candidates, in order
    scores: Floats | None = None  # of each pick
    propensities: Floats | None = None  # with which each pick was drawn; None if unknown
    budget: float | None = None  # of the list

    @cached_property
    def items(self) -> list[str | int]:
        return [self.candidates.ids[row] for row in self.picks.tolist()]

    @cached_property
    def problem(self) -> Problems:
        return join([self.candidates])

    def answer_items(self) -> list[Picked]:
        scores = [None] * len(self.picks) if self.scores is None else self.scores.tolist()
        chances = [None] * len(self.picks) if self.propensities is None else self.propensities.tolist()
        return list(map(Picked, self.items, range(1, len(self.picks) + 1), scores, chances))

    def row(self) -> Sequence[Any]:
        record = self._pack()
        parts = (record, None) if len(record) <= WHOLE else (record[:FIRST], record[FIRST:])
        items, learn = len(self.picks), int(self.learn)
        return self.id, self.created, self.version, self.state, items, learn, *parts, self.metadata

    def _pack(self) -> bytes:
        candidates, arrays = self.candidates, self.candidates.arrays
        if candidates.quotas is not None:
            quotas = {QUOTAS + name: array for name, array in candidates.quotas.arrays().items() if array.size}
            arrays = arrays | quotas
        message = _Message(
            candidates.ids,
            self.picks.astype("<u2").tobytes(),
            None if self.scores is None else self.scores.astype("<f8").tobytes(),
            _encode_chances(self.propensities),
            self.budget,
            {name: _encode_array(array) for name, array in arrays.items()},
            candidates.groups,
            candidates.item_names,
        )
        return _compressor().compress(msgspec.msgpack.encode(message))

    @classmethod
    def read(cls, row: Any) -> ServedList:
        message = _unpack(row.record if row.rest is None else row.record + row.rest)
        picks = np.frombuffer(message.picks, dtype="<u2").astype(np.int64)
        chances = _floats(message.propensities)
        return cls(
            row.id,
            row.created,
            row.version,
            row.state,
            bool(row.learn),
            row.metadata,
            message.candidates(),
            picks,
            _floats(message.scores),
            np.ones(len(picks)) if chances is not None and not len(chances) else chances,
            message.budget,
        )


class ShownList(NamedTuple):
    """What feedback on a list is validated against."""

    version: int
    created: float
    items: Sequence[str | int]


class _Message(msgspec.Struct, array_like=True):
    """The stored form of a list, encoded as a MessagePack array."""

    ids: Sequence[str | int]
    picks: bytes
    scores: bytes | None
    propensities: bytes | None  # empty: all 1
    budget: float | None
    arrays: dict[str, tuple[str, tuple[int, ...], bytes]]  # dtype, shape and values
    groups: Sequence[str | int] | None  # of all candidates
    catalogue: Sequence[str] | None = None  # the same, where the model's catalogue has names

    def candidates(self) -> Candidates:
        arrays: dict[str, Any] = {  # which can be written to, or kernels would be compiled for them anew
            name: np.frombuffer(bytearray(data), dtype=dtype).reshape(shape)
            for name, (dtype, shape, data) in self.arrays.items()
        }
        named = [name for name in arrays if name.startswith(QUOTAS)]
        known = {name.removeprefix(QUOTAS): arrays.pop(name) for name in named}
        quotas = replace(Quotas.free(len(self.ids)), **known) if known else None
        return Candidates(self.ids, arrays, self.groups, quotas, self.catalogue)


DECODER = msgspec.msgpack.Decoder(_Message)


def _encode_array(array: Any) -> tuple[str, tuple[int, ...], bytes]:
    return array.dtype.str, array.shape, array.tobytes()


def _encode_chances(propensities: Floats | None) -> bytes | None:
    """Encode propensities: None if unknown, no bytes if all are 1, else float64."""
    if propensities is None:
        return None
    return b"" if (propensities == 1.0).all() else propensities.astype("<f8").tobytes()


def _floats(data: bytes | None) -> Floats | None:
    return None if data is None else np.frombuffer(data, dtype="<f8")


def _compressor() -> zstandard.ZstdCompressor:
    """Return the compressor of this thread; making one costs as much as compressing a list."""
    if not hasattr(_local, "compressor"):
        _local.compressor = zstandard.ZstdCompressor(level=COMPRESSION)
    compressor: zstandard.ZstdCompressor = _local.compressor
    return compressor


_local = threading.local()


def _unpack(record: bytes) -> _Message:
    try:
        return DECODER.decode(zstandard.ZstdDecompressor().decompress(record))
    except (zstandard.ZstdError, msgspec.MsgspecError):
        raise InputError("This list cannot be read: its record is damaged.") from None


@dataclass(frozen=True, eq=False)
class FeedbackEvent:
    """Feedback on a list: validated, numbered once it is stored, and joined with its list where it is learned from."""

    list_id: str
    key: str  # idempotency key
    gains: tuple[float, ...]  # of each item, in order
    version: int  # model version that built the list
    source: str = ""  # name of the API key that it came with
    list_created: float = 0.0  # when the list was built
    weight: float = 1.0  # in learning, so that no key decides alone
    number: int = 0  # given in commit order
    earlier: tuple[float, ...] | None = None  # the outcome of the list before
    duplicate: bool = False  # whether the same feedback was stored before
    row: Any = None  # of its list; None where that is deleted or may not be learned from

    @property
    def identity(self) -> tuple[str, str, str]:
        """What makes it the same as another: keys count for their list, and for the API key they came with."""
        return self.list_id, self.source, self.key

    @property
    def outcome(self) -> tuple[float, ...]:
        """The gain of each item by all feedback so far: the largest that was reported."""
        return larger(self.earlier, self.gains)

    @property
    def learnable(self) -> bool:
        return self.row is not None

    def update(self) -> TrainingUpdate:
        served = ServedList.read(self.row)
        update = TrainingUpdate.of(
            self.list_id,
            served.problem,
            served.picks,
            served.propensities,
            self.outcome,
            budget=served.budget,
            earlier=self.earlier,
        )
        return replace(update, weight=self.weight)

    def table_row(self) -> Sequence[Any]:
        earlier = None if self.earlier is None else msgspec.json.encode(self.earlier).decode()
        gains = msgspec.json.encode(self.gains).decode()
        origin = self.source, self.weight, self.version
        return self.number, self.list_id, self.key, *origin, time.time(), gains, earlier


def read_gains(stored: str) -> tuple[float, ...]:
    with intact("A feedback"):
        return tuple(msgspec.json.decode(stored, type=list[float]))


def outcome_of(gains: str, earlier: str | None) -> tuple[float, ...]:
    return larger(None if earlier is None else read_gains(earlier), read_gains(gains))


def larger(before: Sequence[float] | None, gains: Sequence[float]) -> tuple[float, ...]:
    """Return the elementwise maximum of two outcomes; the second alone if there was none before."""
    return tuple(gains) if before is None else tuple(max(pair) for pair in zip(before, gains, strict=True))


def is_failure(gains: Iterable[float]) -> bool:
    return not any(gain > 0 for gain in gains)


def with_feedback(*wanted: Any) -> Select[Any]:
    # The latest feedback row is enough, because its column `earlier` holds the largest gains of all feedback before it.
    last = select(feedback.c.list_id, func.max(feedback.c.event).label("event")).group_by(feedback.c.list_id).subquery()
    joined = lists.outerjoin(last, last.c.list_id == lists.c.id).outerjoin(feedback, feedback.c.event == last.c.event)
    return select(lists, feedback.c.gains, feedback.c.earlier).select_from(joined).where(*wanted)


def as_recommendations(
    rows: Sequence[Any], names: tuple[str, ...] | None, *, cascade: bool = False
) -> tuple[Recommendations, Floats]:
    served = [ServedList.read(row) for row in rows]
    problems = _concatenate(served, names)
    shape = len(rows), max(1, max(len(shown.picks) for shown in served))
    picks, chances, gains = np.full(shape, -1), np.full(shape, np.nan), np.full(shape, np.nan)
    for i, (row, shown) in enumerate(zip(rows, served, strict=True)):
        n = len(shown.picks)
        picks[i, :n] = shown.picks + problems.offsets[i]
        chances[i, :n] = np.nan if shown.propensities is None else shown.propensities
        seen = _revealed_gains(row, cascade)
        gains[i, : len(seen)] = seen
    ids = tuple(row.id for row in rows)
    budgets = np.array([np.inf if shown.budget is None else shown.budget for shown in served])
    recommendations = Recommendations(
        problems,
        picks,
        list_ids=ids,
        propensities=chances,
        version=rows[0].version,
        budgets=budgets if np.isfinite(budgets).any() else None,
    )
    return recommendations, gains


def _concatenate(served: list[ServedList], names: tuple[str, ...] | None) -> Problems:
    parts = [shown.candidates for shown in served]
    if any("sizes" in part.arrays for part in parts):  # those of lists without a budget do not matter
        parts = [replace(part, arrays={"sizes": np.ones(part.n_rows)} | part.arrays) for part in parts]
    batch = join(parts, names, item_ids=[str(item) for part in parts for item in part.ids])
    if all(part.item_names is not None for part in parts):  # numbers of new items differ from list to list
        labels = [name for part in parts for name in part.item_names or ()]
        number = {name: i for i, name in enumerate(dict.fromkeys(labels))}
        batch = batch._with(catalogue=np.array([number[name] for name in labels]), catalogue_names=tuple(number))
    return batch._with(problem_ids=np.array([shown.id for shown in served]))


def _revealed_gains(row: Any, cascade: bool) -> Sequence[float]:
    if row.gains is None:
        return ()
    gains = outcome_of(row.gains, row.earlier)
    stop = next((at for at, gain in enumerate(gains, start=1) if gain > 0), len(gains)) if cascade else len(gains)
    return gains[:stop]


@dataclass(frozen=True, eq=False)
class PackedContext:
    """A question, its passages, and which of them the answer held."""

    asked: dict[str, Any]  # the question, the passages and what is known of them, as `ContextPacker.fit` reads them
    shown: list[int]  # positions of the passages, best first
    created: float = field(default_factory=time.time)
    id: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", new_id(self.created))

    def shown_items(self) -> ShownList:
        return ShownList(PACKER, self.created, self.shown)


def add_contexts(connection: Connection, packed: Sequence[PackedContext]) -> list[None]:
    """Store contexts; waits for no other replica."""
    compress, rows = zstandard.ZstdCompressor().compress, []
    for context in packed:
        shown, record = msgspec.json.encode(context.shown).decode(), compress(msgspec.msgpack.encode(context.asked))
        rows.append({"id": context.id, "created": context.created, "shown": shown, "record": record})
    connection.execute(insert(contexts), rows)
    return [None] * len(packed)


def find_context(connection: Connection, context_id: str) -> ShownList | None:
    row = connection.execute(select(contexts).where(contexts.c.id == context_id)).first()
    return None if row is None else ShownList(PACKER, row.created, msgspec.json.decode(row.shown))


def answered_contexts(connection: Connection) -> Iterator[dict[str, Any]]:
    """Read the contexts with feedback, the oldest first, as records that `ContextPacker.fit` reads."""
    joined = contexts.join(feedback, feedback.c.list_id == contexts.c.id)
    columns = (contexts, feedback.c.gains, feedback.c.earlier)
    wanted = select(*columns).select_from(joined).order_by(contexts.c.id, feedback.c.event)
    latest: Any = None  # the last feedback knows the gains of those before it
    for row in connection.execution_options(yield_per=CONTEXTS).execute(wanted):
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
