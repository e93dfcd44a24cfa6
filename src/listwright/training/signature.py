"""Which kind of problems a model was trained on, and a trial of models from files on made-up problems of that kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats32, Ints
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features import Features, Rows
from listwright.learners import Learner
from listwright.learners.examples import Examples
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.query_terms import QueryTerms
from listwright.tables import Scan
from listwright.walk.constraints import check_problems


@saved_as("Span")
@dataclass(frozen=True, eq=False)
class Span:
    low: Floats32  # the smallest and largest value of each column
    high: Floats32

    def validation_error(self) -> str:
        if self.low.ndim != 1 or self.low.shape != self.high.shape:
            return "the ends of ranges must be equal in number"
        ends = np.stack([self.low, self.high])
        right = np.isfinite(ends).all() and (ends[0] <= ends[1]).all()
        return "" if right else "ranges must be finite, from low to high"

    @classmethod
    def of(cls, table: Any) -> Self:
        if not table.shape[0]:
            zeros = np.zeros(table.shape[1], dtype=np.float32)
            return cls(zeros, zeros)
        ends = (table.min(axis=0), table.max(axis=0))
        low, high = (np.asarray(end.toarray() if sparse.issparse(end) else end, dtype=np.float32) for end in ends)
        return cls(low.reshape(-1), high.reshape(-1))

    def merge(self, other: Self) -> Self:
        return type(self)(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def limits(self, tolerance: float) -> tuple[Floats32, Floats32]:
        low, high = self.low.astype(np.float64), self.high.astype(np.float64)
        width = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
        most = float(np.finfo(np.float32).max)
        ends = (np.clip(end, -most, most) for end in (low - tolerance * width, high + tolerance * width))
        lowest, highest = (end.astype(np.float32) for end in ends)
        return lowest, highest


@saved_as("Ranges")
@dataclass(frozen=True, eq=False)
class Ranges:
    """Saved with a model, so that its users can detect input that is unlike the training data."""

    features: Span  # ranges of the features
    context: Span | None = None  # ranges of the context and of the vectors
    vectors: Span | None = None

    @classmethod
    def of(cls, problems: Problems) -> Self:
        return cls(
            Span.of(problems.features),
            None if problems.context is None else Span.of(problems.context),
            None if problems.vectors is None else Span.of(problems.vectors),
        )

    def merge(self, other: Self) -> Self:
        pairs = (self.context, other.context), (self.vectors, other.vectors)
        context, vectors = (None if first is None or two is None else first.merge(two) for first, two in pairs)
        return type(self)(self.features.merge(other.features), context, vectors)


MOST = 1 << 24  # most columns and items that a model may have


@saved_as("Signature")
@dataclass(frozen=True)
class Signature:
    n_features: int  # number of feature columns
    feature_names: tuple[str, ...] | None  # their names
    # number of context columns, catalogue items and vector columns; None if the problems had none
    n_context: int | None
    n_items: int | None
    n_vector: int | None
    links: tuple[str, ...] | None = None  # the names of links and aspects
    aspects: tuple[str, ...] | None = None
    query_terms: bool = False  # whether the problems had query terms
    # the range of each column; None in files of versions that did not record them
    ranges: Ranges | None = field(default=None, compare=False)
    catalogue_names: tuple[str, ...] | None = field(default=None, compare=False)  # of the items, where a table had them

    def validation_error(self) -> str:
        numbers = (self.n_features, self.n_context, self.n_items, self.n_vector)
        if any(number is not None and not 0 <= number <= MOST for number in numbers):
            return "numbers of columns are out of range"
        named = self.feature_names
        return "" if named is None or len(named) == self.n_features else "there must be one name per feature"

    @classmethod
    def of(cls, problems: Problems) -> Signature:
        return replace(cls._kind(problems), ranges=Ranges.of(problems))

    def merge(self, other: Signature) -> Signature:
        """Return the signature of the problems of both: the larger catalogue and the wider ranges."""
        items = None if self.n_items is None or other.n_items is None else max(self.n_items, other.n_items)
        known = self.ranges is not None and other.ranges is not None
        return replace(self, n_items=items, ranges=self.ranges.merge(other.ranges) if known else None)  # type: ignore[union-attr, arg-type]

    @classmethod
    def _kind(cls, problems: Problems) -> Signature:
        """Return the signature without ranges, which need a pass over the data."""
        return cls(
            problems.n_features,
            problems.feature_names,
            None if problems.context is None else problems.context.shape[1],
            None if problems.catalogue is None else problems.n_items,
            None if problems.vectors is None else problems.vectors.shape[1],
            None if problems.links is None else tuple(sorted(problems.links)),
            None if problems.aspects is None else tuple(sorted(problems.aspects)),
            problems.query_terms is not None,
            catalogue_names=problems.catalogue_names,
        )

    def check(self, problems: Problems, purpose: str) -> None:
        check_problems(problems)
        other = Signature._kind(problems)
        self._check_names(other, purpose)
        if other.n_features != self.n_features:
            raise InputError(f"{purpose}: the model was trained on {self.n_features} features. Got {other.n_features}.")
        for what, mine, theirs in (
            ("context columns", self.n_context, other.n_context),
            ("vector columns", self.n_vector, other.n_vector),
        ):
            if mine != theirs:
                raise InputError(f"{purpose}: the model has {mine or 'no'} {what}. Got {theirs or 'none'}.")
        for what in ("links", "aspects"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                known, given = (", ".join(names or ["none"]) for names in (mine, theirs))
                raise InputError(f"{purpose}: the model was trained with {what} {known}. Got {given}.")
        if self.query_terms and not other.query_terms:
            raise InputError(f"{purpose}: the model was trained on problems with query terms. These have none.")
        if self.n_items is not None and other.n_items is None:
            raise InputError(f"{purpose}: the model was trained with a catalogue of {self.n_items}. Got none.")
        if self.n_items is not None and other.n_items is not None and other.n_items > self.n_items:
            raise InputError(
                f"{purpose}: catalogue item {other.n_items - 1} is new; the model was trained on items 0 to "
                f"{self.n_items - 1}. Fit again with the whole catalogue."
            )

    def _check_names(self, other: Signature, purpose: str) -> None:
        if self.feature_names is None or other.feature_names in (None, self.feature_names):
            return
        assert other.feature_names is not None
        missing = [name for name in self.feature_names if name not in other.feature_names]
        extra = [name for name in other.feature_names if name not in self.feature_names]
        parts = [f"missing: {', '.join(missing)}"] if missing else []
        parts += [f"not known: {', '.join(extra)}"] if extra else []
        detail = "; ".join(parts) or "they come in a different order"
        raise InputError(f"{purpose}: the features are not those that the model was trained on ({detail}).")


@dataclass(frozen=True)
class OfKnownKind:
    check: Callable[[Problems], None]  # raises `InputError` for problems that cannot be learned from
    signature: Signature  # the kind of the training problems

    def __call__(self, problems: Problems) -> None:
        self.check(problems)
        self.signature.check(problems, "partial_fit")


def fingerprint(problems: Problems) -> str:
    """Return a hash of the problems' data and reward, to tell whether the same problems come again."""
    seen = blake2b(digest_size=8)
    data = (problems.features, problems.offsets, problems.context, problems.catalogue, problems.sizes)
    for value in (*data, *getattr(problems.reward, "__dict__", {}).values()):
        for array in _arrays(value):
            seen.update(np.ascontiguousarray(array).data)
    if not problems.numbered:
        seen.update("\0".join(map(str, problems.problem_ids.tolist())).encode())
    return seen.hexdigest()


