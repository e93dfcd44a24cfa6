"""`NearestCover` and `ForestCover`: the greedy list over the training problems that resemble the new one."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import scipy

from listwright._internal.arrays import Floats, RandomState, as_generator, at_least_one
from listwright._internal.saved import saved_as
from listwright._internal.threads import one_thread
from listwright.baselines.base import Baseline, PerGroup, as_lists
from listwright.baselines.cover import FoldCover, by_item, cover_lists, cover_of, gains_alone, state_table, static_order
from listwright.errors import InputError
from listwright.features.outcomes import Forest
from listwright.features.scale import Scale
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.training.signature import with_catalogue
from listwright.walk.constraints import Constraints

CELLS = 4_000_000  # training outcomes looked at in one go


class WeightedCover(Baseline):
    """Builds lists that gain most over weighted training problems; subclasses say how much each of these counts.

    New problems are processed in chunks, so that the table of weights and gains stays small.
    """

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
