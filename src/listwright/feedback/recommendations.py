"""Lists to show, with what is needed to learn from them later."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.lists import Lists


@dataclass(frozen=True, eq=False, repr=False)
class Recommendations(Lists):
    """Lists with an id each, the chance that every pick had, and the version of the policy that drew them."""

    list_ids: tuple[str, ...] = ()
    propensities: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # as rows; nan behind the end of a list
    version: int = 0  # lists that the policy had learned from
    room: Floats | None = None  # by problem: the budget

    def items(self, i: int) -> list[Any]:
        """The items of list i by id, or by position where items have no ids."""
        if self.problems.item_ids is None:
            return self[i].tolist()
        return self.problems.item_ids[self.rows[i][self.rows[i] >= 0]].tolist()

    def __repr__(self) -> str:
        return super().__repr__().replace("Lists", "Recommendations", 1) + f", version {self.version}"


def as_list_ids(list_ids: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """The ids given, one a list and no two the same; or new ones, which nobody can guess."""
    if list_ids is None:
        return tuple(uuid4().hex for _ in range(count))
    ids = (list_ids,) if isinstance(list_ids, str) else tuple(str(one) for one in list_ids)
    if len(ids) != count or len(set(ids)) < count:
        raise InputError(f"Give one id a list ({count}), no two the same. Got {len(ids)}: {ids!r:.60}.")
    return ids


def draw_keys(seed: int, list_ids: Sequence[str]) -> NDArray[np.uint64]:
    """A number for each list, which depends on the seed and its id alone.

    >>> int(draw_keys(7, ["a"])[0]) == int(draw_keys(7, ["b", "a"])[1])
    True
    """
    salt = int(seed).to_bytes(8, "little")
    digests = [hashlib.blake2b(one.encode(), digest_size=8, key=salt).digest() for one in list_ids]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
