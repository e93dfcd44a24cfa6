"""Limit the nesting depth of JSON input.

The C++ JSON parser of Arrow recurses and crashes the process if the nesting exceeds its stack. `may_be_deep` is a cheap
test on the raw bytes that decides whether the safe, slower parser is needed; `is_deep` tests a parsed value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

DEEPEST = 64  # levels; a row of a table has two or three
CHUNK = 1 << 20  # bytes that are looked at in one go


def may_be_deep(data: bytes) -> bool:
    """Whether JSON text may be nested more than `DEEPEST` levels. Brackets within strings count too, so it may not.

    >>> may_be_deep(b'{"a": [1, [2]]}'), may_be_deep(b"[" * 100)
    (False, True)
    """
    depth = lowest = 0
    for at in range(0, len(data), CHUNK):
        part = np.frombuffer(data, np.uint8, min(CHUNK, len(data) - at), at)
        steps = np.isin(part, (0x5B, 0x7B)).astype(np.int8) - np.isin(part, (0x5D, 0x7D)).astype(np.int8)
        depths = depth + np.cumsum(steps, dtype=np.int64)
        climbed = depths - np.minimum.accumulate(np.minimum(depths, lowest))
        if climbed.max(initial=0) > DEEPEST:
            return True
        depth, lowest = int(depths[-1]), min(lowest, int(depths.min()))
    return False


def is_deep(value: Any) -> bool:
    """Whether a value out of JSON is nested more than `DEEPEST` levels.

    >>> is_deep({"a": [1, [2]]})
    False
    """
    level = [value]
    for _ in range(DEEPEST):
        parts = [part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list)]
        level = [inner for part in parts for inner in part]
        if not level:
            return False
    return any(isinstance(part, dict | list) for part in level)
