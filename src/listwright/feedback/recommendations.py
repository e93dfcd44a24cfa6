"""Lists to show, and the memory of lists that wait for feedback."""

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
from listwright.feedback.updates import Outcome, TrainingUpdate
from listwright.lists import Lists


@dataclass(frozen=True, eq=False, repr=False)
class Recommendations(Lists):
    """Lists with what is needed to learn from them later: ids, propensities and the policy version.

    Returned by `OnlineSCP.recommend`; show the items, keep `list_ids`, and pass them with the outcomes to `feedback`.
    Append the whole object to a `Log` to train on it or evaluate with it later.

    Attributes
    ----------
    list_ids : tuple of str
        One id per list.
    propensities : ndarray of shape (lists, positions)
        The chance of each pick given the picks before it; NaN after the end of a list.
    version : int
        The number of lists that the policy had learned from.
    budgets : ndarray of float or None
        The budget of each problem.

    See Also
    --------
    Log.append : Stores recommendations.
    Lists : The base class, with `to_frame` and reasons.

    Examples
    --------
    >>> import listwright as lw
    >>> learner = lw.OnlineSCP(length=2, random_state=0)
    >>> lists = learner.recommend(lw.Problems.from_arrays(np.zeros((1, 4, 1))), list_ids=["a"])
    >>> lists.list_ids, lists.propensities.round(2)
    (('a',), array([[0.25, 0.33]]))
    """

    list_ids: tuple[str, ...] = ()
    propensities: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # as rows; nan behind the end of a list
    version: int = 0  # lists that the policy had learned from
    budgets: Floats | None = None  # by problem: the budget

    def items(self, i: int) -> list[Any]:
        """Return the items of list `i`: their ids, or their positions in the problem where items have no ids."""
        if self.problems.item_ids is None:
            return self[i].tolist()
        return self.problems.item_ids[self.rows[i][self.rows[i] >= 0]].tolist()

    def __repr__(self) -> str:
        return super().__repr__().replace("Lists", "Recommendations", 1) + f", version {self.version}"


def as_list_ids(list_ids: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """Return one distinct id per list: those given, or new random ones that cannot be guessed."""
    if list_ids is None:
        return tuple(uuid4().hex for _ in range(count))
    ids = (list_ids,) if isinstance(list_ids, str) else tuple(str(name) for name in list_ids)
    if len(ids) != count or len(set(ids)) < count:
        raise InputError(f"Give one id per list ({count}), no two the same. Got {len(ids)}: {ids!r:.60}.")
    return ids


def draw_keys(seed: int, list_ids: Sequence[str]) -> NDArray[np.uint64]:
    """Hash the seed and each list id to a 64-bit key for its random numbers."""
    salt = int(seed).to_bytes(8, "little")
    digests = [hashlib.blake2b(name.encode(), digest_size=8, key=salt).digest() for name in list_ids]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


class Waiting:
    """The memory of shown lists until their feedback arrives, and of ids that were answered."""

    # Callers hold `lock` around `record`, learning and `answer`, so that each list counts once under concurrent
    # feedback.

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
        if not self.limit:
            return
        with self.lock:
            for i, name in enumerate(lists.list_ids):
                self._shown[name] = lists, i
            _cut(self._shown, self.limit)

    def check_new(self, list_ids: tuple[str, ...]) -> None:
        with self.lock:
            for name in list_ids:
                if name in self._shown or name in self._answered:
                    raise InputError(f"List id {name} was used before. Give each list its own id.")

    def record(self, name: str, outcome: Outcome, *, cascade: bool) -> TrainingUpdate | None:
        if name in self._answered:
            return None
        if name not in self._shown:
            raise InputError(
                f"Feedback for list {name}, which is not known: it was never shown, or was shown before the last "
                f"{self.limit:,} lists."
            )
        lists, i = self._shown[name]
        budgets = None if lists.budgets is None else float(lists.budgets[i])
        problem, picks = lists.problems[i], lists[i]
        return TrainingUpdate.of(
            name, problem, picks, lists.propensities[i, : len(picks)], outcome, budget=budgets, cascade=cascade
        )

    def answer(self, names: list[str]) -> None:
        for name in names:
            del self._shown[name]
            self._answered[name] = None
        _cut(self._answered, self.limit)


def _cut(entries: dict[str, Any], limit: int) -> None:
    while len(entries) > limit:
        del entries[next(iter(entries))]
