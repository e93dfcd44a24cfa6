"""Lists that were shown and wait for feedback."""

from __future__ import annotations

from threading import RLock
from typing import Any

from listwright.errors import InputError
from listwright.feedback.outcomes import Outcome
from listwright.feedback.recommendations import Recommendations
from listwright.feedback.records import Record


class Waiting:
    """Remembers shown lists until their feedback comes, and which lists had theirs.

    Parameters
    ----------
    limit : lists to remember of each kind; the oldest are forgotten first.
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
