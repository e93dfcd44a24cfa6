"""`ForestCover`: the greedy list over the training problems that a forest finds similar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from listwright._internal.arrays import Floats, RandomState, as_generator
from listwright._internal.limits import at_least_one
from listwright._internal.saved import saved_as
from listwright.baselines.states import by_item, gains_alone
from listwright.baselines.weighted_cover import WeightedCover
from listwright.errors import InputError
from listwright.features.outcomes import Forest
from listwright.problems import Problems


@saved_as("baselines.ForestCover")
class ForestCover(WeightedCover):
    """Builds the list that gains most over training problems, weighted by how similar a forest finds them.

    Training problems are weighed by how often they share a leaf with the new problem, in a forest of extra-trees that
    predicts what every item gains alone. Use it for a catalogue of recurring items, such as solvers, with a context per
    problem. Without a context, problems are seen by the features of the whole catalogue. It keeps its training
    problems, so that it can be saved only for the reward `AnySuccess`, where a table of successes stands for them.

    Parameters
    ----------
    n_estimators, min_samples_leaf : int
        Size of the forest and of its leaves.
    length : int
        Number of items of a list.
    budget : float, optional
        Total size of a list, which takes the place of length. Items that do not fit are skipped.
    per_group : int, dict or None
        How many items of a group a list holds at most: see `Problems.capped`.
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
    >>> import numpy as np
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
        per_group: int | Mapping[Any, int] | None = None,
        min_samples_leaf: int = 2,
        back_off: float = 0.1,
        random_state: RandomState = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.length = length
        self.budget = budget
        self.per_group = per_group
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
