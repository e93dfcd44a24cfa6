"""Intra-list distance: how different the items of a list are from each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats
from listwright._internal.linalg import unit_rows
from listwright.features.scale import Scale
from listwright.lists import Lists
from listwright.problems import Problems


def intra_list_distance(lists: Lists, problems: Problems) -> Floats:
    """Mean of 1 - cosine similarity over all pairs of items of a list (Ziegler et al. 2005).

    Parameters
    ----------
    lists : Lists
        Lists for these problems.
    problems : Problems
        Similarity is measured on `problems.vectors`, or, without them, on the features scaled to mean 0 and standard
        deviation 1 over all rows.

    Returns
    -------
    ndarray of float, shape (problems,)
        0 if all items point the same way, 1 if they are orthogonal; nan for lists of fewer than two items.

    See Also
    --------
    subtopic_recall : Diversity by known topics.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), vectors=[[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    >>> intra_list_distance(lw.Lists(problems, np.array([[0, 1, 2]])), problems).round(3)
    array([0.667])
    """
    units = unit_rows(
        Scale.of(problems.features).apply(problems.features) if problems.vectors is None else problems.vectors
    )
    owner, position = np.nonzero(lists.rows >= 0)
    chosen = (np.ones(len(owner)), (owner, lists.rows[owner, position]))
    picked = sparse.csr_array(chosen, shape=(len(problems), problems.n_rows))
    together, alone = _squares(picked @ units), picked @ _squares(units)
    pairs = lists.lengths * (lists.lengths - 1.0)
    return np.where(pairs > 0, 1.0 - (together - alone) / np.maximum(pairs, 1.0), np.nan)


def _squares(table: Any) -> Floats:
    """Return the squared length of each row of a dense or sparse table."""
    if sparse.issparse(table):
        return np.asarray(table.multiply(table).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", table, table)
