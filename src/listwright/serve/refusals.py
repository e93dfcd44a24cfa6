"""Errors that clients see: an HTTP status and a JSON body with a code, a message and the field at fault."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import msgspec

from listwright.serve.messages import ErrorAnswer, ErrorDetail
from listwright.serve.settings import Limits

LONGEST = 300  # characters of a message: what was sent is not sent back at length


class Refused(Exception):
    """A request that is answered with an error."""

    # Raise it anywhere below `Guard`. Functions that the writer runs return it instead, so that one refused write does
    # not abort the transaction of the others.

    def __init__(
        self, status: int, code: str, message: str, *, field: str | None = None, retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.field = status, code, message[:LONGEST], field
        self.retry_after = retry_after

    def body(self) -> bytes:
        return msgspec.json.encode(ErrorAnswer(ErrorDetail(self.code, self.message, self.field)))

    def headers(self) -> dict[str, str]:
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}


def invalid(field: str, message: str) -> Refused:
    """Return a 422 refusal for a field whose value cannot be used."""
    return Refused(422, "invalid", message, field=field)


def unavailable(message: str = "The store cannot be reached. Try again.") -> Refused:
    """Return a 503 refusal for a failure that may pass, with `Retry-After: 1`."""
    return Refused(503, "unavailable", message, retry_after=1)


def busy(message: str = "Too many requests at once. Try again.") -> Refused:
    """Return a 429 refusal for work beyond a limit, with `Retry-After: 1`."""
    return Refused(429, "busy", message, retry_after=1)


def check_affordable(seconds: float, memory: float, limits: Limits, advice: str) -> None:
    """Refuse what is expected to take more time or memory than one request may."""
    for needed, allowed, unit in (
        (seconds, limits.seconds, "s"),
        (memory / 2**20, limits.memory_bytes / 2**20, "MB"),
    ):
        if allowed < needed < inf:
            message = f"This takes about {needed:,.0f} {unit}, and a request may take {allowed:,.0f} {unit}."
            raise Refused(413, "too_large", f"{message} {advice}")


def field_name(where: Sequence[Any]) -> str:
    """Join the parts of a location in a body to a dotted path."""
    return ".".join(str(part) for part in where if isinstance(part, int) or str(part).isidentifier())[:LONGEST]
