"""`NearestCover` and `ForestCover`: the greedy list over the training problems that resemble the new one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Floats32, Ints, RandomState, as_generator, at_least_one
from listwright._internal.quotas import PerGroup
from listwright._internal.saved import saved_as
from listwright._internal.threads import one_thread
from listwright.baselines.base import Baseline, as_lists
from listwright.errors import InputError
from listwright.features.identity import has_whole_catalogue, whole_problem
from listwright.features.outcomes import Forest
from listwright.features.scale import Scale
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.rewards import AnySuccess, reward_of
from listwright.training.signature import with_catalogue
from listwright.walk.constraints import Constraints

ORDERED = 256  # items of the static order that are found greedily; the rest go by what they gain alone
CELLS = 4_000_000  # training outcomes looked at in one go


class WeightedCover(Baseline):
    """Builds lists that gain most over weighted training problems; subclasses say how much each of these counts."""

    # New problems are processed in chunks, so that the table of weights and gains stays small.

    @property
    def unsavable(self) -> str:
        """Why a file cannot hold the model: unless the reward is `AnySuccess`, its training problems are needed."""
        if not isinstance(getattr(self, "cover_", None), FoldCover):
            return ""
        return "it keeps its training problems with their reward. Only with AnySuccess is a table of successes enough"

    @abstractmethod
    def _learn_weights(self, states: Floats, problems: Problems) -> None:
        """Set what `_weights` needs, from one row of scaled columns per training problem."""

    @abstractmethod
    def _weights(self, states: Floats) -> Floats:
        """Return weights of shape (states, training problems)."""

    def _view(self, problems: Problems) -> Problems:
        return with_catalogue(problems)

    def _learn(self, problems: Problems) -> None:
        self.cover_ = cover_of(problems)
        self.order_ = static_order(self.cover_)
        table = state_table(problems, self.cover_.n_items)
        self.scale_ = Scale.of(table)
        with one_thread():
            self._learn_weights(self.scale_.apply(table).astype(np.float64), problems)

    def _lists(self, problems: Problems, steps: int, budgets: Floats | None) -> Lists:
        states = self.scale_.apply(state_table(problems, self.cover_.n_items)).astype(np.float64)
        size = max(1, CELLS // (self.cover_.n_problems * self.cover_.n_items))
        rows, scores = [], []
        with one_thread():
            for start in range(0, len(problems), size):
                here = slice(start, start + size)
                some = problems[here]
                left = Constraints(some, None if budgets is None else budgets[here], steps)
                lists = cover_lists(self.cover_, self._weights(states[here]), self.order_, some, left, steps)
                rows.append(np.where(lists[0] >= 0, lists[0] + problems.offsets[start], -1))
                scores.append(lists[1])
        return as_lists(problems, np.concatenate(rows), np.concatenate(scores))


@saved_as("baselines.NearestCover")
class NearestCover(WeightedCover):
    """Finds the training problems with the nearest contexts, and builds the list that gains most over them.

    This is how SUNNY (Amadini, Gabbrielli & Mauro 2014) builds portfolios of solvers. Without a context, problems are
    compared by the features of the whole catalogue. Columns are scaled; ties, and positions where nothing gains any
    more, go by the static order of all training problems. Like `ForestCover` it can be saved only for `AnySuccess`.

    Parameters
    ----------
    n_neighbors : int
        How many training problems count, all the same.
    length, budget, per_group
        Limits of a list: see `Baseline`.

    See Also
    --------
    ForestCover : Learns which problems are similar.
    StaticList : Weighs all problems alike.

    Examples
    --------
    >>> import listwright as lw
    >>> context = np.random.default_rng(0).random((60, 1))
    >>> success = np.concatenate([context < 0.5, context >= 0.5, context > 2], axis=1)
    >>> features = np.zeros((60, 3, 0))
    >>> reward = lw.rewards.AnySuccess(success)
    >>> problems = lw.Problems.from_arrays(features, context=context, catalogue=[0, 1, 2], reward=reward)
    >>> NearestCover(n_neighbors=5, length=1).fit(problems[:50]).score(problems[50:])
    1.0
    """

    def __init__(
        self, n_neighbors: int = 16, length: int = 5, *, budget: float | None = None, per_group: PerGroup = None
    ) -> None:
        super().__init__(length, budget=budget, per_group=per_group)
        self.n_neighbors = n_neighbors

    def _check_parameters(self, problems: Problems) -> None:
        at_least_one("n_neighbors", self.n_neighbors)

    def _learn_weights(self, states: Floats, problems: Problems) -> None:
        self.states_ = states

    def _weights(self, states: Floats) -> Floats:
        """Return 1 for the nearest training problems, the first among equally near ones, and 0 for all others."""
        order = np.argsort(scipy.spatial.distance.cdist(states, self.states_, "sqeuclidean"), axis=1, kind="stable")
        weights = np.zeros(order.shape)
        np.put_along_axis(weights, order[:, : self.n_neighbors], 1.0, axis=1)
        return weights


@saved_as("baselines.ForestCover")
class ForestCover(WeightedCover):
    """Builds the list that gains most over training problems, weighted by how similar a forest finds them.

    Training problems are weighted by how often they share a leaf with the new problem, in a forest of extra-trees that
    predicts what every item gains alone. Use it for a catalogue of recurring items, such as solvers, with a context per
    problem. Without a context, problems are seen by the features of the whole catalogue. It keeps its training
    problems, so it can be saved only for the reward `AnySuccess`, for which a table of successes is enough.

    Parameters
    ----------
    n_estimators, min_samples_leaf : int
        Size of the forest and of its leaves.
    length, budget, per_group
        Limits of a list: see `Baseline`.
    back_off : float
        Weight of all training problems together, against 1 for those that share leaves: what is left to gain
        once the similar ones are covered.
    random_state : int, numpy.random.Generator or None
        Seed of the forest.

    See Also
    --------
    NearestCover : Weighs the nearest problems by distance in the context.
    StaticList : Weighs all problems alike.

    Examples
    --------
    >>> import listwright as lw
    >>> context = np.random.default_rng(0).random((60, 1))
    >>> success = np.concatenate([context < 0.5, context >= 0.5, context > 2], axis=1)
    >>> features = np.zeros((60, 3, 0))
    >>> reward = lw.rewards.AnySuccess(success)
    >>> problems = lw.Problems.from_arrays(features, context=context, catalogue=[0, 1, 2], reward=reward)
    >>> ForestCover(n_estimators=20, length=1, random_state=0).fit(problems[:50]).score(problems[50:])
    1.0
    """

    def __init__(
        self,
        n_estimators: int = 200,
        length: int = 5,
        *,
        budget: float | None = None,
        per_group: PerGroup = None,
        min_samples_leaf: int = 2,
        back_off: float = 0.1,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(length, budget=budget, per_group=per_group)
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.back_off = back_off
        self.random_state = random_state

    def _check_parameters(self, problems: Problems) -> None:
        at_least_one("n_estimators", self.n_estimators)
        at_least_one("min_samples_leaf", self.min_samples_leaf)
        if not self.back_off >= 0:
            raise InputError(f"back_off must be 0 or more. Got {self.back_off!r}.")

    def _learn_weights(self, states: Floats, problems: Problems) -> None:
        gains = by_item(problems, gains_alone(problems), self.cover_.n_items, missing=0.0)
        seed = int(as_generator(self.random_state).integers(2**31))
        self.forest_ = Forest(self.n_estimators, self.min_samples_leaf).fit(states, gains, seed)

    def _weights(self, states: Floats) -> Floats:
        return self.forest_.likeness(states) + self.back_off / self.cover_.n_problems


@saved_as("baselines.SuccessCover")
@dataclass(frozen=True, eq=False)
class SuccessCover:
    """What items gain over the training problems, whose lists grow with each list that is built, by `AnySuccess`."""

    # The state is the weight of the problems that each list still fails, (lists, training problems).

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
    reward_state: Any


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
        reward_state = reward_of(copies).start(copies)
        return FoldState(copies, lists, weights[lists, which], len(weights), reward_state)

    def gains(self, state: FoldState) -> Floats:
        copies = state.copies
        gains = reward_of(copies).gains(state.reward_state) * state.weights[copies.owners]
        cells = state.lists[copies.owners] * self.n_items + items_of(copies)
        sums = np.bincount(cells, gains, minlength=state.n_lists * self.n_items)
        return np.asarray(sums, dtype=np.float64).reshape(state.n_lists, self.n_items)

    def add(self, state: FoldState, items: Ints) -> FoldState:
        copies = state.copies
        taken = np.flatnonzero(items_of(copies) == items[state.lists][copies.owners])
        picks = np.full(len(copies), -1)
        picks[copies.owners[taken]] = taken
        return state._replace(reward_state=reward_of(copies).add(state.reward_state, picks))


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
            "These problems have no features that describe them as a whole. Name context=, of a frame's columns or "
            f"of Problems.from_arrays, or give features of the whole catalogue ({n_items} candidates) in every problem."
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
