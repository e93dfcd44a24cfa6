"""Links between a candidate and the items of the list, and what these leave unreached."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Floats32, Ints, unit_rows
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features.base import Features
from listwright.problems import Problems


class LinksSeen(NamedTuple):
    problems: Problems
    into: tuple[Any, ...]  # by kind: CSR, entry (p, row) is the link of row to p
    near: tuple[Any, ...]  # by threshold: CSR, 1 where two candidates are that near
    best: Floats  # (rows, kinds): strongest link to an item of the list
    total: Floats
    reached: Floats  # (rows, thresholds): 1 where the list has an item that near


@saved_as("features.Links")
class Links(Features):
    """For each kind of link the strongest and the summed link of a candidate to the items of the list.

    With vectors their cosine is one more kind, and further columns give log(1 + number of candidates similar to this
    one that the list has not reached yet). Use it where redundancy shows in pairwise relations: citations,
    co-purchases, embeddings. All cosines within a problem are computed, so for problems with many thousands of
    candidates prefer `Similarity`.

    Parameters
    ----------
    thresholds : sequence of float
        Cosines above which a candidate reaches another; only used with vectors.
    sums : bool
        Include the summed link to the list in addition to the strongest one. Sums grow with the list; policies that
        build longer lists than they were trained on do better without them.

    Attributes
    ----------
    kinds_ : list of str
        Names of the kinds of links, sorted, without the cosine.
    has_vectors_ : bool
        Whether cosines are used.

    Raises
    ------
    InputError
        By `fit`, if the problems have neither links nor vectors.

    See Also
    --------
    Similarity : Cosines to the list alone, at lower cost.
    Aspects : Where aspects of the problem are known.

    Examples
    --------
    >>> import listwright as lw
    >>> likes = [[0, 1, 0], [1, 0, 0], [0, 1, 0]]
    >>> problems = lw.Problems.from_arrays([[0.0]] * 3, offsets=[0, 3], links={"likes": likes})
    >>> feature = Links().fit(problems)
    >>> feature.columns(feature.add(feature.start(problems), np.array([1])))
    array([[1., 1.],
           [0., 0.],
           [1., 1.]], dtype=float32)
    """

    group = "links to the list"

    def __init__(self, thresholds: Sequence[float] = (0.1, 0.2, 0.3, 0.5), *, sums: bool = True) -> None:
        self.thresholds = thresholds
        self.sums = sums

    def summary(self, problems: Problems) -> dict[str, Any]:
        return {"kinds": tuple(sorted(problems.links or {})), "vectors": problems.vectors is not None}

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        self.kinds_, self.has_vectors_ = list(summary["kinds"]), bool(summary["vectors"])
        if not self.kinds_ and not self.has_vectors_:
            raise InputError("Links needs links or vectors, but these problems have neither.")
        return self

    def start(self, problems: Problems) -> LinksSeen:
        links = problems.links or {}
        into = [_transpose(links[name], problems) for name in self.kinds_]
        near = []
        if self.has_vectors_:
            cosine = cosines(problems)
            into.append(cosine)
            near = [sparse.csr_array(cosine > threshold, dtype=np.float64) for threshold in self.thresholds]
        none = np.zeros((problems.n_rows, len(into)))
        return LinksSeen(problems, tuple(into), tuple(near), none, none, np.zeros((problems.n_rows, len(near))))

    def columns(self, seen: LinksSeen) -> Floats32:
        fresh = [np.log1p(table @ (1.0 - seen.reached[:, i])) for i, table in enumerate(seen.near)]
        sums = [seen.total] if self.sums else []
        return np.column_stack([seen.best, *sums, *fresh]).astype(np.float32)

    def add(self, seen: LinksSeen, picks: Ints) -> LinksSeen:
        some = picks[picks >= 0]
        best, total, reached = seen.best.copy(), seen.total.copy(), seen.reached.copy()
        for kind, table in enumerate(seen.into):
            linked = table[some]  # no row is linked to the picks of two problems
            total[linked.indices, kind] += linked.data
            best[linked.indices, kind] = np.maximum(best[linked.indices, kind], linked.data)
        for i, table in enumerate(seen.near):
            reached[table[some].indices, i] = 1.0
        return seen._replace(best=best, total=total, reached=reached)

    def names(self) -> list[str]:
        kinds = [*self.kinds_, *(["cosine"] if self.has_vectors_ else [])]
        reach = [f"newly reached above {threshold:g}" for threshold in self.thresholds] if self.has_vectors_ else []
        return [
            *(f"best {kind} in the list" for kind in kinds),
            *(f"sum of {kind} in the list" for kind in kinds if self.sums),
            *reach,
        ]


def cosines(problems: Problems) -> Any:
    """CSR, rows x rows: cosines of the vectors of each problem's candidates."""
    unit = unit_rows(problems.vectors)
    if not sparse.issparse(unit):
        blocks = [unit[start:end] @ unit[start:end].T for start, end in pairwise(problems.offsets.tolist())]
        empty = sparse.coo_array((0, 0), dtype=unit.dtype)  # makes the result a sparse array, not a matrix
        return sparse.block_diag([empty, *blocks], format="csr")
    owners = np.repeat(problems.owners, np.diff(unit.indptr))
    columns, own = np.unique(owners * unit.shape[1] + unit.indices, return_inverse=True)  # of a problem each
    apart = sparse.csr_array((unit.data, own, unit.indptr), shape=(problems.n_rows, len(columns)))
    return sparse.csr_array(apart @ apart.T)


def _transpose(table: Any, problems: Problems) -> Any:
    """Links as CSR over all rows of all problems, transposed: from the item in the list to the candidate."""
    first = np.repeat(problems.offsets[problems.owners], np.diff(table.indptr))
    everywhere = (table.data.astype(np.float64), table.indices + first, table.indptr)
    return sparse.csr_array(sparse.csr_array(everywhere, shape=(problems.n_rows, problems.n_rows)).T)
