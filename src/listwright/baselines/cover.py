"""Greedy cover: the list that gains most over weighted training problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features.identity import has_whole_catalogue, whole_problem
from listwright.problems import Problems
from listwright.rewards import AnySuccess, reward_of
from listwright.training.signature import with_catalogue
from listwright.walk.constraints import Constraints

ORDERED = 256  # items of the static order that are found greedily; the rest go by what they gain alone


@saved_as("baselines.SuccessCover")
@dataclass(frozen=True, eq=False)
class SuccessCover:
    """What items gain over the training problems, whose lists grow along with each list that is built, by `AnySuccess`.

    The state is the weight of the problems that each list still fails, (lists, training problems).
    """

    success: Floats  # what each item gains alone in each training problem, 0 where it is not offered

    @classmethod
    def of(cls, problems: Problems) -> SuccessCover:
        return cls(by_item(problems, gains_alone(problems), n_items_of(problems), missing=0.0))

    def validation_error(self) -> str:
        fine = self.success.ndim == 2 and self.success.size > 0 and bool(np.isfinite(self.success).all())
        return "" if fine else "success must be a table of finite numbers, by training problem and item"

    @property
    def n_items(self) -> int:
        return self.success.shape[1]

    @property
    def n_problems(self) -> int:
        return len(self.success)

    def start(self, weights: Floats) -> Floats:
        return weights

    def gains(self, state: Floats) -> Floats:
        """Return (lists, items): the weighted sum of what an item would gain in the training problems that offer it."""
        return state @ self.success

    def add(self, state: Floats, items: Ints) -> Floats:
        """Return the state after one more item per list, -1 for none."""
        return state * np.where(items[:, None] >= 0, 1.0 - self.success.T[items], 1.0)


class FoldState(NamedTuple):
    """The state of a `FoldCover`: a copy of each training problem for each list that gives it weight."""

    copies: Problems
    lists: Ints  # which list a copy belongs to
    weights: Floats
    n_lists: int
    earned: Any


class FoldCover:
    """A cover for any reward: the reward's own fold over copies of the training problems."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems

    @property
    def n_items(self) -> int:
        return n_items_of(self.problems)

    @property
    def n_problems(self) -> int:
        return len(self.problems)

    def start(self, weights: Floats) -> FoldState:
        """Copy the problems that have weight, once per list, and starts the reward on them."""
        lists, which = np.nonzero(weights)
        copies = self.problems[which]
        earned = reward_of(copies).start(copies)
        return FoldState(copies, lists, weights[lists, which], len(weights), earned)

    def gains(self, state: FoldState) -> Floats:
        copies = state.copies
        gains = reward_of(copies).gains(state.earned) * state.weights[copies.owners]
        cells = state.lists[copies.owners] * self.n_items + items_of(copies)
        sums = np.bincount(cells, gains, minlength=state.n_lists * self.n_items)
        return np.asarray(sums, dtype=np.float64).reshape(state.n_lists, self.n_items)

    def add(self, state: FoldState, items: Ints) -> FoldState:
        copies = state.copies
        taken = np.flatnonzero(items_of(copies) == items[state.lists][copies.owners])
        picks = np.full(len(copies), -1)
        picks[copies.owners[taken]] = taken
        return state._replace(earned=reward_of(copies).add(state.earned, picks))


Cover = SuccessCover | FoldCover


def cover_of(problems: Problems) -> Cover:
    """Return the cover that suits the problems' reward: the quick one for `AnySuccess`, the general one otherwise."""
    return SuccessCover.of(problems) if type(problems.reward) is AnySuccess else FoldCover(problems)


def static_order(cover: Cover) -> Ints:
    """Return all items in the order in which greedy picks them over all training problems; the lowest of equals."""
    state: Any = cover.start(np.ones((1, cover.n_problems)))
    alone = round_gains(cover.gains(state)[0])
    gains = alone.copy()
    order: list[int] = []
    while len(order) < min(cover.n_items, ORDERED) and gains.max() > 0:
        order.append(int(gains.argmax()))
        state = cover.add(state, np.array(order[-1:]))
        gains = round_gains(cover.gains(state)[0])
        gains[order] = -np.inf
    rest = np.setdiff1d(np.arange(cover.n_items), order)
    return np.concatenate([np.array(order, dtype=np.int64), rest[np.argsort(-alone[rest], kind="stable")]])


def round_gains(gains: Floats) -> Floats:
    """Round gains to 12 decimals, so that equal gains stay equal in whatever order they were added up."""
    return np.round(gains, 12)


def cover_lists(
    cover: Cover, weights: Floats, order: Ints, problems: Problems, constraints: Constraints, steps: int
) -> tuple[Ints, Floats]:
    """Build lists greedily on the weighted training problems; ties go to the first item in the static order."""
    offer = by_item(problems, np.arange(problems.n_rows), len(order), missing=-1)[:, order].astype(np.int64)
    lists = np.arange(len(weights))
    state: Any = cover.start(weights)
    open_items, rows, scores = offer >= 0, np.full((len(lists), steps), -1), np.zeros((len(lists), steps))
    for position in range(steps):
        gains = round_gains(cover.gains(state)[:, order])
        options = open_items & constraints.fits()[offer]
        best = np.where(options, gains, -np.inf).argmax(axis=1)
        some = options[lists, best]
        if not some.any():
            break
        rows[:, position] = np.where(some, offer[lists, best], -1)
        scores[some, position] = gains[lists, best][some]
        open_items[lists[some], best[some]] = False
        constraints.take(rows[:, position])
        state = cover.add(state, np.where(some, order[best], -1))
    return rows, scores


def n_items_of(problems: Problems) -> int:
    """Return the size of the catalogue, which equally long problems have implicitly."""
    return with_catalogue(problems).n_items


def items_of(problems: Problems) -> Ints:
    catalogue = with_catalogue(problems).catalogue
    assert catalogue is not None
    return catalogue


def state_table(problems: Problems, n_items: int) -> Floats32:
    """Return one row per problem: its context or, without one, the features of the whole catalogue side by side."""
    if problems.context is not None:
        return problems.context
    if not problems.n_features or not has_whole_catalogue(problems, n_items):
        raise InputError(
            "These problems have no features that describe them as a whole. Pass context to Problems.from_arrays, or "
            f"features of the whole catalogue ({n_items} candidates) in every problem."
        )
    return whole_problem(with_catalogue(problems), n_items)


def gains_alone(problems: Problems) -> Floats:
    """Return one number per row: b(s | empty list), what it gains as the first item."""
    reward = reward_of(problems)
    return reward.gains(reward.start(problems))


def by_item(problems: Problems, values: NDArray[Any], n_items: int, *, missing: float) -> Floats:
    """(problems, items): one number per row as a table; `missing` where a problem does not offer an item."""
    table = np.full((len(problems), n_items), missing)
    table[problems.owners, items_of(problems)] = values
    return table
