"""Flags of what the list holds already."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Bools, Floats32, Ints
from listwright._internal.saved import saved_as
from listwright.features.base import Features
from listwright.problems import Problems


class InListSeen(NamedTuple):
    """Which rows, and which known items, are in their problem's list."""

    problems: Problems
    taken: Bools  # whether the row is in the list
    held: Floats32  # (problems, items of the catalogue)


@saved_as("features.InList")
class InList(Features):
    """A flag for a candidate that is in the list already; with a catalogue also one for every item that the list holds.

    Of use where lists may repeat items, and, with a small catalogue, to learners that are not linear, such as trees:
    they can learn which items do not go together. For a linear policy use `Identity(cross=("list",))`.

    Attributes
    ----------
    n_items_ : int
        Size of the catalogue, 0 for none.

    See Also
    --------
    Identity : Which item the candidate itself is.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays([[1.0], [3.0]], offsets=[0, 2])
    >>> feature = InList().fit(problems)
    >>> feature.columns(feature.add(feature.start(problems), np.array([1])))
    array([[0.],
           [1.]], dtype=float32)
    """

    group = "in the list"

    def summary(self, problems: Problems) -> dict[str, Any]:
        """Return the catalogue's size."""
        return {"n_items": problems.n_items}

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        """Learn the catalogue's size."""
        self.n_items_ = summary["n_items"]
        return self

    def start(self, problems: Problems) -> InListSeen:
        """Nothing is in a list."""
        return InListSeen(
            problems, np.zeros(problems.n_rows, dtype=bool), np.zeros((len(problems), self.n_items_), np.float32)
        )

    def columns(self, seen: InListSeen) -> Floats32:
        """Return the candidate's own flag, then those of the catalogue's items."""
        own = seen.taken.astype(np.float32)[:, None]
        return np.concatenate([own, seen.held[seen.problems.owners]], axis=1)

    def add(self, seen: InListSeen, picks: Ints) -> InListSeen:
        """Set the flags of the picks."""
        some = np.flatnonzero(picks >= 0)
        taken, held = seen.taken.copy(), seen.held.copy()
        taken[picks[some]] = True
        if self.n_items_ and seen.problems.catalogue is not None:
            held[some, seen.problems.catalogue[picks[some]]] = 1.0
        return seen._replace(taken=taken, held=held)

    def names(self) -> list[str]:
        """One name per column."""
        return ["already in the list", *(f"item {i} in the list" for i in range(self.n_items_))]
