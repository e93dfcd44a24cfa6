"""Log formatters: text for people, JSON lines for machines, both with the id of the request they belong to.

Handlers use the standard `logging` module; fields are passed with ``extra=`` and appear as ``name: value`` in text and
as keys in JSON.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

import msgspec

from listwright.serve.api.guard import request_id

KNOWN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def set_up(style: str) -> None:
    """Configure the loggers of the service and of uvicorn to write to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Json() if style == "json" else Text())
    for name, level in (("listwright.serve", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
    if style == "text":  # a line per request is for machines
        logging.getLogger("listwright.serve.requests").setLevel(logging.WARNING)


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    """Return the fields that a call passed with ``extra=``, preceded by the request id if there is one."""
    found = {name: value for name, value in vars(record).items() if name not in KNOWN}
    identity = request_id.get()
    return {"request_id": identity, **found} if identity else found


class Json(logging.Formatter):
    """Format each record as one JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as JSON; values that JSON does not know are converted with `str`."""
        told = {"time": record.created, "level": record.levelname.lower(), "message": record.getMessage()}
        if record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(told | _extra(record), enc_hook=str).decode()


class Text(logging.Formatter):
    """Format each record as one line of text with its extra fields in parentheses at the end."""

    def __init__(self) -> None:
        """Set the format: time, level, message."""
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line.

        Control characters are escaped, so that a request cannot forge a log line with a newline in its path. A
        traceback follows on lines of its own.
        """
        told = super().format(record)
        extra = ", ".join(f"{name}: {value}" for name, value in _extra(record).items())
        first, newline, trace = told.partition("\n")
        line = f"{first} ({extra})" if extra else first
        return "".join(one if one.isprintable() else repr(one)[1:-1] for one in line) + newline + trace
