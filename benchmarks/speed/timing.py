"""Two systems on the same input, in turn, in one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Record:
    """One line of the table: ratio is the peer's time over ours."""

    work: str
    peer: str
    ours_s: float
    peer_s: float
    at_least: float
    note: str = ""  # how the answers compare, where they are not the same

    @property
    def ratio(self) -> float:
        """How many times faster ours is."""
        return self.peer_s / self.ours_s

    def as_dict(self) -> dict[str, Any]:
        """What results.json holds."""
        return {
            "work": self.work,
            "peer": self.peer,
            "ours_s": self.ours_s,
            "peer_s": self.peer_s,
            "ratio": self.ratio,
            "at_least": self.at_least,
        }


def compare(
    work: str,
    peer: str,
    *,
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    at_least: float,
    repeats: int = 5,
    inner: int = 1,
    note: str = "",
) -> Record:
    """Medians over `repeats` turns after one to warm up; a turn calls ours `inner` times, then the peer as often."""
    ours(), theirs()
    mine, others = [], []
    for _ in range(repeats):
        mine.append(_seconds(ours, inner))
        others.append(_seconds(theirs, inner))
    return Record(work, peer, median(mine), median(others), at_least, note)


def against(
    work: str, peer: str, *, ours: Callable[[], Any], peer_s: float, at_least: float, repeats: int = 9
) -> Record:
    """The same against a peer's time that is a given constant."""
    ours()
    return Record(work, peer, median(_seconds(ours, 1) for _ in range(repeats)), peer_s, at_least)


def must(holds: bool, what: str) -> None:
    """Stops the run where our answer is worse than the peer's."""
    if not holds:
        raise SystemExit(f"The answers do not compare: {what}.")


def _seconds(call: Callable[[], Any], inner: int) -> float:
    start = time.perf_counter()
    for _ in range(inner):
        call()
    return (time.perf_counter() - start) / inner
