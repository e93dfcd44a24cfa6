"""`NearestCover`: the greedy list over the nearest training problems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy

from listwright._internal.arrays import Floats
from listwright._internal.limits import at_least_one
from listwright._internal.saved import saved_as
from listwright.baselines.weighted_cover import WeightedCover
from listwright.problems import Problems


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
    length : int
        Number of items of a list.
    budget : float, optional
        Total size of a list, which takes the place of length. Items that do not fit are skipped.
    per_group : int, dict or None
        How many items of a group a list holds at most: see `Problems.capped`.

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
        self,
        n_neighbors: int = 16,
        length: int = 5,
        *,
        budget: float | None = None,
        per_group: int | Mapping[Any, int] | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.length = length
        self.budget = budget
        self.per_group = per_group

    def _check_parameters(self, problems: Problems) -> None:
        at_least_one("n_neighbors", self.n_neighbors)

    def _learn_weights(self, states: Floats, problems: Problems) -> None:
        self.states_ = states

    def _weights(self, states: Floats) -> Floats:
        """Returns 1 for the nearest training problems, the first among equally near ones, and 0 for all others."""
        order = np.argsort(scipy.spatial.distance.cdist(states, self.states_, "sqeuclidean"), axis=1, kind="stable")
        weights = np.zeros(order.shape)
        np.put_along_axis(weights, order[:, : self.n_neighbors], 1.0, axis=1)
        return weights
