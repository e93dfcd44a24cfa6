"""The log: lists that were shown, and what came back for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, Ints, as_numbers
from listwright.errors import InputError
from listwright.feedback.log_frames import as_frame, read_frame, read_parquet, write_parquet
from listwright.feedback.recommendations import Recommendations, as_list_ids
from listwright.feedback.records import Outcome, Record, by_list, checked_outcome, checked_propensities
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.training.signature import Signature


@dataclass(frozen=True, eq=False)
class Answered:
    """The lists of a log that have an outcome, side by side."""

    problems: Problems
    rows: Ints  # (lists, longest): rows of the batch, -1 behind the end of a list
    propensities: Floats  # same shape: nan behind the end, and where they are not known
    outcomes: Floats  # same shape: nan behind the end, and behind the stop of a cascade
    rooms: Floats | None  # by list: the budget

    def take(self, which: Ints) -> Answered:
        """Some of the lists."""
        problems = self.problems[which]
        moved = np.where(self.rows >= 0, self.rows - self.problems.offsets[:-1, None], -1)[which]
        rows = np.where(moved >= 0, moved + problems.offsets[:-1, None], -1)
        rooms = None if self.rooms is None else self.rooms[which]
        return Answered(problems, rows, self.propensities[which], self.outcomes[which], rooms)


class Log:
    """What was shown (problem, candidates, picks, their propensities, policy version), and what came back.

    It only grows: a list is appended once, and its outcome is set once.

    Parameters
    ----------
    cascade : users look at one item after the other and stop at the first click; what follows is not seen.

    >>> import listwright as lw
    >>> learner = lw.OnlineSCP(length=2, random_state=0)
    >>> log = Log()
    >>> lists = learner.recommend(lw.Problems.from_arrays(np.zeros((3, 4, 1))), list_ids=["a", "b", "c"])
    >>> log.append(lists)
    >>> log.feedback(["a", "c"], [[1, 0], [0, 0]])
    2
    >>> log
    Log: 3 lists, 2 with an outcome, mean value 0.500
    """

    def __init__(self, *, cascade: bool = False) -> None:
        self.cascade = cascade
        self._parts: list[Recommendations] = []
        self._places: dict[str, tuple[Recommendations, int]] = {}
        self._outcomes: dict[str, Floats] = {}

    def __len__(self) -> int:
        return len(self._places)

    def append(
        self,
        lists: Lists,
        *,
        list_ids: Sequence[str] | None = None,
        propensities: ArrayLike | None = None,
        version: int = 0,
    ) -> None:
        """Adds lists that were shown. Recommendations bring their ids, propensities and version; other lists need them.

        Parameters
        ----------
        list_ids : one a list; new random ids where None.
        propensities : (lists, positions), what stands behind the end of a list is not looked at; None: not known.
        """
        shown = lists if isinstance(lists, Recommendations) else _as_shown(lists, list_ids, propensities, version)
        for name in shown.list_ids:
            if name in self._places:
                raise InputError(f"List {name} is in the log already. Give each list an id of its own.")
        _check_shown(shown)
        if self._parts:
            Signature.of(self._parts[0].problems).check(shown.problems, "append")
        self._parts.append(shown)
        self._places |= {name: (shown, i) for i, name in enumerate(shown.list_ids)}

    def feedback(self, list_ids: str | Sequence[str], outcomes: Any) -> int:
        """Sets what came back; gives the number of lists that had no outcome before. See `OnlineSCP.feedback`."""
        told = by_list(list_ids, outcomes)
        new = {name: self._checked(name, told[name]) for name in told if name not in self._outcomes}
        self._outcomes |= new
        return len(new)

    def _checked(self, name: str, outcome: Outcome) -> Floats:
        if name not in self._places:
            raise InputError(f"Feedback for list {name}, which is not in the log. Append the lists that are shown.")
        lists, i = self._places[name]
        return checked_outcome(outcome, lists.items(i), cascade=self.cascade, name=name)

    def records(self) -> Iterator[Record]:
        """The lists that have an outcome, in the order they were shown, as learning takes them."""
        for name, (lists, i) in self._places.items():
            if name in self._outcomes:
                chances = lists.propensities[i, : len(lists[i])]
                room = None if lists.room is None else float(lists.room[i])
                yield Record(name, lists.problems[i], lists[i], chances, self._outcomes[name], room)

    def answered(self) -> Answered:
        """The lists that have an outcome, side by side, in the order they were shown."""
        if not self._outcomes:
            raise InputError("No list of this log has an outcome yet. Call feedback first.")
        longest = max(part.rows.shape[1] for part in self._parts)
        parts = [self._answered(part, longest) for part in self._parts]
        found = [part for part in parts if part is not None]
        starts = np.cumsum([0, *(part.problems.n_rows for part in found)])
        rows = [np.where(part.rows >= 0, part.rows + start, -1) for part, start in zip(found, starts, strict=False)]
        rooms = [part.rooms for part in found if part.rooms is not None]
        return Answered(
            Problems.concat([part.problems for part in found]),
            np.concatenate(rows),
            np.concatenate([part.propensities for part in found]),
            np.concatenate([part.outcomes for part in found]),
            np.concatenate(rooms) if len(rooms) == len(found) else None,
        )

    def _answered(self, lists: Recommendations, longest: int) -> Answered | None:
        which = np.flatnonzero([name in self._outcomes for name in lists.list_ids])
        if not len(which):
            return None
        problems, shape = _unnamed(lists.problems[which]), (len(which), longest)
        rows, chances, gains = np.full(shape, -1), np.full(shape, np.nan), np.full(shape, np.nan)
        width = lists.rows.shape[1]
        local = np.where(lists.rows[which] >= 0, lists.rows[which] - lists.problems.offsets[which][:, None], -1)
        rows[:, :width] = np.where(local >= 0, local + problems.offsets[:-1, None], -1)
        chances[:, :width] = lists.propensities[which]
        for place, i in enumerate(which):
            outcome = self._outcomes[lists.list_ids[i]]
            gains[place, : len(outcome)] = outcome
        return Answered(problems, rows, chances, gains, None if lists.room is None else lists.room[which])

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] | None = None) -> Any:
        """One row a candidate of every shown list: see `log_frames`."""
        return as_frame(self._parts, self._outcomes, backend)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        cascade: bool = False,
        features: Sequence[str] | None = None,
        context: Sequence[str] | None = None,
    ) -> Log:
        """The log in a frame of pandas, polars or pyarrow, of the form that `to_frame` gives.

        Parameters
        ----------
        features, context : columns, where they are not marked by "feature: " and "context: ".
        """
        log = cls(cascade=cascade)
        lists, outcomes = read_frame(frame, features=features, context=context)
        for part in lists:
            log.append(part)
        log.feedback(list(outcomes), list(outcomes.values()))
        return log

    def to_parquet(self, path: str | Path) -> None:
        """Writes the log to one file, which `from_parquet` reads."""
        write_parquet(self.to_frame("pyarrow"), path, cascade=self.cascade)

    @classmethod
    def from_parquet(cls, path: str | Path) -> Log:
        """The log in a file that `to_parquet` wrote."""
        frame, cascade = read_parquet(path)
        return cls.from_frame(frame, cascade=cascade)

    def __repr__(self) -> str:
        told = f"Log: {len(self):,} list{'' if len(self) == 1 else 's'}, {len(self._outcomes):,} with an outcome"
        if not self._outcomes:
            return told
        return f"{told}, mean value {np.mean([gains.sum() for gains in self._outcomes.values()]):.3f}"


def _as_shown(
    lists: Lists, list_ids: Sequence[str] | None, propensities: ArrayLike | None, version: int
) -> Recommendations:
    if not isinstance(lists, Lists):
        raise InputError(f"A log takes listwright.Lists. Got {type(lists).__name__}.")
    chances = np.full(lists.rows.shape, np.nan)
    if propensities is not None:
        given = as_numbers(propensities, "propensities")
        if given.shape != lists.rows.shape:
            raise InputError(f"propensities must have the lists' shape {lists.rows.shape}. Got {given.shape}.")
        chances = np.where(lists.rows >= 0, given, np.nan)
    return Recommendations(
        lists.problems.without_reward(),
        lists.rows,
        picked_scores=lists.picked_scores,
        list_ids=as_list_ids(list_ids, len(lists)),
        propensities=chances,
        version=version,
    )


def _unnamed(problems: Problems) -> Problems:
    """The same problems, numbered: one problem may be shown several times."""
    return replace(problems, problem_ids=np.arange(len(problems)), numbered=True)


def _check_shown(lists: Recommendations) -> None:
    """Rows of their own problem, none twice, and propensities above 0 and up to 1, or none at all for a list."""
    shown, starts, ends = lists.rows >= 0, lists.problems.offsets[:-1, None], lists.problems.offsets[1:, None]
    ordered = np.sort(np.where(shown, lists.rows, -1 - np.arange(lists.rows.shape[1])), axis=1)
    bad = (np.diff(ordered, axis=1) == 0).any(axis=1) | (shown & ((lists.rows < starts) | (lists.rows >= ends))).any(
        axis=1
    )
    if bad.any():
        name = lists.list_ids[int(bad.argmax())]
        raise InputError(f"List {name} shows an item twice, or one that is not among its candidates.")
    known = ~np.isnan(np.where(shown, lists.propensities, np.nan)).all(axis=1)
    for i in np.flatnonzero(known & (shown & ~((lists.propensities > 0) & (lists.propensities <= 1))).any(axis=1))[:1]:
        checked_propensities(lists.propensities[i, shown[i]], int(shown[i].sum()), name=lists.list_ids[i])
