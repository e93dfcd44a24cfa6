"""What MMR and DPP share: cosines between candidates, and how relevant each is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats
from listwright._kernels.cosines import Space, centrality
from listwright.baselines.base import Baseline
from listwright.baselines.models import check_relevance, column_of, column_values
from listwright.baselines.top_k import TopK
from listwright.errors import InputError
from listwright.problems import Problems


class Diverse(Baseline):
    """Base of `MMR` and `DPP`, which weigh relevance against cosines."""

    def __init__(
        self, relevance: Any, length: int, *, budget: float | None, per_group: int | Mapping[Any, int] | None
    ) -> None:
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
        """Return one number per row: the cosine to the centre of its problem, a column as it is, or the learned
        gain.
        """
        if self.relevance is None:
            vectors = problems.features if problems.vectors is None else problems.vectors
            return centrality(problems.offsets, space, vectors.shape[1])
        column = column_of(self.relevance, self.signature_)
        if column is not None:
            return column_values(problems, column)
        return _from_0_to_1(self.top_k_.relevance(problems), problems)


def space_of(problems: Problems) -> Space:
    """Return the vectors, dense or sparse, in the form that the compiled kernels take."""
    vectors = problems.features if problems.vectors is None else problems.vectors
    none, inverse = np.zeros(0, dtype=np.int64), np.empty(problems.n_rows)
    if not sparse.issparse(vectors):
        return Space(np.ascontiguousarray(vectors), none, none, np.zeros(0, dtype=np.float32), inverse)
    table = vectors if vectors.has_sorted_indices else vectors.sorted_indices()
    starts, columns = table.indptr.astype(np.int64), table.indices.astype(np.int64)
    return Space(np.zeros((0, 0), dtype=np.float32), starts, columns, table.data, inverse)


def _from_0_to_1(values: Floats, problems: Problems) -> Floats:
    """Scales values to 0-1 within each problem, so that learned gains and cosines can be weighed against each other."""
    low = np.minimum.reduceat(values, problems.offsets[:-1])[problems.owners]
    span = np.maximum.reduceat(values, problems.offsets[:-1])[problems.owners] - low
    return np.divide(values - low, span, out=np.zeros_like(values), where=span > 0)
