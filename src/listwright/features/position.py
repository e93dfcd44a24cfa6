"""The position in the list: bias and first position, and features crossed with the first position."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Floats32, Ints
from listwright._internal.saved import saved_as
from listwright.features.base import Features
from listwright.features.candidate import feature_names
from listwright.features.scale import Moments, Scale, dense
from listwright.problems import Problems


class PositionSeen(NamedTuple):
    problems: Problems
    lengths: Ints  # of the lists
    table: Any = None  # what is shown at the first position only


@saved_as("features.Position")
class Position(Features):
    """A bias of 1, and a flag that is 1 at the first position (the paper's indicator).

    Both columns are the same for all candidates of a problem. The default ridge learner compares candidates within a
    problem, so it gives them a weight of exactly 0. They act in learners that are not linear, such as boosted trees,
    and in `RidgeFTRL(center=False)`, the paper's printed loss.

    See Also
    --------
    FirstPosition : Products with the features, which do change a linear policy.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays([[1.0], [3.0]], offsets=[0, 2])
    >>> feature = Position()
    >>> feature.columns(feature.start(problems))
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """

    group = "position"

    def start(self, problems: Problems) -> PositionSeen:
        return PositionSeen(problems, np.zeros(len(problems), dtype=np.int64))

    def columns(self, seen: PositionSeen) -> Floats32:
        table = np.ones((len(seen.problems.owners), 2), dtype=np.float32)
        table[:, 1] = (seen.lengths == 0)[seen.problems.owners]
        return table

    def add(self, seen: PositionSeen, picks: Ints) -> PositionSeen:
        return seen._replace(lengths=seen.lengths + (picks >= 0))

    def names(self) -> list[str]:
        return ["bias", "first position"]


@saved_as("features.FirstPosition")
class FirstPosition(Position):
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

    def __init__(self, *, standardize: bool = True) -> None:
        self.standardize = standardize

    def summary(self, problems: Problems) -> dict[str, Any]:
        return {"features": Moments.of(dense(problems.features)), "names": tuple(feature_names(problems))}

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        self.scale_ = Scale.from_moments(summary["features"], standardize=self.standardize)
        self.names_ = [f"{name}, first position" for name in summary["names"]]
        return self

    def start(self, problems: Problems) -> PositionSeen:
        return super().start(problems)._replace(table=self.scale_.apply(problems.features))

    def columns(self, seen: PositionSeen) -> Floats32:
        empty = (seen.lengths == 0)[seen.problems.owners]
        return np.where(empty[:, None], seen.table, np.float32(0.0))

    def names(self) -> list[str]:
        return self.names_
