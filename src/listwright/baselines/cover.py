"""Greedy cover: the list that gains most over weighted training problems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright.baselines.states import by_item, gains_alone, items_of, n_items_of
from listwright.problems import Problems
from listwright.rewards import AnySuccess, reward_of
from listwright.walk.limits import Room

ORDERED = 256  # items of the static order that are found greedily; the rest go by what they gain alone


class Cover(ABC):
    """What items gain over the training problems, whose lists grow along with each list that is built.

    A fold like a reward: `start` takes one row of weights over the training problems for each list.
    """

    n_items: int
    n_problems: int

    @abstractmethod
    def start(self, weights: Floats) -> Any:
        """Empty lists, from (lists, training problems)."""

    @abstractmethod
    def gains(self, state: Any) -> Floats:
        """(lists, items): weighted sum of what an item would gain in the training problems that offer it."""

    @abstractmethod
    def add(self, state: Any, items: Ints) -> Any:
        """After one more item a list, -1 for none."""


class SuccessCover(Cover):
    """For AnySuccess: a table of successes, and for each list the weight of the problems that it still fails."""

    def __init__(self, problems: Problems) -> None:
        self.n_items = n_items_of(problems)
        self.n_problems = len(problems)
        self.success = by_item(problems, gains_alone(problems), self.n_items, missing=0.0)

    def start(self, weights: Floats) -> Floats:
        """Every list fails everywhere."""
        return weights

    def gains(self, state: Floats) -> Floats:
        """One matrix product."""
        return state @ self.success

    def add(self, state: Floats, items: Ints) -> Floats:
        """Problems that the item solves no longer count."""
        return state * np.where(items[:, None] >= 0, 1.0 - self.success.T[items], 1.0)


class FoldState(NamedTuple):
    """A copy of each training problem for each list that gives it weight."""

    copies: Problems
    lists: Ints  # which list a copy belongs to
    weights: Floats
    n_lists: int
    earned: Any


class FoldCover(Cover):
    """For any reward: its own fold over copies of the training problems."""

    def __init__(self, problems: Problems) -> None:
        self.n_items = n_items_of(problems)
        self.n_problems = len(problems)
        self.problems = problems

    def start(self, weights: Floats) -> FoldState:
        """Copies of the problems that have weight."""
        lists, which = np.nonzero(weights)
        copies = self.problems[which]
        earned = reward_of(copies).start(copies)
        return FoldState(copies, lists, weights[lists, which], len(weights), earned)

    def gains(self, state: FoldState) -> Floats:
        """The reward's gains, summed by list and item."""
        copies = state.copies
        gains = reward_of(copies).gains(state.earned) * state.weights[copies.owners]
        cells = state.lists[copies.owners] * self.n_items + items_of(copies)
        sums = np.bincount(cells, gains, minlength=state.n_lists * self.n_items)
        return np.asarray(sums, dtype=np.float64).reshape(state.n_lists, self.n_items)

    def add(self, state: FoldState, items: Ints) -> FoldState:
        """Every copy that offers the item of its list takes it."""
        copies = state.copies
        taken = np.flatnonzero(items_of(copies) == items[state.lists][copies.owners])
        picks = np.full(len(copies), -1)
        picks[copies.owners[taken]] = taken
        return state._replace(earned=reward_of(copies).add(state.earned, picks))


def cover_of(problems: Problems) -> Cover:
    """The cover that suits the problems' reward."""
    return SuccessCover(problems) if type(problems.reward) is AnySuccess else FoldCover(problems)


def static_order(cover: Cover) -> Ints:
    """All items in the order in which they gain most over all training problems together; ties to the lowest item.

    Once nothing gains any more (and past 256 items), items go by what they gain alone.
    """
    state = cover.start(np.ones((1, cover.n_problems)))
    alone = rounded(cover.gains(state)[0])
    gains = alone.copy()
    order: list[int] = []
    while len(order) < min(cover.n_items, ORDERED) and gains.max() > 0:
        order.append(int(gains.argmax()))
        state = cover.add(state, np.array(order[-1:]))
        gains = rounded(cover.gains(state)[0])
        gains[order] = -np.inf
    rest = np.setdiff1d(np.arange(cover.n_items), order)
    return np.concatenate([np.array(order, dtype=np.int64), rest[np.argsort(-alone[rest], kind="stable")]])


def rounded(gains: Floats) -> Floats:
    """Equal gains stay equal, in whatever order they were added up."""
    return np.round(gains, 12)


def offered(problems: Problems, order: Ints) -> Ints:
    """(problems, items), in the static order: the row of each item, -1 where it is not offered."""
    return by_item(problems, np.arange(problems.n_rows), len(order), missing=-1)[:, order].astype(np.int64)


def cover_lists(
    cover: Cover, weights: Floats, order: Ints, problems: Problems, room: Room, steps: int
) -> tuple[Ints, Floats]:
    """(lists, steps): rows picked, -1 behind the end, and their gains. Ties go to the first in the static order."""
    lists, offer = np.arange(len(weights)), offered(problems, order)
    state, open_items = cover.start(weights), offer >= 0
    rows, scores = np.full((len(lists), steps), -1), np.zeros((len(lists), steps))
    for position in range(steps):
        gains = rounded(cover.gains(state)[:, order])
        options = open_items & room.fits()[offer]
        best = np.where(options, gains, -np.inf).argmax(axis=1)
        some = options[lists, best]
        if not some.any():
            break
        rows[:, position] = np.where(some, offer[lists, best], -1)
        scores[some, position] = gains[lists, best][some]
        open_items[lists[some], best[some]] = False
        room.take(rows[:, position])
        state = cover.add(state, np.where(some, order[best], -1))
    return rows, scores
