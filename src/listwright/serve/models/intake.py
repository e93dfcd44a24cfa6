"""Conversion of requests to problems, with errors that name the field at fault; callers send categories by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.quotas import Quotas
from listwright.errors import InputError
from listwright.serve.messages import ListQuery, as_table
from listwright.serve.refusals import Refused, invalid
from listwright.serve.settings import Limits
from listwright.serve.store.records import Candidates, join
from listwright.training.signature import Signature, Span

Ends = tuple[Floats32, Floats32]
Levels = Mapping[str, Sequence[str]]  # of each categorical column


@dataclass(frozen=True, eq=False)
class Shape:
    """What the requests to a model must look like."""

    signature: Signature  # number and names of features, context columns, vectors and catalogue items
    context_names: tuple[str, ...] | None  # names of the context columns
    ranges: Mapping[str, Ends]  # by part of a problem: the least and the most that is taken as it is
    refuse: bool  # what is out of range, in place of clipping it
    per_group: Any = None  # of the model: how many items of a group its lists hold
    # levels of each categorical column of the frame that the model was fitted on
    levels: Levels = field(default_factory=dict)
    new_items: bool = False  # whether items may be new to the catalogue

    @cached_property
    def item_numbers(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.signature.catalogue_names or ())}

    @cached_property
    def named_by_numbers(self) -> bool:
        return any(name.lstrip("-").isdigit() for name in self.item_numbers)

    @classmethod
    def of(cls, model: Any, *, tolerance: float = 1.0, refuse: bool = False) -> Shape:
        signature, columns = model.signature_, getattr(model, "columns_", None)
        parts = ("features", "context", "vectors")
        spans: dict[str, Span | None] = {name: getattr(signature.ranges, name, None) for name in parts}
        ranges = {name: span.limits(tolerance) for name, span in spans.items() if span is not None}
        names = None if columns is None else columns.context_names
        levels = {} if columns is None else columns.levels
        return cls(
            signature,
            names,
            ranges,
            refuse,
            getattr(model, "per_group", None),
            levels,
            getattr(model, "new_items", False),
        )


@dataclass(frozen=True, eq=False)
class Taken:
    """A request as candidates, and how many of its numbers were clipped to the trained range."""

    candidates: Candidates
    clipped: int
    new_items: int = 0  # items that the model's catalogue does not know: they are shown, but not learned from here


def take(query: ListQuery, shape: Shape, limits: Limits, at: str = "") -> Taken:
    _check_counts(query, limits, at)
    _check_ids(query.ids, at)
    signature, reading = shape.signature, _Reading(shape, at)
    codes, items = _catalogue(query.catalogue, shape, at)
    levels = _levels(query, shape.per_group, at)
    arrays = {
        "features": reading.table(
            "features", query.rows, signature.n_features, signature.feature_names, "items.{}.features"
        ),
        "context": reading.context(query),
        "sizes": _sizes(query, at),
        "catalogue": codes,
        "vectors": reading.vectors(query.vectors),
    }
    candidates = Candidates(
        query.ids,
        {name: array for name, array in arrays.items() if array is not None},
        levels[-1] if levels else None,
        item_names=None if items is None or codes is None else [items[code] for code in codes.tolist()],
        catalogue_names=items,
    )
    try:
        quotas = _quotas(query, candidates, levels, shape.per_group, at)
    except InputError as error:  # what only the whole of it shows
        raise invalid(f"{at}items", str(error)) from None
    candidates = candidates if quotas is None else replace(candidates, quotas=quotas)
    return Taken(candidates, reading.clipped, 0 if items is None else len(items) - (signature.n_items or 0))


def _quotas(query: ListQuery, candidates: Candidates, levels: list[Any], usual: Any, at: str) -> Quotas | None:
    """Return the constraints on the list beside its length and budget; None where there are none."""
    for item in set(query.pinned or ()) & set(query.blocked or ()):
        raise invalid(f"{at}blocked", f"The item {item} cannot be pinned and blocked at once.")
    asked = {
        "per_group": _per_group(query, levels, usual, at),
        "pin": _rows_of(query.pinned, query.ids, f"{at}pinned"),
        "exclude": _rows_of(query.blocked, query.ids, f"{at}blocked"),
        "budgets": budgets_of(query.budgets, query.uses, f"{at}items"),
    }
    if all(part is None for part in asked.values()):
        return None
    labels = [np.array(level, dtype=object) for level in levels] or None
    return join([candidates]).with_constraints(groups=labels, **asked).quotas


def _rows_of(wanted: Sequence[str | int] | None, ids: Sequence[str | int], field: str) -> list[int] | None:
    if not wanted:
        return None
    places = {item: row for row, item in enumerate(ids)}
    for i, item in enumerate(wanted):
        if item not in places:
            raise invalid(f"{field}.{i}", "This id is not among the items.")
    return [places[item] for item in wanted]


def budgets_of(
    budgets: Mapping[str, float] | None, uses: Sequence[Mapping[str, float] | None], field: str
) -> list[tuple[list[float], float]] | None:
    """Return what each item uses of each further budget, and how much there is."""
    for i, used in enumerate(uses if budgets else ()):
        missing = next((name for name in budgets or () if name not in (used or {})), None)
        if missing is not None:
            raise invalid(f"{field}.{i}.uses.{missing}", "A budget needs what every item uses of it.")
    return [([used[name] for used in uses if used], limit) for name, limit in budgets.items()] if budgets else None


class _Reading:
    """Reads the numeric tables of one request and counts the values that had to be clipped."""

    def __init__(self, shape: Shape, at: str) -> None:
        self.shape, self.at, self.clipped = shape, at, 0

    def table(self, part: str, rows: Any, width: int, names: tuple[str, ...] | None, place: str) -> Floats32:
        # A table of the right width is taken as it is; otherwise each row is brought to the order of the model's
        # columns first.
        if not isinstance(rows, np.ndarray) or rows.shape[1] != width:
            rows = [_row(row, width, names, self.shape.levels, self.at + place.format(i)) for i, row in enumerate(rows)]

        def name(i: int, j: int) -> str:
            return f"{self.at}{place.format(i)}.{names[j] if names else j}"

        table = rows if isinstance(rows, np.ndarray) else as_table(rows, width)
        ends = self.shape.ranges.get(part)
        if ends is not None and bool(((table >= ends[0]) & (table <= ends[1])).all()):
            return table
        if not np.isfinite(table).all():
            raise invalid(name(*np.argwhere(~np.isfinite(table))[0]), "This must be finite in float32.")
        return table if ends is None else self._within(table, *ends, name)

    def context(self, query: ListQuery) -> Floats32 | None:
        width, given = self.shape.signature.n_context, query.context_features
        if width is None:
            if given is not None:
                raise invalid(f"{self.at}context_features", "The model has no context columns.")
            return None
        if given is None:
            raise invalid(f"{self.at}context_features", f"The model needs {width} context columns.")
        return self.table("context", [given], width, self.shape.context_names, "context_features")

    def vectors(self, given: Sequence[Sequence[float] | None]) -> Floats32 | None:
        width = self.shape.signature.n_vector
        if width is None:
            return None
        return self.table("vectors", [vector or [] for vector in given], width, None, "items.{}.vector")

    def _within(self, table: Floats32, low: Floats32, high: Floats32, name: Callable[[int, int], str]) -> Floats32:
        beyond = (table < low) | (table > high)
        if self.shape.refuse:
            i, j = np.argwhere(beyond)[0]
            kept = f"{low[j]:g} to {high[j]:g}"
            message = f"This is far outside the range that the model was trained on. Send {kept}."
            raise Refused(422, "out_of_range", message, field=name(i, j))
        self.clipped += int(beyond.sum())
        return np.clip(table, low, high)


def _check_counts(query: ListQuery, limits: Limits, at: str) -> None:
    if len(query.ids) > limits.items:
        raise invalid(f"{at}items", f"A list has at most {limits.items:,} candidates. Got {len(query.ids):,}.")
    if query.length is not None and query.length > limits.length:
        raise invalid(f"{at}length", f"A list has at most {limits.length:,} items. Got {query.length:,}.")
    if len(query.metadata) > limits.metadata:
        raise invalid(f"{at}metadata", f"Metadata has at most {limits.metadata:,} bytes. Got {len(query.metadata):,}.")


def _check_ids(ids: Sequence[str | int], at: str) -> None:
    """Refuse ids that occur twice, since feedback could not tell them apart."""
    if len(set(ids)) == len(ids):
        return
    first = {item: i for i, item in reversed(list(enumerate(ids)))}
    again = next(i for i, item in enumerate(ids) if first[item] < i)
    raise invalid(f"{at}items.{again}.id", "This id occurs twice. Give each item its own id.")


def _sizes(query: ListQuery, at: str) -> Floats | None:
    if None not in query.sizes:
        return np.array(query.sizes, dtype=np.float64)
    if query.budget is not None:
        raise invalid(f"{at}items.{query.sizes.index(None)}.size", "A budget needs the size of every item.")
    return None


def _levels(query: ListQuery, usual: Any, at: str) -> list[Any]:
    """Return the labels of all items for each level of groups, from coarse to fine; none where an item has none."""
    if None in query.groups:
        if query.per_group is not None or usual is not None:
            missing = query.groups.index(None)
            raise invalid(f"{at}items.{missing}.group", "A limit on groups needs the group of every item.")
        return []
    paths = [group if isinstance(group, list) else [group] for group in query.groups]
    odd = next((i for i, path in enumerate(paths) if len(path) != len(paths[0])), None)
    if odd is not None:
        raise invalid(f"{at}items.{odd}.group", "All items need the same number of levels of groups.")
    return [list(labels) for labels in zip(*paths, strict=True)]


def _per_group(query: ListQuery, levels: list[Any], usual: Any, at: str) -> Any:
    """Return the quotas of groups; for nested groups a list with those of each level."""
    asked = query.per_group
    if not isinstance(query.groups[0], list):
        if isinstance(asked, list) and (len(asked) != 2 or any(isinstance(bound, list | dict) for bound in asked)):
            raise invalid(f"{at}per_group", "This must be [least, most] unless the items have nested groups.")
        return usual if asked is None else read_quota(asked, query.groups)
    if asked is None and usual is None:
        return None
    if not isinstance(asked, list) or len(asked) != len(levels) or None in asked:
        raise invalid(f"{at}per_group", f"Groups of {len(levels)} levels need an array with one entry for each.")
    return [read_quota(entry, labels) for entry, labels in zip(asked, levels, strict=True)]


def read_quota(asked: Any, labels: Sequence[Any]) -> Any:
    """Return a quota as `Problems.with_constraints` takes it; JSON has names of groups as strings alone."""
    if isinstance(asked, dict):
        return asked | {label: asked[str(label)] for label in labels if str(label) in asked}
    return tuple(asked) if isinstance(asked, list) else asked


def _catalogue(given: Sequence[int | str | None], shape: Shape, at: str) -> tuple[Ints | None, tuple[str, ...] | None]:
    """Return the catalogue number of each item and the names of all; new names are numbered behind the known."""
    known, names = shape.signature.n_items, shape.signature.catalogue_names
    if known is None:
        return None, None
    number, new = shape.item_numbers, dict[str, int]()
    given = [str(item) if isinstance(item, int) and shape.named_by_numbers else item for item in given]
    for i, item in enumerate(given):
        if isinstance(item, str) and item not in number and shape.new_items and names is not None:
            new.setdefault(item, len(number) + len(new))
        elif item is None or (item not in number if isinstance(item, str) else item >= known):
            asked = "an item of its catalogue, by the id in its training data or as a number from 0"
            raise invalid(f"{at}items.{i}.catalogue", f"The model needs {asked} to {known - 1}.")
    codes = [item if isinstance(item, int) else number.get(item, new.get(item)) for item in given if item is not None]
    return np.array(codes, dtype=np.int64), names if names is None or not new else (*names, *new)


def _row(
    values: Sequence[float] | Mapping[str, float | str],
    width: int,
    names: Sequence[str] | None,
    levels: Levels,
    field: str,
) -> Sequence[float]:
    if isinstance(values, Mapping):
        return _by_name(values, names, levels, field) if values or width else []
    if len(values) != width:
        raise invalid(field, f"The model takes {width} numbers here. Got {len(values)}.")
    return values


def _by_name(values: Mapping[str, float | str], names: Sequence[str] | None, levels: Levels, field: str) -> list[float]:
    if not names:
        raise invalid(field, "The features of this model have no names. Send an array.")
    numbers: dict[str, float] = {}
    for name, value in values.items():
        if name in levels:
            numbers |= _flags(name, value, levels[name], field)
        elif isinstance(value, str):
            raise invalid(f"{field}.{name}", "Expected a number, got text.")
        else:
            numbers[name] = value
    missing = next((name for name in names if name not in numbers), None)
    if missing is not None:
        column = missing.partition("=")[0]
        raise invalid(f"{field}.{column if column in levels else missing}", "This is missing.")
    if len(numbers) > len(names):
        raise invalid(field, f"The model has no feature {sorted(set(numbers) - set(names))[0]!r:.60}.")
    return [numbers[name] for name in names]


def _flags(name: str, value: float | str, levels: Sequence[str], field: str) -> dict[str, float]:
    if value not in levels:
        known = ", ".join(levels[:5]) + (", ..." if len(levels) > 5 else "")
        raise invalid(f"{field}.{name}", f"The model does not know this category. It knows: {known:.200}.")
    return {f"{name}={level}": float(level == value) for level in levels}
