"""A candidate's own features times the paper's first-position indicator."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Floats32, Ints
from listwright._internal.saved import saved_as
from listwright.features.base import Features
from listwright.features.candidate import feature_names
from listwright.features.scale import Moments, Scale, dense
from listwright.problems import Problems


class FirstPositionSeen(NamedTuple):
    """The scaled features, and the length of each list."""

    problems: Problems
    table: Floats32
    lengths: Ints


@saved_as("features.FirstPosition")
class FirstPosition(Features):
    """The candidate's own features while the list is empty, and 0 from then on.

    Together with `Candidate`, it gives a linear policy one set of weights for the first position and another for the
    rest. The paper's indicator by itself (`Position`) adds the same number to every candidate of a state, so that it
    cannot change which of them is picked; the products can. On the paper's robot-arm data they make up for what
    separate predictors for each position (`ConSeqOpt`) have over one linear policy: see "Why ConSeqOpt leads at
    lengths 2 to 4" on the page about the algorithm.

    Parameters
    ----------
    standardize : bool
        Subtract the mean and divide by the standard deviation of the training rows.

    See Also
    --------
    Position : The bias and the indicator as the paper lists them.

    Examples
    --------
    >>> problems = Problems.from_arrays([[1.0], [3.0]], offsets=[0, 2])
    >>> feature = FirstPosition().fit(problems)
    >>> empty = feature.start(problems)
    >>> feature.columns(empty)
    array([[-1.],
           [ 1.]], dtype=float32)
    >>> feature.columns(feature.add(empty, np.array([1])))
    array([[0.],
           [0.]], dtype=float32)
    """

    group = "position"

    def __init__(self, *, standardize: bool = True) -> None:
        self.standardize = standardize

    def summary(self, problems: Problems) -> dict[str, Any]:
        """Moments of the columns."""
        return {"features": Moments.of(dense(problems.features)), "names": tuple(feature_names(problems))}

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        """Learn the scales."""
        self.scale_ = Scale.from_moments(summary["features"], standardize=self.standardize)
        self.names_ = [f"{name}, first position" for name in summary["names"]]
        return self

    def start(self, problems: Problems) -> FirstPositionSeen:
        """All lists are empty."""
        table = self.scale_.apply(problems.features)
        return FirstPositionSeen(problems, table, np.zeros(len(problems), dtype=np.int64))

    def columns(self, seen: FirstPositionSeen) -> Floats32:
        """Return the scaled features where the list is empty, 0 elsewhere."""
        empty = (seen.lengths == 0)[seen.problems.owners]
        return np.where(empty[:, None], seen.table, np.float32(0.0))

    def add(self, seen: FirstPositionSeen, picks: Ints) -> FirstPositionSeen:
        """Lengthen the lists that have a pick by one."""
        return seen._replace(lengths=seen.lengths + (picks >= 0))

    def names(self) -> list[str]:
        """One name per feature."""
        return self.names_
