"""The error that checks raise, and how they format numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, is_dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Ints
from listwright.problems import Problems
from listwright.rewards import Reward

TOLERANCE = 1e-9  # relative to the largest number compared, or to 1 if all are smaller


class LawBroken(AssertionError):
    """A check found a counterexample; the message names the list and the item.

    It is an `AssertionError`, so a check can stand alone in a test.

    Parameters
    ----------
    law : str
        Short name of the law, such as "monotone".
    message : str
        The counterexample.

    Attributes
    ----------
    law : str
        Short name of the law.

    See Also
    --------
    check_reward, check_features, check_learner : The checks that raise it.

    Examples
    --------
    >>> print(LawBroken("empty", "An empty list is worth 0.30 in problem q17: it must be worth 0."))
    An empty list is worth 0.30 in problem q17: it must be worth 0.
    """

    def __init__(self, law: str, message: str) -> None:
        super().__init__(law, message)  # both in args, so that the error survives pickling between processes
        self.law = law

    def __str__(self) -> str:
        return str(self.args[1])


def format_apart(*numbers: float) -> tuple[str, ...]:
    """Format numbers with as few decimals, at least two, as distinguish each from the next."""
    texts: tuple[str, ...] = ()
    for decimals in range(2, 18):
        texts = tuple(f"{number:.{decimals}f}" for number in numbers)
        if all(texts[i] != texts[i + 1] for i in range(len(texts) - 1)):
            break
    return texts


def format_list(names: Iterable[object]) -> str:
    """Format the items of a list for messages."""
    return "[" + ", ".join(str(name) for name in names) + "]"


@dataclass(frozen=True, eq=False)
class RecordedLists:
    """The lists of a batch at one moment: the picks so far, the reward's state, and its gains and values."""

    reward: Reward  # the reward under test
    problems: Problems  # the batch
    picks: tuple[Ints, ...]  # one array of picks per step
    state: Any  # the reward's state
    gains: Floats  # what the reward returned for this state
    values: Floats

    @classmethod
    def after(cls, reward: Reward, problems: Problems, picks: tuple[Ints, ...], state: Any) -> RecordedLists:
        """Return the record of a state, with copies of its gains and values."""
        return cls(reward, problems, picks, state, np.copy(reward.gains(state)), np.copy(reward.value(state)))

    @classmethod
    def empty(cls, reward: Reward, problems: Problems) -> RecordedLists:
        """Return the record of empty lists."""
        return cls.after(reward, problems, (), reward.start(problems))

    def add(self, picks: Ints) -> RecordedLists:
        """Return the record after one more pick per problem."""
        return RecordedLists.after(self.reward, self.problems, (*self.picks, picks), self.reward.add(self.state, picks))

    def replay(self, picks: tuple[Ints, ...]) -> RecordedLists:
        """Return the record after several more steps of picks."""
        grown = self
        for step in picks:
            grown = grown.add(step)
        return grown

    @property
    def tolerance(self) -> float:
        """How far apart numbers may be that should be equal."""
        return TOLERANCE * max(1.0, float(np.abs(self.values).max()), float(np.abs(self.gains).max()))

    def item(self, row: int) -> str:
        """Return how messages name a row, such as "item 7"."""
        ids, owner = self.problems.item_ids, self.problems.owners[row]
        return f"item {row - self.problems.offsets[owner] if ids is None else ids[row]!s}"

    def items(self, problem: int) -> str:
        """Return how messages name a problem's list, such as "[1, 3]"."""
        rows = [int(step[problem]) for step in self.picks if step[problem] >= 0]
        return format_list(self.item(row).removeprefix("item ") for row in rows)

    def place(self, problem: int) -> str:
        """Return how messages name a problem, such as "in problem q17"."""
        return f"in problem {self.problems.problem_ids[problem]!s}"


def short_lists_of(problems: Problems, *, most: int, length: int) -> Iterator[tuple[int, ...]]:
    """Yield all lists of up to `length` positions for problems of at most `most` candidates, shortest first."""
    few = problems.counts[problems.counts <= most]
    for n in range(1, length + 1):
        yield from product(range(int(few.max(initial=0))), repeat=n)


def picks_at(problems: Problems, position: int, *, most: int) -> Ints:
    """Return the row at one position of every problem that has it and at most `most` candidates; -1 for the others."""
    there = (problems.counts > position) & (problems.counts <= most)
    return np.where(there, problems.offsets[:-1] + position, -1)


def random_picks(problems: Problems, last: Ints | None, rng: np.random.Generator) -> Ints:
    """Return random picks, to extend lists during a check."""
    picks = problems.offsets[:-1] + rng.integers(problems.counts)
    chance = rng.random(len(problems))
    if last is not None:
        picks = np.where((chance < 0.2) & (last >= 0), last, picks)
    return np.where(chance > 0.9, -1, picks)


def snapshot(state: Any) -> list[tuple[NDArray[Any], bytes]]:
    """Return every array inside a state, with its current bytes, so that changes in place can be found."""
    return [(array, array.tobytes()) for array in _arrays_in(state, depth=5)]


def _arrays_in(thing: Any, depth: int) -> Iterator[NDArray[Any]]:
    """Yield the arrays inside nested tuples, lists, dicts and objects, down to `depth` levels; not those of
    `Problems`.
    """
    if isinstance(thing, np.ndarray):
        yield thing
    elif depth and not isinstance(thing, Problems | str | bytes):
        for part in _parts(thing):
            yield from _arrays_in(part, depth - 1)


def _parts(thing: Any) -> list[Any]:
    """Return what a container or an object holds."""
    if isinstance(thing, tuple | list):
        return list(thing)
    if isinstance(thing, dict):
        return list(thing.values())
    return list(vars(thing).values()) if is_dataclass(thing) or hasattr(thing, "__dict__") else []
