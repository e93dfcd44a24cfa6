"""The log of shown lists and their outcomes; learners and estimators read it as `AnsweredLists`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Bools, Floats, Ints, as_numbers, folds_of
from listwright.errors import InputError
from listwright.feedback.answered import AnsweredLists, LogPart, answered_lists, of_one_kind
from listwright.feedback.log_frames import OPTIONS, alike_files, as_frame, file_cascade, read_log, write_parquet
from listwright.feedback.recommendations import Recommendations, as_list_ids
from listwright.feedback.updates import (
    TrainingUpdate,
    by_list,
    validate_outcome,
    validate_outcomes,
    validate_propensities,
)
from listwright.frames.columns import Columns
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.training.signature import MOST, Signature

MODEL = re.compile("the model (was trained (on|with)|has)")  # in messages of signatures


class Log:
    """Lists that were shown and what came back for them.

    Keep a log whenever lists are shown to users: it is what a new model is trained on (`OnlineSCP.fit_log`) and what
    policies are compared on before one is rolled out (`evaluate`, `compare`). Each list is stored with its problem, all
    candidates, the picks, their propensities and the policy version. A log is append-only: a list is added once, and
    its outcome is set once. It lives in memory; `to_parquet` and `from_parquet` store it, and `from_frame` reads the
    logs of other systems.

    Parameters
    ----------
    cascade : bool
        Whether users examine items in order and stop at the first click, so that later positions are not seen.

    Attributes
    ----------
    columns : Columns or None
        How the candidates were read, where the log came from a table.
    dropped : int
        Lists of that table that were left out for their faults (`drop_bad=True`).

    See Also
    --------
    OnlineSCP.fit_log : Learns a model from a log.
    evaluate : Estimates what another policy's lists would have been worth to the same visitors.

    Notes
    -----
    Propensities must be those of the moment when the list was drawn. They cannot be recomputed later from a policy that
    has learned since; `Recommendations` carries them for this reason.

    Examples
    --------
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
        self.columns: Columns | None = None  # how a table was read, where the log came from one
        self.dropped = 0
        self._parts: list[LogPart] = []
        self._places: dict[str, tuple[int, int]] = {}  # part, and number within it

    def __len__(self) -> int:
        """Return the number of lists, with or without an outcome."""
        return len(self._places)

    def append(
        self,
        lists: Lists,
        *,
        list_ids: Sequence[str] | None = None,
        propensities: ArrayLike | None = None,
        version: int | None = None,
    ) -> None:
        """Add lists that were shown.

        `Recommendations` carry their own ids, propensities and version; arguments override these.
        Pass them for `Lists` of a model that does not explore.

        Parameters
        ----------
        lists : Lists
            What was shown, such as `OnlineSCP.recommend` gives.
        list_ids : sequence of str, optional
            One id per list. By default those that the lists carry, or else new random ones.
        propensities : array of shape (lists, positions), optional
            The chance that each pick had, given the picks before it. Entries after the end of a list are ignored.
            By default those that the lists carry; without these they are not known.
        version : int, optional
            Of the policy that built the lists. By default the one that the lists carry, or else 0.

        Raises
        ------
        InputError
            If an id is in the log already, a list shows an item twice, or the problems differ in kind from earlier
            ones.
        """
        shown = _as_shown(lists, list_ids, propensities, version)
        self._append(shown, np.full(shown.rows.shape, np.nan))

    def _append(
        self, shown: Recommendations, outcomes: Floats, others: Mapping[str, Floats] = MappingProxyType({})
    ) -> None:
        """Add validated lists with their outcomes, NaN where there are none yet; nothing is added if a check fails."""
        for name in shown.list_ids:
            if name in self._places:
                raise InputError(f"List {name} is in the log already. Give each list its own id.")
        _check_shown(shown)
        if self._parts:
            first = self._parts[0].lists.problems
            items = None if first.catalogue is None else MOST  # new ones may come
            try:
                replace(Signature.of(first), n_items=items).check(shown.problems, "append")
            except InputError as error:
                raise InputError(MODEL.sub("the lists before have", str(error))) from None
        part = len(self._parts)
        answered: Bools = np.any(~np.isnan(outcomes), axis=1)
        self._parts.append(LogPart(shown, outcomes, answered, others))
        self._places |= {name: (part, i) for i, name in enumerate(shown.list_ids)}

    def feedback(self, list_ids: str | Sequence[str], outcomes: Any) -> int:
        """Record the outcomes of lists in the log.

        Parameters
        ----------
        list_ids : str or sequence of str
            One id, or several.
        outcomes : array-like, mapping, or a sequence of these
            The outcome of the one list, or one outcome per list: a number from 0 to 1 per position, or a mapping by
            item.

        Returns
        -------
        int
            How many lists had no outcome before. Repeated feedback is ignored.

        Raises
        ------
        InputError
            If a list is not in the log or an outcome does not fit it; no outcome of the call is recorded then.
        """
        new = {}
        for name, outcome in by_list(list_ids, outcomes).items():
            part, i = self._place(name)
            if not part.answered[i]:
                new[name] = validate_outcome(outcome, part.lists.items(i), cascade=self.cascade, name=name)
        for name, gains in new.items():
            part, i = self._place(name)
            part.outcomes[i, : len(gains)], part.answered[i] = gains, True
        return len(new)

    def _place(self, name: str) -> tuple[LogPart, int]:
        if name not in self._places:
            raise InputError(f"Feedback for list {name}, which is not in the log. Append the lists that are shown.")
        part, i = self._places[name]
        return self._parts[part], i

    def updates(self) -> Iterator[TrainingUpdate]:
        """Iterate over the answered lists as `TrainingUpdate`, in the order shown, ready for `OnlineSCP.update`."""
        for part in self._parts:
            lists = part.lists
            for i in np.flatnonzero(part.answered).tolist():
                budgets = None if lists.budgets is None else float(lists.budgets[i])
                chances = lists.propensities[i, : len(lists[i])]
                yield TrainingUpdate(lists.list_ids[i], lists.problems[i], lists[i], chances, part.outcome(i), budgets)

    def answered_lists(self) -> AnsweredLists:
        """Lay the answered lists side by side, in the order shown, padded to the longest one."""
        parts = [part for part in self._parts if part.answered.any()]
        if not parts:
            raise InputError("No list of this log has an outcome yet. Call feedback first.")
        longest = max(part.lists.rows.shape[1] for part in parts)
        answered_parts = [answered_lists(part, longest) for part in parts]
        starts = np.cumsum([0, *(part.problems.n_rows for part in answered_parts)])
        rows = [
            np.where(part.rows >= 0, part.rows + start, -1) for part, start in zip(answered_parts, starts, strict=False)
        ]
        budgets = [np.full(len(part), np.inf) if part.budgets is None else part.budgets for part in answered_parts]
        return AnsweredLists(
            Problems.concat(of_one_kind([part.problems for part in answered_parts])),
            np.concatenate(rows),
            np.concatenate([part.propensities for part in answered_parts]),
            np.concatenate([part.outcomes for part in answered_parts]),
            np.concatenate(budgets) if np.isfinite(np.concatenate(budgets)).any() else None,
            tuple(name for part in answered_parts for name in part.list_ids),
            {
                name: np.concatenate([part.others[name] for part in answered_parts])
                for name in answered_parts[0].others
                if all(name in part.others for part in answered_parts)
            },
        )

    def halves(self) -> tuple[Log, Log]:
        """Return the answered lists as two logs of every other fold, so that one can judge what the other taught."""
        answered = self.answered_lists()
        odd = folds_of(answered.list_ids) % 2 == 1
        if odd.all() or not odd.any():
            raise InputError(f"{len(odd):,} lists with an outcome are too few to learn from some and judge on others.")
        return self._taking(answered, np.flatnonzero(~odd)), self._taking(answered, np.flatnonzero(odd))

    def _taking(self, answered: AnsweredLists, which: Ints) -> Log:
        some, log = answered.take(which), Log(cascade=self.cascade)
        ids, chances = some.list_ids, some.propensities
        log._append(Recommendations(some.problems, some.rows, list_ids=ids, propensities=chances), some.outcomes)
        log.columns = self.columns
        return log

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] | None = None) -> Any:
        """Return the log as a frame with one row per candidate of every shown list.

        Candidates that were not shown have a null position. `from_frame` reads the frame back.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The kind of frame; by default one that is installed.
        """
        return as_frame([(part.lists, part.outcomes) for part in self._parts], backend)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        cascade: bool = False,
        list_id: str | None = None,
        item: str | None = None,
        position: str | None = None,
        shown: str | None = None,
        outcome: str | None = None,
        propensity: str | None = None,
        version: str | None = None,
        **options: Any,
    ) -> Log:
        """Return the log in a frame of pandas, polars or pyarrow: one row per candidate, or per shown item.

        Columns are found by their usual names, whatever their case: the id of the list (`list`, `request_id`,
        `impression_id`, `session`, ...), the item (`item`, `product_id`, ...), its position (`position`, `rank`, ...,
        from 1 or 0) or whether it was shown (`shown`, ...), what came back (`outcome`, `reward`, `clicked`, ...), and
        where there is one its chance to be shown there, given the items before (`propensity`, `probability`, ...).
        Every other column of numbers is a feature, unless the options say otherwise. Rows without a position (or that
        were not shown) are candidates that the list left out: with them a model learns what it could have shown.

        Parameters
        ----------
        frame : DataFrame or Table
            Of pandas, polars or pyarrow.
        cascade : bool
            Users stop looking at the first click.
        list_id, item, position, shown, outcome, propensity, version : str, optional
            Columns that are not found by their names.
        **options
            Which other columns are features, context, vectors, categorical or to be ignored: see `Problems.from_frame`.
            With `drop_bad=True`, lists with faults (as `listwright check --log` counts them) are left out.

        Examples
        --------
        >>> import pyarrow as pa
        >>> frame = pa.table(
        ...     {
        ...         "request_id": ["r1", "r1", "r1", "r2", "r2", "r2"],
        ...         "item_id": ["x", "y", "z", "x", "y", "z"],
        ...         "rank": [1, 2, None, None, 1, 2],
        ...         "clicked": [False, True, None, None, False, False],
        ...         "price": [3.0, 1.0, 2.0, 3.0, 1.0, 2.0],
        ...     }
        ... )
        >>> Log.from_frame(frame)
        Log: 2 lists, 2 with an outcome, mean value 0.500
        """
        given = {"list": list_id, "item": item, "position": position, "shown": shown, "outcome": outcome}
        return cls._read(frame, cascade, given | {"propensity": propensity, "version": version}, options)

    @classmethod
    def _read(cls, source: Any, cascade: bool, given: dict[str, str | None], options: dict[str, Any]) -> Log:
        """Read a log from a frame or from files; `given` maps roles to columns that the caller named."""
        log, read_parts = cls(cascade=cascade), read_log(source, given, options)
        for lists, outcomes, others in read_parts.parts:
            log._append(lists, validate_outcomes(outcomes, lists.rows >= 0, lists.list_ids, cascade=cascade), others)
        log.columns, log.dropped = read_parts.columns, read_parts.dropped
        return log

    def to_parquet(self, path: str | Path) -> None:
        """Write the log to one Parquet file, including whether it is a cascade; `from_parquet` reads it back."""
        write_parquet(self.to_frame("pyarrow"), path, cascade=self.cascade)

    @classmethod
    def from_parquet(
        cls, path: str | Path | Sequence[str | Path], *, cascade: bool | None = None, **options: Any
    ) -> Log:
        """Return the log in a file or several: what `to_parquet` wrote, or any table that `from_frame` can read.

        Parameters
        ----------
        path : str, Path or several
            Parquet, CSV or JSON lines; a file, a folder or a pattern.
        cascade : bool, optional
            Users stop looking at the first click. None: as the file says, which `to_parquet` writes into it.
        **options
            As in `from_frame`.
        """
        paths = [path] if isinstance(path, str | Path) else list(path)
        stops = file_cascade(paths[0]) if cascade is None and paths else bool(cascade)
        given = {role: options.pop(name, None) for role, name in OPTIONS.items()}
        (files, named), *others = alike_files(paths, given)
        log = cls._read(files, stops, named, dict(options))
        for files, named in others:  # whose columns have other names or stand otherwise, but features are the same
            other = cls._read(files, stops, named, {"columns": log.columns} | options)
            log.dropped += other.dropped
            for part in other._parts:
                log._append(part.lists, part.outcomes, part.others)
        return log

    def __repr__(self) -> str:
        answered = sum(int(part.answered.sum()) for part in self._parts)
        text = f"Log: {len(self):,} list{'' if len(self) == 1 else 's'}, {answered:,} with an outcome"
        if not answered:
            return text
        total = sum(float(np.nansum(part.outcomes)) for part in self._parts)
        return f"{text}, mean value {total / answered:.3f}"


