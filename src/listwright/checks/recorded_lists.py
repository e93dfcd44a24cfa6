"""Lists grown for a check: every pick on record, and what the reward says after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Ints
from listwright.checks.base import TOLERANCE, listed
from listwright.problems import Problems
from listwright.rewards import Reward


@dataclass(frozen=True, eq=False)
class RecordedLists:
    """The lists of a batch at one moment."""

    reward: Reward
    problems: Problems
    picks: tuple[Ints, ...]  # one array a step
    state: Any
    gains: Floats
    values: Floats

    @classmethod
    def after(cls, reward: Reward, problems: Problems, picks: tuple[Ints, ...], state: Any) -> RecordedLists:
        """What the reward says of a state."""
        return cls(reward, problems, picks, state, np.copy(reward.gains(state)), np.copy(reward.value(state)))

    @classmethod
    def empty(cls, reward: Reward, problems: Problems) -> RecordedLists:
        """Empty lists."""
        return cls.after(reward, problems, (), reward.start(problems))

    def add(self, picks: Ints) -> RecordedLists:
        """One more pick a problem."""
        return RecordedLists.after(self.reward, self.problems, (*self.picks, picks), self.reward.add(self.state, picks))

    def replay(self, picks: tuple[Ints, ...]) -> RecordedLists:
        """From here through other picks."""
        grown = self
        for step in picks:
            grown = grown.add(step)
        return grown

    @property
    def tolerance(self) -> float:
        """How far apart numbers may be that should be equal."""
        return TOLERANCE * max(1.0, float(np.abs(self.values).max()), float(np.abs(self.gains).max()))

    def item(self, row: int) -> str:
        """How messages name a row: `item 7`."""
        ids, owner = self.problems.item_ids, self.problems.owners[row]
        return f"item {row - self.problems.offsets[owner] if ids is None else ids[row]!s}"

    def items(self, problem: int) -> str:
        """How messages name a problem's list: `[1, 3]`."""
        rows = [int(step[problem]) for step in self.picks if step[problem] >= 0]
        return listed(self.item(row).removeprefix("item ") for row in rows)

    def place(self, problem: int) -> str:
        """How messages name a problem: `in problem q17`."""
        return f"in problem {self.problems.problem_ids[problem]!s}"


def short_lists(problems: Problems, *, most: int, length: int) -> Iterator[tuple[int, ...]]:
    """All lists up to `length` in problems of at most `most` candidates, by positions, shortest first."""
    few = problems.counts[problems.counts <= most]
    for n in range(1, length + 1):
        yield from product(range(int(few.max(initial=0))), repeat=n)


def picks_at(problems: Problems, position: int, *, most: int) -> Ints:
    """The candidate at one position of every problem that has it and has few; -1 for the others."""
    there = (problems.counts > position) & (problems.counts <= most)
    return np.where(there, problems.offsets[:-1] + position, -1)


def random_picks(problems: Problems, last: Ints | None, rng: np.random.Generator) -> Ints:
    """A random row of each problem: sometimes the last one once more, sometimes none."""
    picks = problems.offsets[:-1] + rng.integers(problems.counts)
    chance = rng.random(len(problems))
    if last is not None:
        picks = np.where((chance < 0.2) & (last >= 0), last, picks)
    return np.where(chance > 0.9, -1, picks)


def snapshot(state: Any) -> list[tuple[NDArray[Any], bytes]]:
    """Every array inside a state, with its bytes as they are now."""
    return [(array, array.tobytes()) for array in _arrays_in(state, depth=5)]


def _arrays_in(thing: Any, depth: int) -> Iterator[NDArray[Any]]:
    if isinstance(thing, np.ndarray):
        yield thing
    elif depth and not isinstance(thing, Problems | str | bytes):
        for part in _parts(thing):
            yield from _arrays_in(part, depth - 1)


def _parts(thing: Any) -> list[Any]:
    if isinstance(thing, tuple | list):
        return list(thing)
    if isinstance(thing, dict):
        return list(thing.values())
    return list(vars(thing).values()) if is_dataclass(thing) or hasattr(thing, "__dict__") else []
