"""Cosines of a candidate's vector to its problem and to the list."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Floats32, Ints, row_dots, unit_rows
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features.base import Features
from listwright.problems import Problems


class SimilaritySeen(NamedTuple):
    problems: Problems
    unit: Any  # (rows, v), dense or CSR, of length 1
    still: Floats  # (rows, 1 or 2): cosines that no pick changes
    best: Floats  # by row: highest cosine to an item of the list
    total: Floats
    lengths: Ints  # length of each list


@saved_as("features.Similarity")
class Similarity(Features):
    """Cosines of a candidate's vector to the problem's own vector, to the centre of its candidates, and to the list.

    Coordinates of an embedding mean nothing by themselves where problems do not share items, so that weights on them
    fit noise; likenesses mean the same in every problem. The problem's own vector (of a question, a query, a user) is
    its context, where that has as many columns as the vectors. A policy on a relevance and the highest cosine to the
    list holds maximal marginal relevance (MMR) at every trade-off.

    Attributes
    ----------
    own_ : bool
        Whether problems have a vector of their own.

    See Also
    --------
    Links : also counts what a candidate reaches, at the cost of all cosines within a problem.

    Examples
    --------
    >>> import listwright as lw
    >>> vectors = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    >>> problems = lw.Problems.from_arrays([[0.0]] * 3, offsets=[0, 3], vectors=vectors, context=[[2.0, 0.0]])
    >>> feature = Similarity().fit(problems)
    >>> feature.names()
    ['cosine to the problem', 'cosine to the centre', 'highest cosine in the list', 'mean cosine to the list']
    >>> feature.columns(feature.add(feature.start(problems), np.array([0]))).round(2)
    array([[1.  , 0.89, 1.  , 1.  ],
           [1.  , 0.89, 1.  , 1.  ],
           [0.  , 0.45, 0.  , 0.  ]], dtype=float32)
    """

    group = "likeness"

    def summary(self, problems: Problems) -> dict[str, Any]:
        return {"vectors": problems.vectors is not None, "own": has_own_vector(problems)}

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        if not summary["vectors"]:
            raise InputError("Similarity needs vectors, but these problems have none.")
        self.own_ = bool(summary["own"])
        return self

    def start(self, problems: Problems) -> SimilaritySeen:
        unit = unit_rows(problems.vectors)
        centres = unit_rows(_sums(unit, problems))
        still = [_dots(unit, centres, problems.owners)]
        if self.own_:
            still.insert(0, _dots(unit, unit_rows(problems.context), problems.owners))
        nothing = np.zeros(problems.n_rows)
        return SimilaritySeen(
            problems, unit, np.stack(still, axis=1), nothing, nothing, np.zeros(len(problems), np.int64)
        )

    def columns(self, seen: SimilaritySeen) -> Floats32:
        mean = seen.total / np.maximum(seen.lengths, 1)[seen.problems.owners]
        return np.column_stack([seen.still, seen.best, mean]).astype(np.float32)

    def add(self, seen: SimilaritySeen, picks: Ints) -> SimilaritySeen:
        some = picks >= 0
        cosines = _dots(seen.unit, seen.unit[np.where(some, picks, 0)], seen.problems.owners)
        here = some[seen.problems.owners]
        first = (seen.lengths == 0)[seen.problems.owners]
        best = np.where(first, cosines, np.maximum(seen.best, cosines))
        return seen._replace(
            best=np.where(here, best, seen.best),
            total=np.where(here, seen.total + cosines, seen.total),
            lengths=seen.lengths + some,
        )

    def names(self) -> list[str]:
        own = ["cosine to the problem"] if self.own_ else []
        return [*own, "cosine to the centre", "highest cosine in the list", "mean cosine to the list"]


def has_own_vector(problems: Problems) -> bool:
    """Return whether candidates can be compared with the context: more than one column, as many as theirs."""
    if problems.vectors is None or problems.context is None:
        return False
    return problems.context.shape[1] == problems.vectors.shape[1] > 1


def _sums(unit: Any, problems: Problems) -> Any:
    """(problems, v): the sum of each problem's vectors."""
    if not sparse.issparse(unit):
        return np.add.reduceat(unit, problems.offsets[:-1], axis=0)
    ones = np.ones(problems.n_rows, dtype=np.float32)
    members = sparse.csr_array((ones, np.arange(problems.n_rows), problems.offsets), shape=(len(problems), len(ones)))
    return sparse.csr_array(members @ unit)


def _dots(unit: Any, others: Any, owners: Ints) -> Floats:
    """By row: its product with the row of `others` that belongs to its problem."""
    if sparse.issparse(unit) or sparse.issparse(others):
        return row_dots(sparse.csr_array(unit), sparse.csr_array(others)[owners])
    return row_dots(unit, others[owners]).astype(np.float64)
