"""A served list and feedback on it, and questions with their passages, as the service holds them and as the store keeps
them: compressed, with numbers exactly as they were, so that they can be explained and learned from later.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

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
from listwright.serve.store.schema import PACKER, contexts, feedback, lists

PARTS = ("context", "sizes", "catalogue", "vectors")  # of a problem, beside its features
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
    return first_id(created)[:TIME_DIGITS] + drawn[:-USER_DIGITS] + mine


def created_at(list_id: str) -> float:
    return int(list_id[:TIME_DIGITS], 16) / 1000.0


def first_id(created: float) -> str:
    """Return the lowest possible id of a time, for queries by age."""
    return f"{int(created * 1000):0{TIME_DIGITS}x}" + "0" * (32 - TIME_DIGITS)


@dataclass(frozen=True, eq=False)
class ServedList:
    """A list that was shown, with the problem it was built from."""

    id: str  # 32 hex digits that sort by time
    created: float  # seconds since 1970
    version: int  # model version that built it
    state: int  # number of lists the version had learned from
    learn: bool  # whether it may be learned from; False if values were clipped
    metadata: str | None  # the caller's own JSON
    problem: Problems | None  # one problem; None for a list of which only the items are kept
    ids: Sequence[str | int]  # of all candidates
    picks: Ints  # rows of the picked candidates, in order
    scores: Floats | None = None  # of each pick
    propensities: Floats | None = None  # with which each pick was drawn; None if unknown
    budget: float | None = None  # of the list
    item_names: Sequence[str] | None = None  # of all candidates, in the model's catalogue, where that has names

    @property
    def items(self) -> list[str | int]:
        return [self.ids[row] for row in self.picks.tolist()]

    def answer_items(self) -> list[Picked]:
        scores = [None] * len(self.picks) if self.scores is None else self.scores.tolist()
        chances = [None] * len(self.picks) if self.propensities is None else self.propensities.tolist()
        rows = zip(self.items, scores, chances, strict=True)
        return [Picked(item, position, score, chance) for position, (item, score, chance) in enumerate(rows, start=1)]

    def without_candidates(self) -> ServedList:
        """Return the list with nothing but its items, which is what feedback is validated against."""
        items = self.items
        return ServedList(
            self.id, self.created, self.version, self.state, self.learn, None, None, items, np.arange(len(items))
        )

    def row(self) -> Sequence[Any]:
        record = self._pack()
        parts = (record, None) if len(record) <= WHOLE else (record[:FIRST], record[FIRST:])
        items, learn = len(self.picks), int(self.learn)
        return self.id, self.created, self.version, self.state, items, learn, *parts, self.metadata

    def _pack(self) -> bytes:
        assert self.problem is not None
        problem, names = self.problem, self.problem.catalogue_names
        arrays = {name: array for name in PARTS if (array := getattr(problem, name)) is not None}
        if problem.quotas is not None:
            arrays |= {QUOTAS + name: array for name, array in problem.quotas.arrays().items() if array.size}
        message = _Message(
            list(self.ids),
            self.picks.astype("<u2").tobytes(),
            None if self.scores is None else self.scores.astype("<f8").tobytes(),
            _encode_chances(self.propensities),
            self.budget,
            {name: _encode_array(array) for name, array in ({"features": problem.features} | arrays).items()},
            None if problem.groups is None else problem.groups.tolist(),
            None if names is None or problem.catalogue is None else [names[code] for code in problem.catalogue],
        )
        return _compressor().compress(msgspec.msgpack.encode(message))

    @classmethod
    def read(cls, row: Any, *, names: tuple[str, ...] | None = None, ids: bool = False) -> ServedList:
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
            message.problem(names, ids=ids),
            message.ids,
            picks,
            _floats(message.scores),
            np.ones(len(picks)) if chances is not None and not len(chances) else chances,
            message.budget,
            message.catalogue,
        )


class _Message(msgspec.Struct, array_like=True):
    """The stored form of a list, encoded as a MessagePack array."""

    ids: list[str | int]
    picks: bytes
    scores: bytes | None
    propensities: bytes | None  # empty: all 1
    budget: float | None
    arrays: dict[str, tuple[str, tuple[int, ...], bytes]]  # dtype, shape and values
    groups: list[str | int] | None  # of all candidates
    catalogue: list[str] | None = None  # the same, where the model's catalogue has names

    def problem(self, names: tuple[str, ...] | None, *, ids: bool) -> Problems:
        arrays: dict[str, Any] = {
            name: np.frombuffer(data, dtype=dtype).reshape(shape) for name, (dtype, shape, data) in self.arrays.items()
        }
        features = arrays.pop("features")
        named = [name for name in arrays if name.startswith(QUOTAS)]
        quotas = {name.removeprefix(QUOTAS): arrays.pop(name).copy() for name in named}  # which kernels may write to
        if ids:
            arrays["item_ids"] = np.empty(len(self.ids), dtype=object)
            arrays["item_ids"][:] = self.ids
        problem = Problems.from_arrays(
            features, offsets=[0, len(features)], feature_names=names, groups=self.groups, **arrays
        )
        return problem._with(quotas=replace(Quotas.free(len(features)), **quotas)) if quotas else problem


DECODER = msgspec.msgpack.Decoder(_Message)


def _encode_array(array: Any) -> tuple[str, tuple[int, ...], bytes]:
    return array.dtype.newbyteorder("<").str, array.shape, np.ascontiguousarray(array).tobytes()


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
    def outcome(self) -> tuple[float, ...]:
        """The gain of each item by all feedback so far: the largest that was reported."""
        return larger(self.earlier, self.gains)

    @property
    def learnable(self) -> bool:
        return self.row is not None

    def update(self) -> TrainingUpdate:
        served = ServedList.read(self.row)
        assert served.problem is not None
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


def outcome_of(gains: str, earlier: str | None) -> tuple[float, ...]:
    return larger(None if earlier is None else msgspec.json.decode(earlier), msgspec.json.decode(gains))


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
    problems = [shown.problem for shown in served if shown.problem is not None]
    if any(problem.sizes is not None for problem in problems):  # those of lists without a budget do not matter
        problems = [part if part.sizes is not None else part._with(sizes=np.ones(part.n_rows)) for part in problems]
    parts: dict[str, Any] = {
        name: np.concatenate([getattr(problem, name) for problem in problems])
        for name in PARTS
        if getattr(problems[0], name) is not None
    }
    batch = Problems.from_arrays(
        np.concatenate([problem.features for problem in problems]),
        offsets=np.concatenate([[0], np.cumsum([problem.n_rows for problem in problems])]),
        item_ids=[str(item) for shown in served for item in shown.ids],
        feature_names=names,
        **parts,
    )
    if all(shown.item_names is not None for shown in served):  # numbers of new items differ from list to list
        labels = [name for shown in served for name in shown.item_names or ()]
        number = {name: i for i, name in enumerate(dict.fromkeys(labels))}
        batch = batch._with(catalogue=np.array([number[name] for name in labels]), catalogue_names=tuple(number))
    return batch._with(problem_ids=np.array([shown.id for shown in served]), **_groups(problems))


def _groups(problems: list[Problems]) -> dict[str, Any]:
    joined: dict[str, Any] = {"quotas": join_quotas(problems)}
    if any(problem.groups is not None for problem in problems):
        labels = [np.full(part.n_rows, "") if part.groups is None else part.groups.astype(object) for part in problems]
        joined["groups"] = np.concatenate(labels).astype(object)
    return joined


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

    def as_list(self) -> ServedList:
        return _as_list(self.id, self.created, self.shown)


def _as_list(context_id: str, created: float, shown: list[int]) -> ServedList:
    return ServedList(context_id, created, PACKER, 0, False, None, None, shown, np.arange(len(shown)))


def add_contexts(connection: Connection, packed: Sequence[PackedContext]) -> list[None]:
    """Store contexts; waits for no other replica."""
    compress, rows = zstandard.ZstdCompressor().compress, []
    for context in packed:
        shown, record = msgspec.json.encode(context.shown).decode(), compress(msgspec.msgpack.encode(context.asked))
        rows.append({"id": context.id, "created": context.created, "shown": shown, "record": record})
    connection.execute(insert(contexts), rows)
    return [None] * len(packed)


def find_context(connection: Connection, context_id: str) -> ServedList | None:
    row = connection.execute(select(contexts).where(contexts.c.id == context_id)).first()
    return None if row is None else _as_list(row.id, row.created, msgspec.json.decode(row.shown))


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
