"""Maximal marginal relevance, and what it shares with `DPP`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats
from listwright._internal.quotas import PerGroup
from listwright._internal.saved import saved_as
from listwright._kernels.cosines import Space, centrality
from listwright._kernels.mmr import mmr_lists
from listwright.baselines.base import Baseline, as_lists
from listwright.baselines.top_k import TopK, check_relevance, column_of, column_values
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.walk.constraints import Constraints


class Diverse(Baseline):
    def __init__(self, relevance: Any, length: int, *, budget: float | None, per_group: PerGroup) -> None:
        super().__init__(length, budget=budget, per_group=per_group)
        self.relevance = relevance

    def _check_parameters(self, problems: Problems) -> None:
        if problems.vectors is None and not problems.n_features:
            raise InputError("Cosines need vectors or features, but these problems have none.")
        if self.relevance is not None:
            check_relevance(self.relevance, problems, "relevance")

    def _learns(self, problems: Problems) -> bool:
        return self.relevance is not None and column_of(self.relevance, problems) is None

    def _learn(self, problems: Problems) -> None:
        self.top_k_ = TopK(self.relevance, random_state=0).fit(problems)

    def _relevance(self, problems: Problems, space: Space) -> Floats:
        """Return by row the cosine to the centre of its problem, a column as it is, or the learned gain."""
        if self.relevance is None:
            return centrality(problems.offsets, space, vectors_of(problems).shape[1])
        column = column_of(self.relevance, self.signature_)
        if column is not None:
            return column_values(problems, column)
        return _from_0_to_1(self.top_k_.relevance(problems), problems)


@saved_as("baselines.MMR")
class MMR(Diverse):
    """Maximal marginal relevance (Carbonell & Goldstein 1998).

    After the most relevant row, each pick has the highest (1 - diversity) * relevance - diversity * (highest cosine to
    the list). It is the usual way to remove near copies from search results, and needs no training with a column as
    relevance. What a list is worth plays no part: where rewards are known, `SCP` learns the trade-off instead. Cosines
    are between `problems.vectors`, or features without them.

    Parameters
    ----------
    diversity : float
        0 is relevance only, 1 diverse only.
    relevance : str, int, estimator or None
        None is the cosine to the mean direction of the problem's vectors. The name or number of a feature is used as it
        is. An estimator as in `TopK` predicts what an item gains, scaled from 0 to 1 within each problem.
    length, budget, per_group
        Limits of a list: see `Baseline`.

    See Also
    --------
    TopK : Relevance only.
    DPP : Looks at the whole list.

    Examples
    --------
    >>> vectors = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]
    >>> problems = Problems.from_arrays([[0.9], [0.8], [0.3]], offsets=[0, 3], vectors=vectors)
    >>> MMR(0.5, relevance=0, length=2).fit(problems).predict(problems)[0]
    array([0, 2])
    """

    def __init__(
        self,
        diversity: float = 0.5,
        relevance: Any = None,
        length: int = 5,
        *,
        budget: float | None = None,
        per_group: PerGroup = None,
    ) -> None:
        super().__init__(relevance, length, budget=budget, per_group=per_group)
        self.diversity = diversity

    def _check_parameters(self, problems: Problems) -> None:
        if not 0 <= self.diversity <= 1:
            raise InputError(f"diversity must be between 0 (relevance only) and 1. Got {self.diversity!r}.")
        super()._check_parameters(problems)

    def _lists(self, problems: Problems, steps: int, budgets: Floats | None) -> Lists:
        space, limits = space_of(problems), Constraints(problems, budgets, steps).limits()
        relevance, diversity = self._relevance(problems, space), float(self.diversity)
        return as_lists(problems, *mmr_lists(problems.offsets, relevance, space, limits, diversity, steps))


def vectors_of(problems: Problems) -> Any:
    return problems.features if problems.vectors is None else problems.vectors


def space_of(problems: Problems) -> Space:
    vectors = vectors_of(problems)
    none, inverse = np.zeros(0, dtype=np.int64), np.empty(problems.n_rows)
    if not sparse.issparse(vectors):
        return Space(np.ascontiguousarray(vectors), none, none, np.zeros(0, dtype=np.float32), inverse)
    table = vectors if vectors.has_sorted_indices else vectors.sorted_indices()
    starts, columns = table.indptr.astype(np.int64), table.indices.astype(np.int64)
    return Space(np.zeros((0, 0), dtype=np.float32), starts, columns, table.data, inverse)


def _from_0_to_1(values: Floats, problems: Problems) -> Floats:
    low = np.minimum.reduceat(values, problems.offsets[:-1])[problems.owners]
    span = np.maximum.reduceat(values, problems.offsets[:-1])[problems.owners] - low
    return np.divide(values - low, span, out=np.zeros_like(values), where=span > 0)