def _as_shown(
    lists: Lists, list_ids: Sequence[str] | None, propensities: ArrayLike | None, version: int | None
) -> Recommendations:
    if not isinstance(lists, Lists):
        raise InputError(f"A log takes listwright.Lists. Got {type(lists).__name__}.")
    carried = lists if isinstance(lists, Recommendations) else None
    chances = np.full(lists.rows.shape, np.nan) if carried is None else carried.propensities
    if propensities is not None:
        given = as_numbers(propensities, "propensities")
        if given.shape != lists.rows.shape:
            raise InputError(f"propensities must have the lists' shape {lists.rows.shape}. Got {given.shape}.")
        chances = np.where(lists.rows >= 0, given, np.nan)
    named = list_ids if list_ids is not None or carried is None else carried.list_ids
    return Recommendations(
        lists.problems.without_reward(),
        lists.rows,
        picked_scores=lists.picked_scores,
        list_ids=as_list_ids(named, len(lists)),
        propensities=chances,
        version=(0 if carried is None else carried.version) if version is None else version,
        budgets=None if carried is None else carried.budgets,
    )


def _check_shown(lists: Recommendations) -> None:
    # Propensities must be above 0 and at most 1, or missing for a whole list.
    shown, starts, ends = lists.rows >= 0, lists.problems.offsets[:-1, None], lists.problems.offsets[1:, None]
    ordered = np.sort(np.where(shown, lists.rows, -1 - np.arange(lists.rows.shape[1])), axis=1)
    outside = shown & ((lists.rows < starts) | (lists.rows >= ends))
    bad = (np.diff(ordered, axis=1) == 0).any(axis=1) | outside.any(axis=1)
    if bad.any():
        name = lists.list_ids[int(bad.argmax())]
        raise InputError(f"List {name} shows an item twice, or one that is not among its candidates.")
    known = ~np.isnan(np.where(shown, lists.propensities, np.nan)).all(axis=1)
    wrong = known & (shown & ~((lists.propensities > 0) & (lists.propensities <= 1))).any(axis=1)
    for i in np.flatnonzero(wrong)[:1]:
        validate_propensities(lists.propensities[i, shown[i]], int(shown[i].sum()), name=lists.list_ids[i])
