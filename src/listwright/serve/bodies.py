"""Decoding of request bodies: JSON, or a binary form for callers that hold their features as float32 arrays."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec
import numpy as np
from starlette.requests import ClientDisconnect, Request

from listwright.serve.messages import BinaryHead, ListQuery
from listwright.serve.refusals import Refused, field_name, invalid

T = TypeVar("T")
Names = Callable[[], Sequence[str] | None]
decoder = cache(msgspec.json.Decoder)  # to make one takes much longer than to decode
BINARY = "application/vnd.listwright.float32"
WHERE = re.compile(r" - at `\$(.*)`$")
UNKNOWN = re.compile(r"(?:unknown|required) field `([^`]*)`")
PLAIN = {
    "Object missing required": "Field required.",
    "Object contains unknown": "There is no such field. The API is described at /docs.",
}
FEATURE = re.compile(r"(.*items\.\d+\.features)\.(\d+)")


async def read_body(request: Request, limit: int) -> bytes:
    length = _header(request, b"content-length")
    if length.isdigit() and (len(length) > 18 or int(length) > limit):
        raise _too_large(limit)
    parts, size, more = [], 0, True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if size > limit:
            raise _too_large(limit)
        parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _header(request: Request, name: bytes) -> bytes:
    return next((value for key, value in request.scope["headers"] if key == name), b"")


def _too_large(limit: int) -> Refused:
    return Refused(413, "too_large", f"A body may have {limit:,} bytes.", field="body")


def content_type(request: Request) -> str:
    return _header(request, b"content-type").partition(b";")[0].strip().lower().decode("latin-1")


async def read_json(
    request: Request, kind: type[T], limit: int, names: Names = lambda: None, *, media: str | None = None
) -> T:
    """Read a body of a `kind`; `names` are those of the model's features, and `media` its type where that is known."""
    if (media or content_type(request)) != "application/json":
        raise Refused(415, "not_json", "Send JSON, with the header `Content-Type: application/json`.")
    return decode(await read_body(request, limit), kind, names)


def decode(body: bytes, kind: type[T], names: Names = lambda: None) -> T:
    try:
        value: T = decoder(kind).decode(body)  # type: ignore[arg-type]
        return value
    except msgspec.ValidationError as error:
        _check_whole(body)
        raise _refusal(error, names()) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        place = _place_of_nan(body) if b"NaN" in body or b"Infinity" in body else None
        if place is not None:
            raise invalid(_with_name(place, names()), "NaN and Infinity are not valid JSON.") from None
        raise invalid("body", f"{error}.") from None


def _check_whole(body: bytes) -> None:
    """Raise a refusal if the whole body is not valid JSON; validation may have stopped before a syntax error."""
    try:
        msgspec.json.decode(body)
    except msgspec.ValidationError:
        return
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise invalid("body", f"{error}.") from None


def _place_of_nan(body: bytes) -> str | None:
    try:
        path = _path_to(_NAN, json.loads(body, parse_constant=lambda name: _NAN))
    except (ValueError, RecursionError):
        return None
    return None if path is None else field_name(path)


_NAN = object()


def _path_to(wanted: object, value: Any, at: tuple[Any, ...] = ()) -> tuple[Any, ...] | None:
    """Return the keys and indices that lead to an object within nested lists and dicts; None if it is not there."""
    if value is wanted:
        return at
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return next((path for key, part in inside if (path := _path_to(wanted, part, (*at, key))) is not None), None)


def _refusal(error: msgspec.ValidationError, names: Sequence[str] | None) -> Refused:
    # The location is parsed from the text of the error, since msgspec does not expose it otherwise.
    text = str(error)
    where, unknown = WHERE.search(text), UNKNOWN.search(text)
    place = (
        field_name([int(part) if part.isdigit() else part for part in re.findall(r"\w+", where[1])]) if where else ""
    )
    if unknown is not None:
        place = f"{place}.{unknown[1]}".lstrip(".")
    if text.startswith("Number out of range"):
        place = _with_name(place, names)
    message = next((plain for start, plain in PLAIN.items() if text.startswith(start)), f"{WHERE.sub('', text)}.")
    return invalid(place or "body", message)


def _with_name(place: str, names: Sequence[str] | None) -> str:
    """Replace the index of a feature at the end of a path by the feature's name, where the model has names."""
    match = FEATURE.fullmatch(place)
    if match is None or not names or int(match[2]) >= len(names):
        return place
    return f"{match[1]}.{names[int(match[2])]}"


def from_binary(body: bytes) -> ListQuery:
    size = int.from_bytes(body[:4], "little")
    if len(body) < 4 + size:
        raise invalid("body", "A binary body begins with the length of its JSON in 4 bytes, lowest first.")
    head, rest = decode(body[4 : 4 + size], BinaryHead), body[4 + size :]
    count = len(head.ids)
    if not rest or len(rest) % (4 * count):
        raise invalid("body", f"After the JSON there must be {count} rows of float32. Got {len(rest)} bytes.")
    none: list[None] = [None] * count
    for name in ("sizes", "catalogue", "groups", "uses"):
        if len(getattr(head, name) or none) != count:
            raise invalid(name, f"Give one entry for each of the {count} ids.")
    return ListQuery(
        head.ids,
        np.frombuffer(rest, dtype="<f4").astype(np.float32).reshape(count, -1),
        head.sizes or none,
        head.catalogue or none,
        none,
        head.groups or none,
        head.uses or none,
        **head.options(),
    )


def read_query(request: Request, kind: type[T]) -> T:
    try:
        return msgspec.convert(dict(request.query_params), kind, strict=False)
    except msgspec.ValidationError as error:
        raise _refusal(error, None) from None
