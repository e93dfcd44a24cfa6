"""A candidate's own features and its problem's context: the part of a policy that does not depend on the list."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from listwright._internal.saved import saved_as
from listwright.features.base import StaticFeatures, TableSeen
from listwright.features.scale import Moments, Scale, dense
from listwright.problems import Problems


@saved_as("features.Candidate")
class Candidate(StaticFeatures):
    """The candidate's own features and the context of its problem; the list does not change them.

    The part of nearly every policy that measures relevance. Alone it can only sort candidates; add `Distance`,
    `Similarity` or another feature of the list, so that the policy can avoid redundancy. A linear learner that compares
    candidates within a problem ignores the context columns; trees use them.

    Parameters
    ----------
    standardize : bool
        Subtract the mean and divide by the standard deviation of the training rows.

    Attributes
    ----------
    scale_ : Scale
        Scale of the features.
    context_scale_ : Scale or None
        Scale of the context, where there is one.
    names_ : list of str
        Names of the columns.

    See Also
    --------
    BestColumn : Only the most informative column.
    FirstPosition : Separate weights for the first position.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays([[1.0], [3.0]], offsets=[0, 2])
    >>> seen = (feature := Candidate().fit(problems)).start(problems)
    >>> feature.columns(seen)
    array([[-1.],
           [ 1.]], dtype=float32)
    """

    group = "relevance"

    def __init__(self, *, standardize: bool = True) -> None:
        self.standardize = standardize

    def summary(self, problems: Problems) -> dict[str, Any]:
        context = None if problems.context is None else Moments.of(problems.context)
        moments = Moments.of(dense(problems.features))  # first, as it refuses what is too wide
        return {"features": moments, "context": context, "names": tuple(feature_names(problems))}

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        context = summary["context"]
        self.scale_ = Scale.from_moments(summary["features"], standardize=self.standardize)
        self.context_scale_ = None if context is None else Scale.from_moments(context, standardize=self.standardize)
        self.names_ = [*summary["names"], *(f"context {i}" for i in range(0 if context is None else len(context.mean)))]
        return self

    def start(self, problems: Problems) -> TableSeen:
        table = self.scale_.apply(problems.features)
        if self.context_scale_ is not None and problems.context is not None:
            table = np.concatenate([table, self.context_scale_.apply(problems.context)[problems.owners]], axis=1)
        return TableSeen(problems, table)

    def names(self) -> list[str]:
        return self.names_


def feature_names(problems: Problems) -> list[str]:
    return list(problems.feature_names or (f"feature {i}" for i in range(problems.n_features)))
