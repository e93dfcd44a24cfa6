"""Problems whose candidates are items of a recurring set."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Ints
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.tables import Scan


def with_catalogue(problems: Problems | Scan) -> Problems:
    """Return the problems with a catalogue: their own, or the position if all have equally many candidates."""
    if isinstance(problems, Scan):
        raise InputError("Context-free lists are learned and built in memory. Pass scan.sample(), or read the files.")
    if not isinstance(problems, Problems) or problems.catalogue is not None:
        return problems  # later checks refuse anything that is not Problems
    if (problems.counts != problems.counts[0]).any():
        raise InputError("Context-free lists need a catalogue. Pass catalogue to Problems.from_arrays.")
    return problems.with_catalogue(np.arange(problems.n_rows) - problems.offsets[problems.owners])


def rows_of_items(problems: Problems, items: Ints) -> Ints:
    """Return the row of each item in each problem, shape (problems, items)."""
    assert problems.catalogue is not None
    where = np.full((len(problems), max(problems.n_items, int(items.max(initial=0)) + 1)), -1)
    where[problems.owners, problems.catalogue] = np.arange(problems.n_rows)
    rows = where[:, items]
    return np.take_along_axis(rows, np.argsort(rows < 0, axis=1, kind="stable"), axis=1)
