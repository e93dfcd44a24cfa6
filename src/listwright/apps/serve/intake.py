"""Requests to problems; what is wrong is named by its field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from listwright._internal.arrays import Floats32
from listwright.apps.serve.payloads import Item, ListRequest
from listwright.apps.serve.refusals import Refused, from_validation, invalid
from listwright.apps.serve.settings import Limits
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.training.signature import Signature

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Shape:
    """What the requests to a model look like."""

    signature: Signature
    context_names: tuple[str, ...] | None

    @classmethod
    def of(cls, model: Any) -> Shape:
        """Read off a fitted model."""
        columns = getattr(model, "columns_", None)
        return cls(model.signature_, None if columns is None else columns.context)


async def read_body(request: Request, limit: int) -> bytes:
    """The body, as long as it is not too long; it is not read further than that."""
    too_large = Refused(413, "too_large", f"A body may have {limit:,} bytes.", field="body")
    if int(_digits(request.headers.get("content-length", "0"))) > limit:
        raise too_large
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise too_large
        parts.append(part)
    return b"".join(parts)


async def read_json(request: Request, kind: type[M], limit: int) -> M:
    """The body as what it should be."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, "not_json", "Send JSON, with the header `Content-Type: application/json`.")
    try:
        return kind.model_validate_json(await read_body(request, limit))
    except ValidationError as error:
        raise from_validation(error) from None


def problem_of(asked: ListRequest, shape: Shape, limits: Limits, at: str = "") -> Problems:
    """One problem without ids, checked against what the model was trained on."""
    _check_counts(asked, limits, at)
    _check_ids(asked.items, at)
    signature = shape.signature
    table = _table([item.features for item in asked.items], signature.n_features, signature.feature_names, at)
    try:
        return Problems.from_arrays(
            table,
            offsets=[0, len(asked.items)],
            context=_context(asked, shape, at),
            sizes=_sizes(asked, at),
            catalogue=_catalogue(asked.items, signature.n_items, at),
            vectors=_vectors(asked.items, signature.n_vector, at),
            feature_names=signature.feature_names,
        )
    except InputError as error:  # what only the whole of it shows
        raise invalid(f"{at}items", str(error)) from None


def _check_counts(asked: ListRequest, limits: Limits, at: str) -> None:
    if len(asked.items) > limits.items:
        raise invalid(f"{at}items", f"A list has at most {limits.items:,} candidates. Got {len(asked.items):,}.")
    if asked.length is not None and asked.length > limits.length:
        raise invalid(f"{at}length", f"A list has at most {limits.length:,} items. Got {asked.length:,}.")


def _check_ids(items: Sequence[Item], at: str) -> None:
    if len({item.id for item in items}) == len(items):
        return
    seen = set()
    for i, item in enumerate(items):
        if item.id in seen:
            raise invalid(f"{at}items.{i}.id", "This id is there twice. Give each item its own.")
        seen.add(item.id)


def _table(rows: Sequence[Any], width: int, names: tuple[str, ...] | None, at: str) -> Floats32:
    """(rows, width) in float32."""
    if set(map(type, rows)) != {list} or set(map(len, rows)) != {width}:
        rows = [_by_place(row, width, names, f"{at}items.{i}.features") for i, row in enumerate(rows)]
    return _finite(rows, width, lambda i, j: f"{at}items.{i}.features.{names[j] if names else j}")


def _finite(rows: Sequence[Sequence[float]], width: int, name: Callable[[int, int], str]) -> Floats32:
    """(rows, width) in float32, which has less room than what JSON may hold."""
    with np.errstate(over="ignore"):
        found = np.array(rows, dtype=np.float32).reshape(len(rows), width)
    if not np.isfinite(found).all():
        raise invalid(name(*np.argwhere(~np.isfinite(found))[0]), "This must be a finite number of float32.")
    return found


def _by_place(
    values: Sequence[float] | Mapping[str, float], width: int, names: tuple[str, ...] | None, field: str
) -> Sequence[float]:
    """Numbers in the model's order."""
    if isinstance(values, Mapping):
        return _by_name(values, names, field)
    if len(values) != width:
        raise invalid(field, f"The model takes {width} numbers here. Got {len(values)}.")
    return values


def _by_name(values: Mapping[str, float], names: tuple[str, ...] | None, field: str) -> list[float]:
    if not names:
        raise invalid(field, "The model knows no names here. Send an array.")
    missing = next((name for name in names if name not in values), None)
    if missing is not None:
        raise invalid(f"{field}.{missing}", "This is missing.")
    if len(values) > len(names):
        raise invalid(field, "There are names here that the model does not know.")
    return [values[name] for name in names]


def _context(asked: ListRequest, shape: Shape, at: str) -> Floats32 | None:
    width = shape.signature.n_context
    if width is None:
        if asked.context is not None:
            raise invalid(f"{at}context", "The model takes no context.")
        return None
    if asked.context is None:
        raise invalid(f"{at}context", f"The model needs a context of {width} numbers.")
    row = _by_place(asked.context, width, shape.context_names, f"{at}context")
    return _finite([row], width, lambda _, j: f"{at}context.{j}")


def _sizes(asked: ListRequest, at: str) -> list[float] | None:
    sizes = [item.size for item in asked.items]
    missing = next((i for i, size in enumerate(sizes) if size is None), None)
    if missing is None:
        return [size for size in sizes if size is not None]
    if asked.budget is not None:
        raise invalid(f"{at}items.{missing}.size", "A budget needs the size of every item.")
    return None


def _catalogue(items: Sequence[Item], known: int | None, at: str) -> list[int] | None:
    if known is None:
        return None
    for i, item in enumerate(items):
        if item.catalogue is None or item.catalogue >= known:
            raise invalid(f"{at}items.{i}.catalogue", f"The model needs an item of its catalogue: 0 to {known - 1}.")
    return [item.catalogue for item in items if item.catalogue is not None]


def _vectors(items: Sequence[Item], width: int | None, at: str) -> Floats32 | None:
    if width is None:
        return None
    rows = [_by_place(item.vector or [], width, None, f"{at}items.{i}.vector") for i, item in enumerate(items)]
    return _finite(rows, width, lambda i, j: f"{at}items.{i}.vector.{j}")


def _digits(text: str) -> str:
    return text if text.isascii() and text.isdigit() and len(text) < 19 else "0"
