"""What may be picked: how many rows, which are taken, at most so many of a group, within a budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Bools, Floats, Ints, as_numbers, as_whole_numbers, first_bad
from listwright._internal.limits import at_least_one
from listwright.errors import InputError


@dataclass
class Rules:
    """The constraints of one selection, and what they leave open while it grows.

    Without groups there is one group with room for everything; without costs every row costs 1 and the budget is
    infinite. So the selecting code has one form.
    """

    k: int  # at most so many picks
    given: Ints
    costs: Floats
    left: float  # of the budget
    groups: Ints  # number of each row's group
    room: Ints  # by group: picks that it still has room for
    open: Bools  # rows that may be picked
    n_picked: int = 0
    grouped: bool = False
    priced: bool = False
    counted: bool = True  # whether there is a k beside the budget

    @property
    def done(self) -> bool:
        """Whether nothing more may be picked."""
        return self.n_picked >= self.k or not self.open.any()

    def take(self, row: int) -> None:
        """A pick: what no longer fits is closed."""
        self.open[row] = False
        self.n_picked += 1
        self.left -= self.costs[row]
        self.room[self.groups[row]] -= 1
        if self.grouped and self.room[self.groups[row]] == 0:
            self.open[self.groups == self.groups[row]] = False
        if self.priced:
            self.open &= self.costs <= self.left

    def copy(self) -> Rules:
        """Rules to use up."""
        return replace(self, room=self.room.copy(), open=self.open.copy())

    def single(self) -> Rules:
        """Rules for the one row that brings most, whatever it costs as long as it fits."""
        return replace(self.copy(), k=1, costs=np.ones(len(self.costs)), left=np.inf, priced=False)

    def among(self, rows: Ints) -> Rules:
        """The same rules where only some rows, in ascending order and with all that are given, are candidates."""
        given, groups = np.searchsorted(rows, self.given), self.groups[rows]
        return replace(self.copy(), given=given, costs=self.costs[rows], groups=groups, open=self.open[rows])


def make_rules(
    n: int, k: int | None, *, given: Any, groups: Any, per_group: Any, costs: Any, budget: float | None
) -> Rules:
    """The rules that the arguments of `select` ask for, checked against n rows."""
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
    """Group number of each row, and how many more each group takes; rows that are given count."""
    if groups is None and per_group is None:
        return np.zeros(n, dtype=np.int64), np.array([n])
    if groups is None or per_group is None:
        raise InputError("groups= (a label for each row) and per_group= (at most so many of each) go together.")
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise InputError(f"groups must have one label per row ({n}). Got shape {labels.shape}.")
    names, codes = np.unique(labels, return_inverse=True)
    room = _room(per_group, names)
    return codes.astype(np.int64), np.maximum(room - np.bincount(codes[taken], minlength=len(names)), 0)


def _room(per_group: Any, names: NDArray[Any]) -> Ints:
    if not isinstance(per_group, Mapping):
        at_least_one("per_group", per_group)
        return np.full(len(names), int(per_group))
    known = names.tolist()
    unknown = [name for name in per_group if name not in known]
    missing = [name for name in known if name not in per_group]
    if unknown:
        raise InputError(f"per_group names {unknown[0]!r}, but no row is in that group. Groups: {_some(known)}.")
    if missing:
        raise InputError(f"per_group says nothing of group {missing[0]!r}. Give a number for each group, 0 for none.")
    room = as_whole_numbers([per_group[name] for name in known], "per_group")
    bad = first_bad(room < 0)
    if bad is not None:
        raise InputError(f"per_group must be 0 or more. Got {room[bad]} for group {known[bad]!r}.")
    return room


def _enough(k: int, n: int, taken: Ints, codes: Ints, room: Ints, *, grouped: bool) -> None:
    """Whether k rows can be picked at all."""
    left = n - len(taken)
    if k > left:
        beside = f" beside the {len(taken)} that are given" if len(taken) else ""
        raise InputError(f"k={k}, but there are only {left} rows{beside}. Ask for at most that many.")
    sizes = np.bincount(codes, minlength=len(room)) - np.bincount(codes[taken], minlength=len(room))
    most = int(np.minimum(sizes, room).sum())
    if grouped and k > most:
        raise InputError(
            f"k={k}, but per_group= lets at most {most} rows be picked from the {len(room)} groups. "
            "Raise per_group, or ask for fewer rows."
        )


def _some(names: list[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")
