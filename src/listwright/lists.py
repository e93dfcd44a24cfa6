"""Lists: the answer, items by problem in the order they were picked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Ints
from listwright.errors import InputError
from listwright.problems import Problems


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """One list a problem.

    `lists[i]` are the positions of the items within problem i, in order.

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
    rows: Ints  # (problems, longest list): rows of the batch, -1 behind the end of a list
    picked_gains: Floats | None = None  # same shape: what each pick added, where a reward was there to tell
    picked_scores: Floats | None = None  # same shape: the policy's score of each pick
    bound: str | None = None  # what is proved of the method, in words
    ratio: float | None = None  # and as a number: value >= ratio * best
    explainer: Callable[[Problems, int, Ints], Any] | None = None  # from predict: gives the reasons of a list

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> Ints:
        if not -len(self) <= i < len(self):
            raise IndexError(f"There are {len(self)} lists. Got index {i}.")
        rows = self.rows[i]
        return rows[rows >= 0] - self.problems.offsets[i % len(self)]

    def __iter__(self) -> Iterator[Ints]:
        return (self[i] for i in range(len(self)))

    @property
    def lengths(self) -> Ints:
        """Number of items of each list."""
        return (self.rows >= 0).sum(axis=1)

    @property
    def item_ids(self) -> list[NDArray[Any]]:
        """The items of each list by id, or by position where items have no ids."""
        if self.problems.item_ids is None:
            return list(self)
        return [self.problems.item_ids[rows[rows >= 0]] for rows in self.rows]

    @property
    def gains(self) -> list[Floats] | None:
        """What each pick added when it was picked; None where no reward was there to tell."""
        return None if self.picked_gains is None else self._cut(self.picked_gains)

    @property
    def scores(self) -> list[Floats] | None:
        """The policy's score of each pick."""
        return None if self.picked_scores is None else self._cut(self.picked_scores)

    @property
    def values(self) -> Floats | None:
        """What each list is worth."""
        if self.picked_gains is None:
            return None
        return np.where(self.rows >= 0, self.picked_gains, 0.0).sum(axis=1)

    def _cut(self, table: Floats) -> list[Floats]:
        return [row[kept] for row, kept in zip(table, self.rows >= 0, strict=True)]

    def explain(self, i: int = 0) -> Any:
        """Why list i is what it is, worked out when asked: what each feature group adds to the score of each pick, the
        runner-up and its margin, and which pick made a skipped item redundant. See `reasons.Reasons`."""
        if self.explainer is None:
            raise InputError("These lists do not tell how they were built. Lists from predict of a learned model do.")
        return self.explainer(self.problems, i % len(self), self[i])

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Columns with one entry a pick: problem, position (from 1), item, and gain and score where known."""
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
        """One row a pick, as a frame of pandas, polars or pyarrow: the first that is installed, or `backend`."""
        import narwhals as nw

        return nw.from_dict(self.to_dict(), backend=backend or installed_backend()).to_native()

    def __eq__(self, other: object) -> bool:
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


def installed_backend() -> Any:
    """The first of pandas, polars and pyarrow that there is."""
    from importlib.util import find_spec

    return next(name for name in ("pandas", "polars", "pyarrow") if find_spec(name))
