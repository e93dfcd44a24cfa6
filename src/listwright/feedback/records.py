"""What came back for a shown list, checked, and the record of list and outcome that learning takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Bools, Floats, Ints, as_numbers, as_whole_numbers
from listwright.errors import InputError
from listwright.problems import Problems

Outcome = ArrayLike | Mapping[Any, float]


def by_list(list_ids: str | Sequence[str], outcomes: Any) -> dict[str, Outcome]:
    """The outcome of each list: of one id, or of several; of a list that is named twice, the first.

    Examples
    --------
    >>> by_list(["a", "b", "a"], [[1], [0], [0]])
    {'a': [1], 'b': [0]}
    """
    if isinstance(list_ids, str):
        return {list_ids: outcomes}
    names, told = [str(name) for name in list_ids], list(outcomes)
    if len(names) != len(told):
        raise InputError(f"Give one outcome per list. Got {len(names)} lists and {len(told)} outcomes.")
    return dict(reversed(list(zip(names, told, strict=True))))


def checked_outcome(outcome: Outcome, items: Sequence[Any], *, cascade: bool, name: object) -> Floats:
    """By position, from 0 to 1: clicks, or what each item added. Shorter than the list where a cascade ended before.

    Parameters
    ----------
    outcome
        One number per position; or a mapping from some of the shown items to theirs, the others 0.
    items : sequence
        The shown items, in order.
    cascade : bool
        The user looks at one item after the other and stops at the first click; what follows is not seen.
    name
        The list, for messages.

    Examples
    --------
    >>> checked_outcome({"b": 1}, ["a", "b", "c"], cascade=False, name="l1")
    array([0., 1., 0.])
    >>> checked_outcome([0, 1, 0], ["a", "b", "c"], cascade=True, name="l1")
    array([0., 1.])
    """
    gains = _by_item(outcome, items, name) if isinstance(outcome, Mapping) else as_numbers(outcome, "outcomes")
    _check_numbers(gains, len(items), cascade, name)
    if not cascade:
        return gains
    clicks = np.flatnonzero(gains)
    if len(clicks) > 1:
        raise InputError(
            f"List {name!s} has a click at position {clicks[1] + 1}, after the cascade stopped at position "
            f"{clicks[0] + 1}. Pass cascade=False where users go on after a click."
        )
    return gains[: clicks[0] + 1] if len(clicks) else gains


def _by_item(outcome: Mapping[Any, float], items: Sequence[Any], name: object) -> Floats:
    places = {item: place for place, item in enumerate(items)}
    gains = np.zeros(len(items))
    for item, gain in outcome.items():
        if item not in places:
            raise InputError(f"Feedback for item {item!r} of list {name!s}, which did not show it.")
        gains[places[item]] = as_numbers(gain, "outcomes")
    return gains


def _check_numbers(gains: Floats, shown: int, cascade: bool, name: object) -> None:
    if gains.ndim != 1 or len(gains) > shown or (len(gains) < shown and not cascade):
        few = "at most " if cascade else ""
        raise InputError(f"List {name!s} showed {shown} items: give {few}as many outcomes. Got shape {gains.shape}.")
    bad = np.flatnonzero(~((gains >= 0) & (gains <= 1)))
    if len(bad):
        raise InputError(
            f"Outcomes must be from 0 to 1. Got {gains[bad[0]]} at position {bad[0] + 1} of list {name!s}."
        )


def checked_propensities(propensities: ArrayLike | None, shown: int, *, name: object) -> Floats:
    """One chance per position, above 0 and up to 1; nan throughout where they are not known."""
    if propensities is None:
        return np.full(shown, np.nan)
    chances = as_numbers(propensities, "propensities")
    if chances.shape != (shown,):
        raise InputError(f"List {name!s} showed {shown} items: give as many propensities. Got shape {chances.shape}.")
    bad = np.flatnonzero(~((chances > 0) & (chances <= 1)) & ~_all_missing(chances))
    if len(bad):
        where = f"position {bad[0] + 1} of list {name!s}"
        raise InputError(f"Propensities must be above 0 and at most 1. Got {chances[bad[0]]} at {where}.")
    return chances


def _all_missing(chances: Floats) -> Bools:
    return np.full(len(chances), bool(np.isnan(chances).all()))


@dataclass(frozen=True, eq=False)
class Record:
    """One shown list; made by `of`, which checks.

    Examples
    --------
    >>> problem = Problems.from_arrays([[0.1], [0.2], [0.3]], offsets=[0, 3])
    >>> Record.of("a", problem, picks=[2, 0], propensities=[0.5, 0.5], outcomes=[1, 0]).outcomes
    array([1., 0.])
    """

    list_id: str
    problem: Problems  # one, as it was shown, without a reward
    picks: Ints  # rows within the problem, in order
    propensities: Floats  # by position: the chance that the pick had, given the picks before; nan where not known
    outcomes: Floats  # by position: the gain; shorter than the list where the rest was not seen
    room: float | None = None  # the budget, where there was one
    earlier: Floats | None = None  # the outcomes learned from before, where this is later feedback on the same list

    @classmethod
    def of(
        cls,
        list_id: str,
        problem: Problems,
        picks: ArrayLike,
        propensities: ArrayLike | None,
        outcomes: Outcome,
        *,
        room: float | None = None,
        cascade: bool = False,
        earlier: Outcome | None = None,
    ) -> Record:
        """A record from plain values, or the error that says which of them cannot be.

        Parameters
        ----------
        picks : array-like
            Rows within the problem, in the order shown.
        propensities : array-like or None
            None where they are not known.
        outcomes
            Clicks or gains by position, or a mapping by item; see `checked_outcome`.
        cascade : bool
            The user stops at the first click.
        earlier
            The outcomes of this list that were learned from before. Then the list does not count again: what
            was learned is changed to the new outcomes.
        """
        rows = checked_picks(picks, problem, name=list_id)
        chances = checked_propensities(propensities, len(rows), name=list_id)
        items = items_of(problem, rows)
        gains = checked_outcome(outcomes, items, cascade=cascade, name=list_id)
        before = None if earlier is None else checked_outcome(earlier, items, cascade=False, name=list_id)
        if before is not None and len(before) != len(gains):
            raise InputError(f"Later feedback on list {list_id!s} must reveal as many positions as before.")
        return cls(str(list_id), problem.without_reward(), rows, chances, gains, room, before)


def checked_picks(picks: ArrayLike, problem: Problems, *, name: object) -> Ints:
    """Rows within one problem, none of them twice."""
    if not isinstance(problem, Problems) or len(problem) != 1:
        raise InputError(f"The record of list {name!s} needs listwright.Problems with one problem. Got {problem!r}.")
    rows = as_whole_numbers(picks, "picks")
    if rows.ndim != 1 or rows.min(initial=0) < 0 or rows.max(initial=-1) >= problem.n_rows:
        raise InputError(f"Picks of list {name!s} must be rows from 0 to {problem.n_rows - 1}. Got {picks!r}.")
    if len(np.unique(rows)) < len(rows):
        raise InputError(f"List {name!s} shows an item twice. Got picks {rows.tolist()}.")
    return rows


def items_of(problem: Problems, rows: Ints) -> list[Any]:
    """Ids of the rows of one problem; where items have none, their rows."""
    return rows.tolist() if problem.item_ids is None else problem.item_ids[rows].tolist()


def check_outcomes(outcomes: Floats, shown: Bools, names: Sequence[str], *, cascade: bool) -> Floats:
    """Outcomes of many lists at once, (lists, positions), as `checked_outcome` gives them; nan: nothing came back.

    Lists without any outcome are not answered yet. What stands behind the stop of a cascade is left out.

    Examples
    --------
    >>> check_outcomes(np.array([[0.0, 1.0, 0.0]]), np.ones((1, 3), dtype=bool), ["a"], cascade=True)
    array([[ 0.,  1., nan]])
    """
    seen = ~np.isnan(outcomes)
    answered: Bools = np.any(seen, axis=1)
    first = np.where((clicks := seen & (outcomes > 0)).any(axis=1), clicks.argmax(axis=1), outcomes.shape[1])
    kept = np.arange(outcomes.shape[1]) <= first[:, None] if cascade else np.ones_like(seen)
    gap = shown & ~seen & kept & (seen[:, ::-1].cumsum(axis=1)[:, ::-1] > 0 if cascade else answered[:, None])
    wrong = gap | (seen & ~((outcomes >= 0) & (outcomes <= 1))) | (clicks & ~kept)
    for i in np.flatnonzero((wrong & answered[:, None]).any(axis=1))[:1]:
        given = outcomes[i, : np.flatnonzero(seen[i])[-1] + 1]
        checked_outcome(given, range(int(shown[i].sum())), cascade=cascade, name=names[i])
    return np.where(seen & kept, outcomes, np.nan)
