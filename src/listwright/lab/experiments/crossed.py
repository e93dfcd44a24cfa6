"""Products of a candidate's features with its problem's context."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Floats32
from listwright.errors import InputError
from listwright.features.base import Features, Scale
from listwright.problems import Problems


class CrossedSeen(NamedTuple):
    """The products, which no pick changes."""

    problems: Problems
    table: Floats32


class CandidateByContext(Features):
    """Every feature times every number of the context: what a linear policy needs to serve each context its own way.

    Examples
    --------
    >>> problems = Problems.from_arrays([[1.0, 2.0], [3.0, 4.0]], offsets=[0, 1, 2], context=[[1.0], [0.0]])
    >>> feature = CandidateByContext(standardize=False).fit(problems)
    >>> feature.columns(feature.start(problems))
    array([[1., 2.],
           [0., 0.]], dtype=float32)
    """

    group = "relevance in this context"

    def __init__(self, *, standardize: bool = True) -> None:
        self.standardize = standardize

    def fit(self, problems: Problems) -> Self:
        """Learns the scales."""
        self.scale_ = Scale.of(_products(problems), standardize=self.standardize)
        return self

    def start(self, problems: Problems) -> CrossedSeen:
        """The scaled products."""
        return CrossedSeen(problems, self.scale_.apply(_products(problems)))

    def columns(self, seen: CrossedSeen) -> Floats32:
        """The same at every position."""
        return seen.table


def _products(problems: Problems) -> Floats32:
    if problems.context is None:
        raise InputError("Features are to be crossed with the context, but these problems have none.")
    products = problems.features[:, :, None] * problems.context[problems.owners][:, None, :]
    return np.ascontiguousarray(products.reshape(problems.n_rows, -1), dtype=np.float32)
