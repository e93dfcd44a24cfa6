"""Products of a candidate's features with its problem's context, used by the news experiment.

A linear policy cannot otherwise rank candidates differently in different contexts, because the context is the same for
all candidates of a problem.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Floats32
from listwright.errors import InputError
from listwright.features.base import Features
from listwright.features.scale import Scale
from listwright.problems import Problems


class CrossedSeen(NamedTuple):
    """The state of `CandidateByContext` for a batch of problems: the scaled products, which no pick changes."""

    problems: Problems
    table: Floats32


class CandidateByContext(Features):
    """Every feature of a candidate times every number of the context."""

    group = "relevance in this context"

    def __init__(self, *, standardize: bool = True) -> None:
        self.standardize = standardize

    def fit(self, problems: Problems) -> Self:
        """Learn the scales of the products on training problems."""
        self.scale_ = Scale.of(_products(problems), standardize=self.standardize)
        return self

    def start(self, problems: Problems) -> CrossedSeen:
        """Return the scaled products for new problems."""
        return CrossedSeen(problems, self.scale_.apply(_products(problems)))

    def columns(self, seen: CrossedSeen) -> Floats32:
        """Return the products; they are the same at every position of the list."""
        return seen.table


def _products(problems: Problems) -> Floats32:
    """Return the products, shape (candidates, features x context); raise if the problems have no context."""
    if problems.context is None:
        raise InputError("Features are to be crossed with the context, but these problems have none.")
    products = problems.features[:, :, None] * problems.context[problems.owners][:, None, :]
    return np.ascontiguousarray(products.reshape(problems.n_rows, -1), dtype=np.float32)