def _arrays(value: Any) -> tuple[Any, ...]:
    if sparse.issparse(value):
        return value.data, value.indices, value.indptr
    return (value,) if isinstance(value, np.ndarray) and value.size and value.dtype.kind in "biuf" else ()


def with_catalogue(problems: Problems | Scan) -> Problems:
    if isinstance(problems, Scan):
        raise InputError("Context-free lists are learned and built in memory. Pass scan.sample(), or read the files.")
    if not isinstance(problems, Problems) or problems.catalogue is not None:
        return problems  # later checks refuse anything that is not Problems
    if (problems.counts != problems.counts[0]).any():
        way = "Name a frame's column with catalogue=, or pass catalogue= to Problems.from_arrays."
        raise InputError(f"Context-free lists need a catalogue. {way}")
    return problems.with_catalogue(np.arange(problems.n_rows) - problems.offsets[problems.owners])


def rows_of_items(problems: Problems, items: Ints) -> Ints:
    assert problems.catalogue is not None
    where = np.full((len(problems), max(problems.n_items, int(items.max(initial=0)) + 1)), -1)
    where[problems.owners, problems.catalogue] = np.arange(problems.n_rows)
    rows = where[:, items]
    return np.take_along_axis(rows, np.argsort(rows < 0, axis=1, kind="stable"), axis=1)


