"""Ids of lists, which sort by time, and the clock that they are made from."""

from __future__ import annotations

import secrets
import time

TIME_DIGITS = 12  # of an id: milliseconds in hex


def new_id(now: float) -> str:
    """Return a list id: the time in milliseconds as 12 hex digits, then 20 random ones."""
    return first_id(now)[:TIME_DIGITS] + secrets.token_hex(10)


def first_id(at: float) -> str:
    """Return the lowest possible id of a time, for queries by age."""
    return f"{int(at * 1000):0{TIME_DIGITS}x}" + "0" * (32 - TIME_DIGITS)


def now() -> float:
    """Return seconds since 1970."""
    return time.time()
