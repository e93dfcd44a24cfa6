"""What the service answers when it cannot do what it was asked: a status and JSON that names the field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

LONGEST = 300  # characters of a message: what was sent is not sent back at length


class Refused(Exception):
    """A request that is not granted.

    Examples
    --------
    >>> Refused(404, "not_found", "There is no such list.").body()
    b'{"error":{"code":"not_found","message":"There is no such list.","field":null}}'
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: str | None = None,
        retry_after: int | None = None,
        location: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.field = status, code, message[:LONGEST], field
        self.retry_after, self.location = retry_after, location

    def body(self) -> bytes:
        """The JSON."""
        return msgspec.json.encode({"error": {"code": self.code, "message": self.message, "field": self.field}})

    def headers(self) -> dict[str, str]:
        """When to come again, or where to go, where that is known."""
        told = {"Retry-After": self.retry_after, "Location": self.location}
        return {name: str(value) for name, value in told.items() if value is not None}


def invalid(field: str, message: str) -> Refused:
    """A field with a value that cannot be used."""
    return Refused(422, "invalid", message, field=field)


def unavailable(message: str = "The store cannot be reached. Try again.") -> Refused:
    """Something that may work in a moment."""
    return Refused(503, "unavailable", message, retry_after=1)


def busy(message: str = "Too many requests at once. Try again.") -> Refused:
    """More than can be done at present."""
    return Refused(429, "busy", message, retry_after=1)


def field_name(where: Sequence[Any]) -> str:
    """A place in a body as one text; which kind of a union was tried is left out.

    Examples
    --------
    >>> field_name(("items", 3, "features", "list[float]", 2))
    'items.3.features.2'
    """
    return ".".join(str(part) for part in where if isinstance(part, int) or str(part).isidentifier())[:LONGEST]