LARGEST = 50_000_000  # entries of the made-up features


def try_loaded(model: Any, features: Any, policy: Any, own: Iterable[Any], parts: Iterable[Any]) -> None:
    """Build a list with the model and with each of its policies, and lets copies of its learners learn from it."""

    def rest(problems: Problems) -> None:
        model.try_out(problems)
        rows = features.rows(features.start(problems))
        for part in own:
            _try_part(part, rows)

    if hasattr(model, "signature_") and not (isinstance(policy, Policy) and isinstance(features, Features)):
        raise InputError("it has no policy")
    try_predicting(model, whole=_needs_all(parts), rest=rest)


def try_predicting(model: Any, *, whole: bool = True, rest: Callable[[Problems], None] = lambda problems: None) -> None:
    """Build a list of a made-up problem, and do the rest with it; whatever fails means that parts do not fit."""
    signature = getattr(model, "signature_", None)
    if not isinstance(signature, Signature):
        raise InputError("it was never fitted")
    try:
        problems = made_up(signature, whole=whole, group=some_group(getattr(model, "per_group", None)))
        model.predict(problems, length=1)
        _check_ranges(signature)
        rest(problems)
    except Exception as error:  # noqa: BLE001 - as the docstring says
        raise InputError(f"its parts do not fit together ({type(error).__name__}: {error!s:.120})") from None


def made_up(signature: Signature, *, whole: bool, group: Any = 0) -> Problems:
    """Return one problem of the kind that the model was trained on: zeros everywhere, and one group."""
    items = signature.n_items
    count = 2 if items is None else items if whole else min(2, items)
    widths = signature.n_features, signature.n_context or 0, signature.n_vector or 0
    if count * sum(widths) > LARGEST:
        raise InputError(f"{count} candidates of {sum(widths)} columns are too many")
    return Problems.from_arrays(
        np.zeros((count, signature.n_features), dtype=np.float32),
        offsets=[0, count],
        context=None if signature.n_context is None else np.zeros((1, signature.n_context)),
        catalogue=None if items is None else np.arange(count),
        feature_names=signature.feature_names,
        vectors=None if signature.n_vector is None else np.zeros((count, signature.n_vector)),
        links=None if signature.links is None else {name: np.zeros((count, count)) for name in signature.links},
        aspects=None if signature.aspects is None else {name: np.zeros((count, 1)) for name in signature.aspects},
        query_terms=QueryTerms.from_lists([[]], [[]] * count) if signature.query_terms else None,
        groups=[group] * count,
    )


def some_group(per_group: Any) -> Any:
    """Return a label that a limit on groups names, or any where it is the same for all."""
    return next(iter(per_group), 0) if isinstance(per_group, Mapping) else 0


def _check_ranges(signature: Signature) -> None:
    ranges = signature.ranges
    if ranges is None:
        return
    widths = signature.n_features, signature.n_context, signature.n_vector
    for span, width in zip((ranges.features, ranges.context, ranges.vectors), widths, strict=True):
        if (None if span is None else len(span.low)) != width:
            raise InputError("there must be one range per column")


def _needs_all(parts: Iterable[Any]) -> bool:
    crosses = [getattr(part, "cross", ()) for part in parts]
    return any("candidates" in cross for cross in crosses) or any(hasattr(part, "outcomes_") for part in parts)


def _try_part(part: Any, rows: Rows) -> None:
    rng = np.random.default_rng(0)
    options = np.ones(len(rows.owners), dtype=bool)
    if isinstance(part, Policy):
        part.drawn(1, rng).pick(rows, options, 0, rng)
    elif isinstance(part, Learner):
        gains, zero = np.linspace(0.0, 1.0, len(options)), np.zeros(1, dtype=np.int64)
        part.try_out(Examples(rows, gains, 1.0, 0, options, picks=zero, learned=np.ones(1, dtype=bool), folds=zero))
