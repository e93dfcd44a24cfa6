"""Terms of the query that the list leaves uncovered and that a candidate would cover (residual coverage)."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats32, Ints
from listwright._internal.saved import saved_as
from listwright._kernels.needs import unmet_rows
from listwright.errors import InputError
from listwright.features.base import Features
from listwright.problems import Problems
from listwright.query_terms import QueryTerms

NAMES = ("newly covered terms", "newly covered by the best part", "covered with the list", "left uncovered by the list")


class UncoveredTermsSeen(NamedTuple):
    problems: Problems
    query_terms: QueryTerms
    covered: NDArray[np.uint64]  # by problem, as bits


@saved_as("features.UncoveredTerms")
class UncoveredTerms(Features):
    """What a candidate would cover of the query terms that the list leaves uncovered (residual coverage).

    With w(N) the summed weight of terms N as a share of all of the problem's, M the terms that the list covers, and S
    those that a candidate covers, the columns are w(S - M), the same for the best single part of the candidate (a
    sentence that answers the rest of a question), w(S + M) and 1 - w(M). They come from `problems.query_terms`.

    See Also
    --------
    Aspects : for aspects that candidates answer by degrees.
    listwright.text.question_problems : makes such problems from questions and passages.

    Examples
    --------
    >>> import listwright as lw
    >>> query_terms = lw.QueryTerms.from_lists([[1.0, 3.0]], [[[0], [0, 1]], [[1]], []])
    >>> problems = lw.Problems.from_arrays([[0.0]] * 3, offsets=[0, 3], query_terms=query_terms)
    >>> feature = UncoveredTerms().fit(problems)
    >>> feature.columns(feature.add(feature.start(problems), np.array([1])))
    array([[0.25, 0.25, 1.  , 0.25],
           [0.  , 0.  , 0.75, 0.25],
           [0.  , 0.  , 0.75, 0.25]], dtype=float32)
    """

    group = "uncovered query terms"

    def summary(self, problems: Problems) -> dict[str, Any]:
        return {"query_terms": problems.query_terms is not None}

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        if not summary["query_terms"]:
            raise InputError(
                "UncoveredTerms needs problems with query terms. Pass query_terms=QueryTerms.from_lists(...)."
            )
        return self

    def start(self, problems: Problems) -> UncoveredTermsSeen:
        if problems.query_terms is None:
            raise InputError("These features were fitted to problems with query terms, and these problems have none.")
        return UncoveredTermsSeen(problems, problems.query_terms, np.zeros(len(problems), dtype=np.uint64))

    def columns(self, seen: UncoveredTermsSeen) -> Floats32:
        table = np.empty((seen.problems.n_rows, len(NAMES)), dtype=np.float32)
        terms = seen.query_terms
        unmet_rows(seen.problems.offsets, terms.starts, terms.parts, terms.wholes, terms.weights, seen.covered, table)
        return table

    def add(self, seen: UncoveredTermsSeen, picks: Ints) -> UncoveredTermsSeen:
        some = np.flatnonzero(picks >= 0)
        covered = seen.covered.copy()
        covered[some] |= seen.query_terms.wholes[picks[some]]
        return seen._replace(covered=covered)

    def names(self) -> list[str]:
        return list(NAMES)
