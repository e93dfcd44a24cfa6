"""The answered lists of a log as arrays, which estimators and learners read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Bools, Floats, Ints
from listwright.feedback.recommendations import Recommendations
from listwright.problems import Problems


@dataclass(frozen=True, eq=False)
class AnsweredLists:
    problems: Problems
    rows: Ints  # (lists, longest): rows of the batch, -1 behind the end of a list
    propensities: Floats  # same shape: nan behind the end, and where they are not known
    outcomes: Floats  # same shape: nan behind the end, and behind the stop of a cascade
    budgets: Floats | None  # by list: the budget
    list_ids: tuple[str, ...]
    others: Mapping[str, Floats] = field(default_factory=dict)  # other columns of numbers of a table, as the outcomes

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, which: Ints) -> AnsweredLists:
        """Select lists by number; their rows are renumbered to the smaller batch."""
        problems = self.problems[which]
        return AnsweredLists(
            problems,
            renumber_rows(self.rows[which], self.problems.offsets[which], problems.offsets[:-1]),
            self.propensities[which],
            self.outcomes[which],
            None if self.budgets is None else self.budgets[which],
            tuple(self.list_ids[i] for i in which),
            {name: values[which] for name, values in self.others.items()},
        )

    def only_shown(self) -> AnsweredLists:
        return self.only(np.sort(self.rows[self.rows >= 0]))

    def only(self, kept: Ints) -> AnsweredLists:
        """Keep some candidates: rows of the batch in increasing order, with every shown one among them."""
        problems = self.problems
        by_row = ("features", "catalogue", "sizes", "item_ids", "vectors")
        some = {name: None if getattr(problems, name) is None else getattr(problems, name)[kept] for name in by_row}
        dropped = dict.fromkeys(("links", "aspects", "groups", "quotas"))  # lists are given, and keep to them
        small = problems._with(**some, offsets=np.searchsorted(kept, problems.offsets), **dropped)
        rows = np.where(self.rows >= 0, np.searchsorted(kept, self.rows), -1)
        return AnsweredLists(small, rows, self.propensities, self.outcomes, self.budgets, self.list_ids)


@dataclass(frozen=True, eq=False)
class LogPart:
    """The lists of one call of `append`, with their outcomes."""

    lists: Recommendations
    outcomes: Floats  # as the lists' rows; nan where nothing was seen
    answered: Bools  # by list
    others: Mapping[str, Floats] = field(default_factory=dict)  # other columns of numbers, as the outcomes

    def outcome(self, i: int) -> Floats:
        return self.outcomes[i, : int((~np.isnan(self.outcomes[i])).sum())]


def answered_lists(part: LogPart, longest: int) -> AnsweredLists:
    lists, which = part.lists, np.flatnonzero(part.answered)
    chosen = lists.problems[which]
    # numbered anew: one problem may be shown several times
    problems = chosen._with(problem_ids=np.arange(len(chosen)), numbered=True)
    rows = renumber_rows(lists.rows[which], lists.problems.offsets[which], problems.offsets[:-1])
    wide = ((0, 0), (0, longest - lists.rows.shape[1]))
    return AnsweredLists(
        problems,
        np.pad(rows, wide, constant_values=-1),
        np.pad(lists.propensities[which], wide, constant_values=np.nan),
        np.pad(part.outcomes[which], wide, constant_values=np.nan),
        None if lists.budgets is None else lists.budgets[which],
        tuple(lists.list_ids[i] for i in which),
        {name: np.pad(values[which], wide, constant_values=np.nan) for name, values in part.others.items()},
    )


def of_one_kind(parts: Sequence[Problems]) -> list[Problems]:
    """Give all parts what only some have: groups without a name, sizes of 1, and places as ids of items."""

    def fill(part: Problems, name: str) -> NDArray[Any]:
        places = np.arange(part.n_rows) - part.offsets[part.owners]
        return {"groups": np.full(part.n_rows, "", dtype=object), "sizes": np.ones(part.n_rows)}.get(name, places)

    lacking = [{name for name in ("groups", "sizes", "item_ids") if getattr(part, name) is None} for part in parts]
    some = set[str]().union(*lacking).difference(set[str].intersection(*lacking))
    return [
        part._with(**{name: fill(part, name) for name in own & some}) for part, own in zip(parts, lacking, strict=True)
    ]


def runs(problems: Problems, n_rows: int = 100_000) -> Iterator[Ints]:
    """Split problems into consecutive runs of roughly `n_rows` candidates."""
    cuts = np.searchsorted(problems.offsets, np.arange(n_rows, problems.n_rows, n_rows))
    return (run for run in np.split(np.arange(len(problems)), np.unique(cuts)) if len(run))


def renumber_rows(rows: Ints, old: Ints, new: Ints) -> Ints:
    """Renumber the rows of lists whose problems now start at `new` instead of `old`; -1 stays -1."""
    return np.where(rows >= 0, rows - old[:, None] + new[:, None], -1)
