"""What came back for a list: by position the gain of each shown item, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Bools, Floats, as_numbers
from listwright.errors import InputError

Outcome = ArrayLike | Mapping[Any, float]


def by_list(list_ids: str | Sequence[str], outcomes: Any) -> dict[str, Outcome]:
    """The outcome of each list: of one id, or of several; of a list that is named twice, the first.

    >>> by_list(["a", "b", "a"], [[1], [0], [0]])
    {'a': [1], 'b': [0]}
    """
    if isinstance(list_ids, str):
        return {list_ids: outcomes}
    names, told = [str(name) for name in list_ids], list(outcomes)
    if len(names) != len(told):
        raise InputError(f"Give one outcome a list. Got {len(names)} lists and {len(told)} outcomes.")
    return dict(reversed(list(zip(names, told, strict=True))))


def checked_outcome(outcome: Outcome, items: Sequence[Any], *, cascade: bool, name: object) -> Floats:
    """By position, from 0 to 1: clicks, or what each item added. Shorter than the list where a cascade ended before.

    Parameters
    ----------
    outcome : one number a position; or a mapping from some of the shown items to theirs, the others 0.
    items : the shown items, in order.
    cascade : the user looks at one item after the other and stops at the first click; what follows is not seen.
    name : the list, for messages.

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
    """One chance a position, above 0 and up to 1; nan throughout where they are not known."""
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
