"""Terms of the query that the list leaves unmet and that a candidate would meet (residual coverage)."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats32, Ints
from listwright._internal.saved import saved_as
from listwright._kernels.needs import unmet_rows
from listwright.errors import InputError
from listwright.features.base import Features
from listwright.needs import QueryTerms
from listwright.problems import Problems

NAMES = ("newly met needs", "newly met by the best part", "met with the list", "left unmet by the list")


class UnmetSeen(NamedTuple):
    """The problems, their needs, and as bits of one integer per problem which needs the list meets."""

    problems: Problems
    needs: QueryTerms
    met: NDArray[np.uint64]  # by problem, as bits


@saved_as("features.UncoveredTerms")
class UncoveredTerms(Features):
    """What a candidate would meet of the needs that the list leaves unmet (residual coverage).

    With w(N) the summed weight of needs N as a share of all of the problem's, M the needs that the list meets, and S
    those that a candidate meets, the columns are w(S - M), the same for the best single part of the candidate (a
    sentence that answers the rest of a question), w(S + M) and 1 - w(M). They come from `problems.needs`.

    See Also
    --------
    Aspects : for aspects that candidates answer by degrees.
    listwright.text.question_problems : makes such problems from questions and passages.

    Examples
    --------
    >>> import listwright as lw
    >>> needs = lw.QueryTerms.from_lists([[1.0, 3.0]], [[[0], [0, 1]], [[1]], []])
    >>> problems = lw.Problems.from_arrays([[0.0]] * 3, offsets=[0, 3], needs=needs)
    >>> feature = UncoveredTerms().fit(problems)
    >>> feature.columns(feature.add(feature.start(problems), np.array([1])))
    array([[0.25, 0.25, 1.  , 0.25],
           [0.  , 0.  , 0.75, 0.25],
           [0.  , 0.  , 0.75, 0.25]], dtype=float32)
    """

    group = "unmet needs"

    def summary(self, problems: Problems) -> dict[str, Any]:
        """Return whether there are needs."""
        return {"needs": problems.needs is not None}

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        """Raise InputError for problems without needs; there is nothing to learn."""
        if not summary["needs"]:
            raise InputError(
                "UncoveredTerms needs problems with needs. Pass needs=QueryTerms.from_lists(...) to Problems."
            )
        return self

    def start(self, problems: Problems) -> UnmetSeen:
        """Nothing is met."""
        if problems.needs is None:
            raise InputError("These problems have no needs, and the features were fitted to problems that have some.")
        return UnmetSeen(problems, problems.needs, np.zeros(len(problems), dtype=np.uint64))

    def columns(self, seen: UnmetSeen) -> Floats32:
        """(rows, 4): shares of the problem's weight of needs; see the class."""
        table = np.empty((seen.problems.n_rows, len(NAMES)), dtype=np.float32)
        needs = seen.needs
        unmet_rows(seen.problems.offsets, needs.starts, needs.parts, needs.wholes, needs.weights, seen.met, table)
        return table

    def add(self, seen: UnmetSeen, picks: Ints) -> UnmetSeen:
        """Mark the needs that the picks meet."""
        some = np.flatnonzero(picks >= 0)
        met = seen.met.copy()
        met[some] |= seen.needs.wholes[picks[some]]
        return seen._replace(met=met)

    def names(self) -> list[str]:
        """One name per column."""
        return list(NAMES)
