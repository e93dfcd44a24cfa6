"""Outcomes of shown lists, validated before anything is learned from them, and the record that learning takes."""

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
    """Map each list id to its outcome."""
    # Where an id occurs more than once the first outcome wins, because a list counts once.
    if isinstance(list_ids, str):
        return {list_ids: outcomes}
    names, given = [str(name) for name in list_ids], list(outcomes)
    if len(names) != len(given):
        raise InputError(f"Give one outcome per list. Got {len(names)} lists and {len(given)} outcomes.")
    return dict(reversed(list(zip(names, given, strict=True))))


def validate_outcome(outcome: Outcome, items: Sequence[Any], *, cascade: bool, name: object) -> Floats:
    gains = _by_item(outcome, items, name) if isinstance(outcome, Mapping) else as_numbers(outcome, "outcomes")
    _check_numbers(gains, len(items), cascade, name)
    if not cascade:
        return gains
    clicks = np.flatnonzero(gains)
    if len(clicks) > 1:
        raise InputError(
            f"List {name!s} has a click at position {clicks[1] + 1}, after the cascade stopped at position "
            f"{clicks[0] + 1}. Pass cascade=False if users continue after a click."
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
    """Raise unless the gains are one-dimensional, of the right length and between 0 and 1 (NaN is rejected)."""
    if gains.ndim != 1 or len(gains) > shown or (len(gains) < shown and not cascade):
        few = "at most " if cascade else ""
        raise InputError(f"List {name!s} showed {shown} items: give {few}as many outcomes. Got shape {gains.shape}.")
    bad = np.flatnonzero(~((gains >= 0) & (gains <= 1)))
    if len(bad):
        raise InputError(
            f"Outcomes must be from 0 to 1. Got {gains[bad[0]]} at position {bad[0] + 1} of list {name!s}."
        )


def validate_propensities(propensities: ArrayLike | None, shown: int, *, name: object) -> Floats:
    # Each must be above 0 and at most 1.
    if propensities is None:
        return np.full(shown, np.nan)
    chances = as_numbers(propensities, "propensities")
    if chances.shape != (shown,):
        raise InputError(f"List {name!s} showed {shown} items: give as many propensities. Got shape {chances.shape}.")
    bad = np.flatnonzero(~((chances > 0) & (chances <= 1)))
    if len(bad) and not np.isnan(chances).all():
        where = f"position {bad[0] + 1} of list {name!s}"
        raise InputError(f"Propensities must be above 0 and at most 1. Got {chances[bad[0]]} at {where}.")
    return chances


@dataclass(frozen=True, eq=False)
class TrainingUpdate:
    """One shown list with its outcome: the unit that `OnlineSCP.update` learns from.

    Use it to replay feedback from your own storage, where the learner no longer remembers the list. For lists that the
    learner still remembers, `OnlineSCP.feedback` needs only the id; for whole data sets, read a `Log`. Build records
    with `TrainingUpdate.of`, which validates; the constructor does not.

    Attributes
    ----------
    list_id : str
        The id under which the list was shown; it also decides the cross-validation fold.
    problem : Problems
        The one problem that the list answered, without a reward.
    picks : ndarray of int
        Rows within the problem, in the order shown.
    propensities : ndarray of float
        The chance of each pick given the picks before it; NaN where unknown.
    outcomes : ndarray of float
        The gain of each revealed position; shorter than the list where a cascade ended early.
    budget : float or None
        The budget, if the list had one.
    earlier : ndarray of float or None
        Outcomes of the same list that were learned from before and are to be replaced.
    weight : float
        How much the list counts in learning, as a share of what it otherwise would.

    See Also
    --------
    OnlineSCP.update : Learns from records.
    Log.updates : Iterates over the answered lists of a log.

    Examples
    --------
    >>> problem = Problems.from_arrays([[0.1], [0.2], [0.3]], offsets=[0, 3])
    >>> TrainingUpdate.of("a", problem, picks=[2, 0], propensities=[0.5, 0.5], outcomes=[1, 0]).outcomes
    array([1., 0.])
    """

    list_id: str
    problem: Problems  # one, as it was shown, without a reward
    picks: Ints  # rows within the problem, in order
    propensities: Floats  # by position: the chance that the pick had, given the picks before; nan where not known
    outcomes: Floats  # by position: the gain; shorter than the list where the rest was not seen
    budget: float | None = None  # the budget, where there was one
    earlier: Floats | None = None  # the outcomes learned from before, where this is later feedback on the same list
    weight: float = 1.0  # of the list in learning

    @classmethod
    def of(
        cls,
        list_id: str,
        problem: Problems,
        picks: ArrayLike,
        propensities: ArrayLike | None,
        outcomes: Outcome,
        *,
        budget: float | None = None,
        cascade: bool = False,
        earlier: Outcome | None = None,
    ) -> TrainingUpdate:
        """Build an update from plain values, validating each of them.

        Parameters
        ----------
        list_id : str
            The id of the list.
        problem : Problems
            Exactly one problem, with the candidates as they were when the list was shown.
        picks : array-like of int
            Rows within the problem, in the order shown, without repeats.
        propensities : array-like of float or None
            The chance of each pick given the picks before it; None where unknown.
        outcomes : array-like or mapping
            Clicks or gains by position, or a mapping by item.
        budget : float, optional
            The budget that the list was built under.
        cascade : bool
            Whether the user stops at the first click.
        earlier : array-like or mapping, optional
            Outcomes of this list that were learned from before. The list then does not count a second time: what was
            learned is changed to the new outcomes.

        Returns
        -------
        TrainingUpdate
            With the problem's reward removed.

        Raises
        ------
        InputError
            If a value does not fit the list, or `earlier` reveals another number of positions than `outcomes`.
        """
        rows = validate_picks(picks, problem, name=list_id)
        chances = validate_propensities(propensities, len(rows), name=list_id)
        items = items_of(problem, rows)
        gains = validate_outcome(outcomes, items, cascade=cascade, name=list_id)
        before = None if earlier is None else validate_outcome(earlier, items, cascade=False, name=list_id)
        if before is not None and len(before) != len(gains):
            raise InputError(f"Later feedback on list {list_id!s} must reveal as many positions as before.")
        return cls(str(list_id), problem.without_reward(), rows, chances, gains, budget, before)


def validate_picks(picks: ArrayLike, problem: Problems, *, name: object) -> Ints:
    if not isinstance(problem, Problems) or len(problem) != 1:
        raise InputError(f"The record of list {name!s} needs listwright.Problems with one problem. Got {problem!r}.")
    rows = as_whole_numbers(picks, "picks")
    if rows.ndim != 1 or rows.min(initial=0) < 0 or rows.max(initial=-1) >= problem.n_rows:
        raise InputError(f"Picks of list {name!s} must be rows from 0 to {problem.n_rows - 1}. Got {picks!r}.")
    if len(np.unique(rows)) < len(rows):
        raise InputError(f"List {name!s} shows an item twice. Got picks {rows.tolist()}.")
    return rows


def items_of(problem: Problems, rows: Ints) -> list[Any]:
    return rows.tolist() if problem.item_ids is None else problem.item_ids[rows].tolist()


def validate_outcomes(outcomes: Floats, shown: Bools, names: Sequence[str], *, cascade: bool) -> Floats:
    seen = ~np.isnan(outcomes)
    answered: Bools = np.any(seen, axis=1)
    first = np.where((clicks := seen & (outcomes > 0)).any(axis=1), clicks.argmax(axis=1), outcomes.shape[1])
    kept = np.arange(outcomes.shape[1]) <= first[:, None] if cascade else np.ones_like(seen)
    gap = shown & ~seen & kept & (seen[:, ::-1].cumsum(axis=1)[:, ::-1] > 0 if cascade else answered[:, None])
    wrong = gap | (seen & ~((outcomes >= 0) & (outcomes <= 1))) | (clicks & ~kept)
    for i in np.flatnonzero((wrong & answered[:, None]).any(axis=1))[:1]:
        given = outcomes[i, : np.flatnonzero(seen[i])[-1] + 1]
        validate_outcome(given, range(int(shown[i].sum())), cascade=cascade, name=names[i])
    return np.where(seen & kept, outcomes, np.nan)
