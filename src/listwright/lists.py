"""Lists: the items picked for each problem, in order, as `predict` and `greedy` return them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Ints
from listwright._internal.extras import as_frame
from listwright._internal.pictures import bars, html_table
from listwright.errors import InputError
from listwright.problems import Problems

SHOWN = 10  # lists that a notebook shows


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """One list of items per problem, as `predict` and `greedy` return them.

    `lists[i]` are the positions of the picked items within problem i, in the order they were picked; `lists.item_ids`
    names them, and `to_frame` makes a table of all picks. Where the problems had a reward, `gains` and `values` say
    what the picks added.

    Attributes
    ----------
    problems : Problems
        What the lists were built for.
    rows : ndarray of int, shape (problems, longest list)
        The picked rows, counted over the whole batch; -1 after the end of a list.
    picked_gains, picked_scores : ndarray of float or None
        In the shape of `rows`: what each pick added to the value, and the policy's score for it.
    bound : str or None
        What is proved of the method that built the lists, in words.
    ratio : float or None
        The same as a number: the value is at least `ratio` times that of the best lists.

    See Also
    --------
    Problems : What lists are built for.
    listwright.evaluate : Metrics of lists.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=lw.rewards.AnySuccess([[0, 1, 0]]))
    >>> lists = lw.greedy(problems, length=2)
    >>> lists
    Lists: 1 list of 2 items, mean value 1.000, at least 1 - 1/e = 0.632 of the best list of this length
    >>> lists[0], lists.gains[0]
    (array([1, 0]), array([1., 0.]))
    """

    problems: Problems
    rows: Ints
    picked_gains: Floats | None = None
    picked_scores: Floats | None = None
    bound: str | None = None
    ratio: float | None = None
    explainer: Callable[..., Any] | None = None  # from predict: explains one list

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> Ints:
        """Return the items of list i as positions within problem i, in the order they were picked."""
        rows = self.rows[i := self._number_of(i)]
        return rows[rows >= 0] - self.problems.offsets[i]

    def _number_of(self, i: Any) -> int:
        """Return the number of a list, by its number from either end or by the id of its problem."""
        whole = isinstance(i, int | np.integer)
        known = range(-len(self), len(self)) if whole else self.problems.problem_ids.tolist()
        if (int(i) if whole else i) not in known:
            raise IndexError(f"There are {len(self)} lists. Got index {i}.")
        return (int(i) if whole else known.index(i)) % len(self)

    def __iter__(self) -> Iterator[Ints]:
        """Iterate over the lists, each as positions within its problem."""
        return (self[i] for i in range(len(self)))

    @property
    def lengths(self) -> Ints:
        """Number of items of each list, shape (problems,)."""
        return (self.rows >= 0).sum(axis=1)

    @property
    def item_ids(self) -> list[NDArray[Any]]:
        """The items of each list by id, or by position within the problem if items have no ids."""
        if self.problems.item_ids is None:
            return list(self)
        return [self.problems.item_ids[rows[rows >= 0]] for rows in self.rows]

    @property
    def gains(self) -> list[Floats] | None:
        """For each list, what each pick added when it was picked; None if the problems had no reward."""
        return None if self.picked_gains is None else self._cut(self.picked_gains)

    @property
    def scores(self) -> list[Floats] | None:
        """For each list, the policy's score of each pick; None if no policy built the lists."""
        return None if self.picked_scores is None else self._cut(self.picked_scores)

    @property
    def values(self) -> Floats | None:
        """What each list is worth, shape (problems,); None if the problems had no reward."""
        if self.picked_gains is None:
            return None
        return np.where(self.rows >= 0, self.picked_gains, 0.0).sum(axis=1)

    def _cut(self, table: Floats) -> list[Floats]:
        return [row[kept] for row, kept in zip(table, self.rows >= 0, strict=True)]

    def explain(self, i: int | str = 0) -> Any:
        """Explain why list i consists of these items.

        The reasons are computed on demand: what each group of features adds to the score of each pick, the runner-up
        and its margin, and which pick made a skipped item redundant.

        Parameters
        ----------
        i : int or str, default 0
            Which list: its number, or the id of its problem.

        Returns
        -------
        Reasons
            One explanation per pick; printing it gives a table. See `listwright.evaluation.explain.Reasons`.

        Raises
        ------
        InputError
            If the lists do not come from `predict` of a model that can explain its scores.
        """
        if self.explainer is None:
            raise InputError("These lists cannot be explained: only lists from predict of a fitted model can.")
        return self.explainer(self.problems, number := self._number_of(i), self[number])

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the picks as columns with one entry per pick.

        Returns
        -------
        dict of str to ndarray
            `problem`, `position` (from 1) and `item`; also `gain` and `score` where these are known.

        Examples
        --------
        >>> import listwright as lw
        >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=lw.rewards.AnySuccess([[0, 1, 0]]))
        >>> lw.greedy(problems, length=2).to_dict()["item"]
        array([1, 0])
        """
        owner, position = np.nonzero(self.rows >= 0)
        rows = self.rows[owner, position]
        ids = self.problems.item_ids
        columns = {
            "problem": self.problems.problem_ids[owner],
            "position": position + 1,
            "item": rows - self.problems.offsets[owner] if ids is None else ids[rows],
        }
        for name, table in (("gain", self.picked_gains), ("score", self.picked_scores)):
            if table is not None:
                columns[name] = table[owner, position]
        return columns

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] | None = None) -> Any:
        """Return a table with one row per pick; see `to_dict` for its columns.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The kind of table. By default that of the frame that the problems were read from, or the first of these that
            is installed.

        Returns
        -------
        DataFrame or Table
            A pandas or polars DataFrame, or a pyarrow Table.
        """
        return as_frame(self.to_dict(), backend or self.problems.backend)

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same problems and items; gains and scores are not compared."""
        if not isinstance(other, Lists):
            return NotImplemented
        same_problems = np.array_equal(self.problems.problem_ids, other.problems.problem_ids)
        pairs = zip(self.item_ids, other.item_ids, strict=False)
        return len(self) == len(other) and same_problems and all(np.array_equal(a, b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        low, high = int(self.lengths.min()), int(self.lengths.max())
        long = f"{low}" if low == high else f"{low} to {high}"
        text = f"Lists: {len(self):,} list{'' if len(self) == 1 else 's'} of {long} item{'' if high == 1 else 's'}"
        if self.values is not None:
            text += f", mean value {self.values.mean():.3f}"
        return text + (f", {self.bound}" if self.bound else "")

    def _repr_html_(self) -> str:
        names = self.item_ids
        rows = [[self.problems.problem_ids[i], ", ".join(map(str, names[i]))] for i in range(min(len(self), SHOWN))]
        note = f"The first {SHOWN} of {len(self):,}." if len(self) > SHOWN else ""
        return html_table(repr(self), ["problem", "items, in order"], rows, note=note)

    def plot(self, i: int | str = 0) -> Any:
        """Draw the picks of list i in order: what each gained or, where that is not known, its score.

        Parameters
        ----------
        i : int or str, default 0
            Number of the problem, or its id.

        Returns
        -------
        altair.Chart
            One bar per pick.

        Raises
        ------
        InputError
            If the list is empty, or if there is nothing known of its picks.
        MissingExtra
            If altair is not installed (extra `plots`).
        """
        known = self.picked_scores if self.picked_gains is None else self.picked_gains
        if known is None:
            raise InputError("These lists have neither gains nor scores to draw.")
        i = self._number_of(i)
        what, picked = "score" if self.picked_gains is None else "gain", len(self[i])
        problem = self.problems.problem_ids[i]
        if not picked:
            raise InputError(f"List {i} (problem {problem}) is empty: there is nothing to draw.")
        records = [
            {"item": f"{place}. {name}", what: float(value)}
            for place, (name, value) in enumerate(zip(self.item_ids[i], known[i], strict=False), start=1)
        ]
        return bars(records, "item", what, f"{what} of each pick, problem {problem}")
