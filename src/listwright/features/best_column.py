"""The single feature that correlates best with the gain of a candidate alone."""

from __future__ import annotations

from typing import Self

import numpy as np

from listwright._internal.saved import saved_as
from listwright._kernels.rows import center
from listwright.errors import InputError
from listwright.features.base import StaticFeatures, TableSeen
from listwright.features.candidate import feature_names
from listwright.features.scale import Scale, dense
from listwright.problems import Problems
from listwright.rewards import reward_of


@saved_as("features.BestColumn")
class BestColumn(StaticFeatures):
    """The feature that goes best with what candidates gain alone, compared within their problems, and no other.

    A policy on this sorts by one column. That is what every other policy has to be ahead of, and what is left where the
    training problems are too few to learn more from: `SCP(effort="auto")` tries it.

    Attributes
    ----------
    column_ : int
        Index of the feature.
    name_ : str
        Its name.
    scale_ : Scale
        Its scale.

    Raises
    ------
    InputError
        By `fit`, if the problems have no features or no reward.

    See Also
    --------
    Candidate : all features.
    Similarity : what makes a policy on one column prefer what is unlike the list, as MMR does.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = lw.rewards.AnySuccess([0, 1, 0, 1])
    >>> table = [[5.0, 0.1], [5.0, 0.8], [4.0, 0.3], [3.0, 0.9]]
    >>> problems = lw.Problems.from_arrays(table, offsets=[0, 2, 4], reward=reward, feature_names=["price", "match"])
    >>> BestColumn().fit(problems).names()
    ['match']
    """

    group = "relevance"

    def fit(self, problems: Problems) -> Self:
        """Take the highest absolute correlation to the gains alone, both centred within problems."""
        if not problems.n_features:
            raise InputError("BestColumn needs features, but these problems have none.")
        reward = reward_of(problems, "BestColumn")
        table = np.array(dense(problems.features), dtype=np.float64, order="C")
        gains = np.array(reward.gains(reward.start(problems))[:, None], dtype=np.float64, order="C")
        for values in (table, gains):
            center(values, problems.offsets, values)
        spreads = np.sqrt((table**2).sum(axis=0))
        likeness = np.abs(gains[:, 0] @ table) / np.where(spreads > 1e-9, spreads, np.inf)
        self.column_ = int(np.argmax(likeness))
        self.name_ = feature_names(problems)[self.column_]
        self.scale_ = Scale.of(dense(problems.features)[:, [self.column_]])
        return self

    def start(self, problems: Problems) -> TableSeen:
        return TableSeen(problems, self.scale_.apply(dense(problems.features)[:, [self.column_]]))

    def names(self) -> list[str]:
        return [self.name_]
