"""Lists to show, with what is needed to learn from them later; and those that wait for feedback."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.feedback.records import Outcome, Record
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
    """The ids given, one per list and no two the same; or new ones, which nobody can guess."""
    if list_ids is None:
        return tuple(uuid4().hex for _ in range(count))
    ids = (list_ids,) if isinstance(list_ids, str) else tuple(str(one) for one in list_ids)
    if len(ids) != count or len(set(ids)) < count:
        raise InputError(f"Give one id per list ({count}), no two the same. Got {len(ids)}: {ids!r:.60}.")
    return ids


def draw_keys(seed: int, list_ids: Sequence[str]) -> NDArray[np.uint64]:
    """A number for each list, which depends on the seed and its id alone.

    Examples
    --------
    >>> int(draw_keys(7, ["a"])[0]) == int(draw_keys(7, ["b", "a"])[1])
    True
    """
    salt = int(seed).to_bytes(8, "little")
    digests = [hashlib.blake2b(one.encode(), digest_size=8, key=salt).digest() for one in list_ids]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


class Waiting:
    """Remembers shown lists until their feedback comes, and which lists had theirs.

    Parameters
    ----------
    limit : int
        Lists to remember of each kind; the oldest are forgotten first.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.lock = RLock()
        self._shown: dict[str, tuple[Recommendations, int]] = {}
        self._answered: dict[str, None] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.lock = RLock()

    def __len__(self) -> int:
        return len(self._shown)

    def show(self, lists: Recommendations) -> None:
        """Remembers the lists."""
        if not self.limit:
            return
        with self.lock:
            for i, name in enumerate(lists.list_ids):
                self._shown[name] = lists, i
            _cut(self._shown, self.limit)

    def check_new(self, list_ids: tuple[str, ...]) -> None:
        """Refuses ids that other lists have."""
        with self.lock:
            for name in list_ids:
                if name in self._shown or name in self._answered:
                    raise InputError(f"List id {name} was used before. Give each list an id of its own.")

    def record(self, name: str, outcome: Outcome, *, cascade: bool) -> Record | None:
        """The record of a list; None where its feedback came before."""
        if name in self._answered:
            return None
        if name not in self._shown:
            raise InputError(
                f"Feedback for list {name}, which is not known: it was never shown, or is longer ago than the last "
                f"{self.limit:,} lists."
            )
        lists, i = self._shown[name]
        room = None if lists.room is None else float(lists.room[i])
        problem, picks = lists.problems[i], lists[i]
        return Record.of(name, problem, picks, lists.propensities[i, : len(picks)], outcome, room=room, cascade=cascade)

    def answer(self, names: list[str]) -> None:
        """Their feedback has been learned from."""
        for name in names:
            del self._shown[name]
            self._answered[name] = None
        _cut(self._answered, self.limit)


def _cut(entries: dict[str, Any], limit: int) -> None:
    while len(entries) > limit:
        del entries[next(iter(entries))]
