"""The constraints of a selection: how many rows, which are given, how many per group, and a budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Bools, Floats, Ints, as_numbers, as_whole_numbers, at_least_one, first_bad
from listwright.errors import InputError


@dataclass
class Rules:
    """The constraints of one selection, and what they leave open while it grows."""

    k: int  # the most picks
    given: Ints  # rows that are already selected
    costs: Floats  # the cost of each row
    left: float  # what is left of the budget
    groups: Ints  # the group number of each row
    room: Ints  # how many more rows each group takes
    open: Bools  # which rows may be picked
    n_picked: int = 0  # picks so far
    grouped: bool = False  # whether there are groups, a budget, and a k besides the budget
    priced: bool = False
    counted: bool = True

    @property
    def done(self) -> bool:
        """Whether nothing more may be picked."""
        return self.n_picked >= self.k or not self.open.any()

    def take(self, row: int) -> None:
        """Pick a row, and close the rows that no longer fit."""
        self.open[row] = False
        self.n_picked += 1
        self.left -= self.costs[row]
        self.room[self.groups[row]] -= 1
        if self.grouped and self.room[self.groups[row]] == 0:
            self.open[self.groups == self.groups[row]] = False
        if self.priced:
            self.open &= self.costs <= self.left

    def copy(self) -> Rules:
        """Return a copy that a run can use up."""
        return replace(self, room=self.room.copy(), open=self.open.copy())

    def single(self) -> Rules:
        """Return rules for picking the one row that adds most, whatever it costs, as long as it fits."""
        return replace(self.copy(), k=1, costs=np.ones(len(self.costs)), left=np.inf, priced=False)

    def among(self, rows: Ints) -> Rules:
        """Return the same rules restricted to some rows, in ascending order, which include all that are given."""
        given, groups = np.searchsorted(rows, self.given), self.groups[rows]
        return replace(self.copy(), given=given, costs=self.costs[rows], groups=groups, open=self.open[rows])


def make_rules(
    n: int, k: int | None, *, given: Any, groups: Any, per_group: Any, costs: Any, budget: float | None
) -> Rules:
    """Return the rules that the arguments of `select` describe, or raises `InputError` if they cannot be met."""
    taken = _given(given, n)
    prices, left = _prices(costs, budget, n)
    codes, room = _groups(groups, per_group, n, taken)
    if k is None and budget is None:
        raise InputError("select needs k, the number of rows to pick, or costs and a budget. Got neither.")
    if k is not None:
        at_least_one("k", k)
        _enough(k, n, taken, codes, room, grouped=groups is not None)
    open_rows = (room[codes] > 0) & (prices <= left)
    open_rows[taken] = False
    if budget is not None and not open_rows.any():
        raise InputError(f"No row fits into budget={budget:g}: the smallest cost is {prices.min():g}.")
    limit = n - len(taken) if k is None else int(k)
    return Rules(
        limit,
        taken,
        prices,
        left,
        codes,
        room,
        open_rows,
        grouped=groups is not None,
        priced=budget is not None,
        counted=k is not None,
    )


def _given(given: Any, n: int) -> Ints:
    """Return the numbers of the given rows, from numbers or a mask, without duplicates."""
    if given is None:
        return np.empty(0, dtype=np.int64)
    array = np.asarray(given)
    if array.dtype == bool:
        if array.shape != (n,):
            raise InputError(f"given as a mask must have one entry per row ({n}). Got shape {array.shape}.")
        return np.flatnonzero(array)
    rows = as_whole_numbers(given, "given").reshape(-1)
    bad = first_bad((rows < 0) | (rows >= n))
    if bad is not None:
        raise InputError(f"given must hold row numbers from 0 to {n - 1}. Got {rows[bad]}.")
    return np.array(list(dict.fromkeys(rows.tolist())), dtype=np.int64)


def _prices(costs: Any, budget: float | None, n: int) -> tuple[Floats, float]:
    """Return the cost of each row and the budget, or raise if one is missing or not above 0."""
    if costs is None and budget is None:
        return np.ones(n), np.inf
    if costs is None:
        raise InputError("budget= needs costs=, one positive number per row.")
    if budget is None:
        raise InputError("costs= needs budget=, the most that the picked rows may cost together.")
    prices = as_numbers(costs, "costs")
    if prices.shape != (n,):
        raise InputError(f"costs must have one entry per row ({n}). Got shape {prices.shape}.")
    bad = first_bad(~((prices > 0) & np.isfinite(prices)))
    if bad is not None:
        raise InputError(f"The cost of row {bad} is {prices[bad]:g}. Costs must be above 0.")
    if not (np.ndim(budget) == 0 and budget > 0 and np.isfinite(budget)):
        raise InputError(f"budget must be one number above 0. Got {budget!r}.")
    return prices, float(budget)


def _groups(groups: Any, per_group: Any, n: int, taken: Ints) -> tuple[Ints, Ints]:
    """Return the group number of each row, and how many more rows each group takes; given rows count."""
    if groups is None and per_group is None:
        return np.zeros(n, dtype=np.int64), np.array([n])
    if groups is None or per_group is None:
        raise InputError("groups= (a label for each row) and per_group= (the most rows of each) go together.")
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise InputError(f"groups must have one label per row ({n}). Got shape {labels.shape}.")
    names, codes = np.unique(labels, return_inverse=True)
    room = _room(per_group, names)
    return codes.astype(np.int64), np.maximum(room - np.bincount(codes[taken], minlength=len(names)), 0)


def _room(per_group: Any, names: NDArray[Any]) -> Ints:
    """Return the most rows of each group, from one number or a dict, or raise if the dict does not fit the labels."""
    if not isinstance(per_group, Mapping):
        at_least_one("per_group", per_group)
        return np.full(len(names), int(per_group))
    known = names.tolist()
    unknown = [name for name in per_group if name not in known]
    missing = [name for name in known if name not in per_group]
    if unknown:
        raise InputError(f"per_group names {unknown[0]!r}, but no row is in that group. Groups: {_some(known)}.")
    if missing:
        raise InputError(f"per_group has no entry for group {missing[0]!r}. Pass a number for each group, 0 for none.")
    room = as_whole_numbers([per_group[name] for name in known], "per_group")
    bad = first_bad(room < 0)
    if bad is not None:
        raise InputError(f"per_group must be 0 or more. Got {room[bad]} for group {known[bad]!r}.")
    return room


def _enough(k: int, n: int, taken: Ints, codes: Ints, room: Ints, *, grouped: bool) -> None:
    """Raise `InputError` if fewer than k rows can be picked."""
    left = n - len(taken)
    if k > left:
        beside = f" besides the {len(taken)} that are given" if len(taken) else ""
        raise InputError(f"k={k}, but there are only {left} rows{beside}. Ask for at most that many.")
    sizes = np.bincount(codes, minlength=len(room)) - np.bincount(codes[taken], minlength=len(room))
    most = int(np.minimum(sizes, room).sum())
    if grouped and k > most:
        raise InputError(
            f"k={k}, but per_group= lets at most {most} rows be picked from the {len(room)} groups. "
            "Raise per_group, or ask for fewer rows."
        )


def _some(names: list[Any]) -> str:
    """Return the first five names, and how many more there are."""
    shown = ", ".join(repr(name) for name in names[:5])
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")
