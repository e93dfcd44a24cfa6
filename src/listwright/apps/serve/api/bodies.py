"""Bodies of requests: JSON, or a binary form for those who have their features as arrays."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec
import numpy as np
from starlette.requests import Request

from listwright.apps.serve.models.requests import Asked, BinaryHead
from listwright.apps.serve.refusals import Refused, field_name, invalid

T = TypeVar("T")
BINARY = "application/vnd.listwright.float32"
WHERE = re.compile(r" - at `\$(.*)`$")
UNKNOWN = re.compile(r"(?:unknown|required) field `([^`]*)`")
PLAIN = {"Object missing required": "Field required.", "Object contains unknown": "This field is not known."}
FEATURE = re.compile(r"(.*items\.\d+\.features)\.(\d+)")


async def read_body(request: Request, limit: int) -> bytes:
    """The body, as long as it is not too long; it is not read further than that."""
    too_large = Refused(413, "too_large", f"A body may have {limit:,} bytes.", field="body")
    length = request.headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and (len(length) > 18 or int(length) > limit):
        raise too_large
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise too_large
        parts.append(part)
    return b"".join(parts)


def kind_of(request: Request) -> str:
    """The content type, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_json(request: Request, kind: type[T], limit: int, names: Sequence[str] | None = None) -> T:
    """The body as what it should be; `names` are those of the features, for messages."""
    if kind_of(request) != "application/json":
        raise Refused(415, "not_json", "Send JSON, with the header `Content-Type: application/json`.")
    return decoded(await read_body(request, limit), kind, names)


def decoded(body: bytes, kind: type[T], names: Sequence[str] | None = None) -> T:
    """JSON as what it should be, or the refusal that names the field."""
    try:
        found: T = _decoder(kind).decode(body)  # type: ignore[arg-type]
        return found
    except msgspec.ValidationError as error:
        _check_whole(body)
        raise _refusal(error, names) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        place = _place_of_nan(body) if b"NaN" in body or b"Infinity" in body else None
        if place is not None:
            raise invalid(_named(place, names), "NaN and Infinity are no numbers of JSON.") from None
        raise invalid("body", f"{error}.") from None


def _check_whole(body: bytes) -> None:
    """A body that is no JSON is told as such, whatever its beginning looks like."""
    try:
        msgspec.json.decode(body)
    except msgspec.ValidationError:
        return
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise invalid("body", f"{error}.") from None


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def _place_of_nan(body: bytes) -> str | None:
    """Where the first number stands that is none; None where there is another reason why this is no JSON."""
    try:
        found = _path_to(_NAN, json.loads(body, parse_constant=lambda name: _NAN))
    except (ValueError, RecursionError):
        return None
    return None if found is None else field_name(found)


_NAN = object()


def _path_to(wanted: object, value: Any, at: tuple[Any, ...] = ()) -> tuple[Any, ...] | None:
    if value is wanted:
        return at
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return next((found for key, one in inside if (found := _path_to(wanted, one, (*at, key))) is not None), None)


def _refusal(error: msgspec.ValidationError, names: Sequence[str] | None) -> Refused:
    text = str(error)
    where, unknown = WHERE.search(text), UNKNOWN.search(text)
    place = field_name([int(one) if one.isdigit() else one for one in re.findall(r"\w+", where[1])]) if where else ""
    if unknown is not None:
        place = f"{place}.{unknown[1]}".lstrip(".")
    if text.startswith("Number out of range"):
        place = _named(place, names)
    told = next((told for start, told in PLAIN.items() if text.startswith(start)), f"{WHERE.sub('', text)}.")
    return invalid(place or "body", told)


def _named(place: str, names: Sequence[str] | None) -> str:
    """A feature by its name, where the model has names."""
    found = FEATURE.fullmatch(place)
    if found is None or not names or int(found[2]) >= len(names):
        return place
    return f"{found[1]}.{names[int(found[2])]}"


def from_binary(body: bytes) -> Asked:
    """A request from 4 bytes with the length of its JSON, the JSON, and the features as float32, row by row."""
    size = int.from_bytes(body[:4], "little")
    if len(body) < 4 + size:
        raise invalid("body", "A binary body begins with the length of its JSON in 4 bytes, lowest first.")
    head, rest = decoded(body[4 : 4 + size], BinaryHead), body[4 + size :]
    count = len(head.ids)
    if not rest or len(rest) % (4 * count):
        raise invalid("body", f"Behind the JSON come {count} rows of float32. Got {len(rest)} bytes.")
    none: list[None] = [None] * count
    for name in ("sizes", "catalogue", "groups"):
        if len(getattr(head, name) or none) != count:
            raise invalid(name, f"Give one entry for each of the {count} ids.")
    return Asked(
        head.ids,
        np.frombuffer(rest, dtype="<f4").reshape(count, -1),
        head.sizes or none,
        head.catalogue or none,
        none,
        head.length,
        head.budget,
        head.context_features,
        head.context,
        head.explain,
        head.model,
        head.groups or none,
        head.per_group,
    )
