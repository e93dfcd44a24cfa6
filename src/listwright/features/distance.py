"""Absolute differences between a candidate and the items of the list, feature by feature."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Floats32, Ints
from listwright._internal.saved import saved_as
from listwright._kernels.rows import nearer
from listwright.errors import InputError
from listwright.features.base import Features
from listwright.features.candidate import feature_names
from listwright.features.scale import Moments, Scale, dense
from listwright.problems import Problems


class DistanceSeen(NamedTuple):
    problems: Problems
    table: Floats32  # scaled features
    smallest: Floats32  # (rows, d): smallest and summed differences to the list so far
    total: Floats32
    lengths: Ints


@saved_as("features.Distance")
class Distance(Features):
    """For each feature the minimum and the mean absolute difference to the items of the list; 0 while it is empty.

    These are the list features of the paper's trajectory experiment. They suit a few meaningful features; where
    candidates have embeddings use `Similarity`, `Links` or `Volume`, because differences of single coordinates mean
    little.

    Parameters
    ----------
    minimum, mean : bool
        Which of the two to give.
    standardize : bool
        Measure in standard deviations of the training rows.

    Attributes
    ----------
    scale_ : Scale
        Scale of the features.

    Raises
    ------
    InputError
        By `fit`, if both `minimum` and `mean` are False.

    See Also
    --------
    Similarity : Cosines of vectors to the list.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays([[1.0], [3.0], [4.0]], offsets=[0, 3])
    >>> feature = Distance(standardize=False).fit(problems)
    >>> seen = feature.add(feature.add(feature.start(problems), np.array([0])), np.array([2]))
    >>> feature.columns(seen)
    array([[0. , 1.5],
           [1. , 1.5],
           [0. , 1.5]], dtype=float32)
    """

    group = "distance to the list"

    def __init__(self, *, minimum: bool = True, mean: bool = True, standardize: bool = True) -> None:
        self.minimum = minimum
        self.mean = mean
        self.standardize = standardize

    def summary(self, problems: Problems) -> dict[str, Any]:
        return {"features": Moments.of(dense(problems.features)), "names": tuple(feature_names(problems))}

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        if not (self.minimum or self.mean):
            raise InputError("Distance has no columns with minimum=False and mean=False. Set one of them to True.")
        self.scale_ = Scale.from_moments(summary["features"], standardize=self.standardize)
        self.feature_names_ = list(summary["names"])
        return self

    def start(self, problems: Problems) -> DistanceSeen:
        table = self.scale_.apply(problems.features)
        nothing = np.zeros_like(table)
        return DistanceSeen(problems, table, nothing, nothing, np.zeros(len(problems), dtype=np.int64))

    def columns(self, seen: DistanceSeen) -> Floats32:
        n, d = seen.table.shape
        columns = np.empty((n, d * (self.minimum + self.mean)), dtype=np.float32)
        if self.minimum:
            columns[:, :d] = seen.smallest
        if self.mean:
            lengths = np.maximum(seen.lengths, 1).astype(np.float32)
            np.divide(seen.total, lengths[seen.problems.owners][:, None], out=columns[:, -d:] if d else columns)
        return columns

    def add(self, seen: DistanceSeen, picks: Ints) -> DistanceSeen:
        smallest, total = seen.smallest.copy(), seen.total.copy()
        nearer(picks, seen.problems.offsets, seen.table, smallest, total, seen.lengths)
        return seen._replace(smallest=smallest, total=total, lengths=seen.lengths + (picks >= 0))

    def names(self) -> list[str]:
        kinds = [kind for kind, wanted in (("minimum", self.minimum), ("mean", self.mean)) if wanted]
        return [f"{kind} distance in {name}" for kind in kinds for name in self.feature_names_]
