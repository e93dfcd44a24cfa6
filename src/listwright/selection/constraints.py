"""The constraints of a selection from one table: how many rows, which are given, and all that lists keep to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints, as_numbers, at_least_one, first_bad
from listwright._internal.quotas import Quotas, absent_groups, as_levels, as_rows, make_quotas
from listwright._kernels.constraints import BELOW, MOST, NEED, NO_QUOTAS, NO_SIZES, ListLimits, open_rows, use_up_rows
from listwright.errors import InputError
from listwright.walk.constraints import Constraints


class RowConstraints(Constraints):
    """What one selection of rows still allows: rows that do not fit are closed for good, unlike in lists."""

    def __init__(self, k: int, given: Ints, costs: Floats, limits: ListLimits, *, counted: bool) -> None:
        self.k, self.given, self.costs, self._limits = k, given, costs, limits
        self.n_picked, self.counted = 0, counted  # whether there is a k besides the budget
        self.open: Bools = self.fits()
        self.open[given] = False

    @classmethod
    def free(cls, n: int, k: int, given: Ints) -> Self:
        return cls(k, given, np.ones(n), ListLimits(NO_SIZES, np.array([np.inf]), *NO_QUOTAS, False), counted=True)

    @property
    def finest(self) -> Ints | None:
        """The number of the finest group of each row; None without groups."""
        return self._limits.groups[:, -2] if self.has_groups else None

    @property
    def has_costs(self) -> bool:
        return len(self._limits.sizes) > 0

    @property
    def has_groups(self) -> bool:
        return self._limits.groups.shape[1] > 2

    @property
    def several_budgets(self) -> bool:
        return self._limits.amounts.shape[1] > 0

    @property
    def closes(self) -> bool:
        """Whether a pick may close other rows."""
        return self.has_costs or self.has_groups or self.several_budgets

    @property
    def plain(self) -> bool:
        """Whether there is nothing but k and one budget, so that every row that fits is open."""
        return not len(self._limits.groups) and not len(self.given) and np.array_equal(self.open, self.fits())

    @property
    def quotas(self) -> tuple[Ints, Ints, Floats, Floats]:
        """Groups, counts, amounts and what is left of further budgets, copied, as compiled functions take them."""
        _, _, groups, counts, amounts, left, _ = self._limits
        return groups, counts.copy(), amounts, left.copy()

    @property
    def budget(self) -> float:
        return float(self._limits.budgets[0])

    @property
    def n_needed(self) -> int:
        return int(self._limits.counts[0, BELOW]) if self.has_groups else 0

    @property
    def done(self) -> bool:
        return self.n_picked >= self.k or not self.open.any()

    def fits(self) -> Bools:
        """Return by row whether it is allowed now, whether picked or not."""
        fits = open_rows(self._limits) if len(self._limits.groups) else np.ones(len(self.costs), dtype=bool)
        return fits & (self._limits.sizes <= self.budget) if self.has_costs else fits

    def take_row(self, row: int) -> None:
        self.take(np.array([row]))
        self.open[row] = False
        self.n_picked += 1
        counts = self._limits.counts[self._limits.groups[row, :-1] if self.has_groups else []]
        if self.has_costs or self.several_budgets or (counts[:, BELOW] >= counts[:, MOST]).any():
            self.open &= self.fits()

    def copy(self, **changes: Any) -> Self:
        twin = object.__new__(type(self))
        limits = self._limits._replace(**changes.pop("limits", {}))
        fresh = limits._replace(budgets=limits.budgets.copy(), counts=limits.counts.copy(), left=limits.left.copy())
        twin.__dict__.update(self.__dict__ | {"_limits": fresh, "open": self.open.copy()} | changes)
        return twin

    def single(self) -> Self:
        """Return constraints for picking the one row that adds most, whatever it costs, as long as it fits."""
        free = {"sizes": NO_SIZES, "budgets": np.array([np.inf])}
        return self.copy(k=1, costs=np.ones(len(self.costs)), limits=free)

    def beside(self, rows: Ints) -> Self:
        """Return constraints for picking the one row that adds most next to some others, as above."""
        rest = self.after(rows)
        return (rest.for_needs() if rest.n_needed else rest).single()

    def among(self, rows: Ints) -> Self:
        """Return the same constraints for some rows, in ascending order, which include all that are given."""
        limits, given = self._limits, np.searchsorted(rows, self.given)
        sizes = limits.sizes[rows] if self.has_costs else NO_SIZES
        quotas = {"groups": limits.groups[rows], "amounts": limits.amounts[rows]} if len(limits.groups) else {}
        some = {"sizes": sizes} | quotas
        return self.copy(given=given, costs=self.costs[rows], open=self.open[rows], limits=some)

    def for_needs(self) -> Self:
        """Return constraints under which only the rows that quotas ask for are picked."""
        twin = self.copy(k=self.n_needed)
        twin._limits.counts[0, MOST] = self.n_needed
        twin.open &= twin.fits()
        return twin

    def cheapest(self) -> Bools:
        """Return a mask of the cheapest rows that the quotas ask for, or raise if these exceed the budget."""
        twin, price = self.copy(), np.max([costs / left for costs, left in self.prices()], axis=0)
        chosen = np.zeros(len(price), dtype=bool)
        while not twin.done:
            row = int(np.argmin(np.where(twin.open, price, np.inf)))
            chosen[row] = True
            twin.take_row(row)
        if twin.n_picked < self.k:
            what = "more than the budget pays for" if not self.several_budgets else "none were found within the budgets"
            raise InputError(
                f"per_group asks for at least {self.k} rows, {what}. Raise the budget, or ask for fewer rows."
            )
        return chosen

    def after(self, rows: Ints) -> Self:
        twin = self.copy(k=self.k - len(rows), given=np.concatenate([self.given, rows]))
        for row in rows:
            twin.take(np.array([row]))
        twin.open &= twin.fits()
        twin.open[rows] = False
        return twin

    def prices(self) -> list[tuple[Floats, float]]:
        limits = self._limits
        first = [(self.costs, self.budget)] if self.has_costs else []
        return first + [(limits.amounts[:, j], float(limits.left[0, j])) for j in range(limits.amounts.shape[1])]

    def highest(self, gains: Floats) -> Floats:
        """Return the gains of the rows that the quotas of groups let a selection hold, the highest first; 0 else."""
        limits, kept = self._limits, np.where(self.open, gains, 0.0)
        for level in range(limits.groups.shape[1] - 2, 0, -1):
            codes, most = limits.groups[:, level], np.maximum(limits.counts[:, MOST], 0)
            order = np.lexsort((-kept, codes))
            rank = np.arange(len(order)) - np.searchsorted(codes[order], codes[order])
            kept[order] = np.where(rank < most[codes[order]], kept[order], 0.0)
        return kept


def make_constraints(
    n: int, k: int | None, *, given: Any, exclude: Any, groups: Any, per_group: Any, costs: Any, budget: Any
) -> RowConstraints:
    taken, excluded = as_rows(given, n, "given"), as_rows(exclude, n, "exclude")
    excluded = np.setdiff1d(excluded, taken)  # given rows count in their groups
    amounts, left = _amounts(costs, budget, n)
    if k is None and budget is None:
        raise InputError("select needs k, the number of rows to pick, or costs and a budget. Got neither.")
    if (groups is None) != (per_group is None):
        raise InputError("groups= (a label for each row) and per_group= (how many rows of each) go together.")
    if k is not None:
        at_least_one("k", k)
    parts = NO_QUOTAS
    if per_group is not None or len(excluded) or len(left) > 1:
        further = [(amounts[:, j], left[j]) for j in range(1, len(left))] or None
        offsets = np.array([0, n])
        quotas = make_quotas(Quotas.free(n), offsets, groups, per_group, excluded, None, further, None)
        _check_labels(groups, per_group, quotas)
        parts = quotas.limits(offsets, None if k is None else k + len(taken), needs_first=False)
    sizes, budgets = (amounts[:, 0].copy(), left[:1]) if len(left) else (NO_SIZES, np.array([np.inf]))
    limits = ListLimits(sizes, budgets, *parts, False)
    use_up_rows(taken, limits._replace(amounts=np.zeros((n, 0))))  # given rows cost nothing
    short = first_bad(limits.counts[:, BELOW] > limits.counts[:, MOST])
    if short is not None and limits.counts[short, MOST] < 0:
        over = -limits.counts[short, MOST]
        raise InputError(f"The rows given are {over} more than per_group allows of their group. Raise per_group.")
    if short is not None:
        raise InputError(
            f"Besides the rows given, the groups need {limits.counts[short, BELOW]} more, and only "
            f"{limits.counts[short, MOST]} may be picked. Raise k or the maximums of groups."
        )
    counts = sizes if len(left) else np.ones(n)
    constraints = RowConstraints(k or n - len(taken), taken, counts, limits, counted=k is not None)
    _check_enough(constraints, n, budget)
    return constraints


def _amounts(costs: Any, budget: Any, n: int) -> tuple[Floats, Floats]:
    if costs is None and budget is None:
        return np.zeros((n, 0)), np.zeros(0)
    if costs is None:
        raise InputError("budget= needs costs=, one positive number per row.")
    if budget is None:
        raise InputError("costs= needs budget=, the most that the picked rows may cost together.")
    prices, left = as_numbers(costs, "costs"), as_numbers(budget, "budget")
    if left.ndim > 1 or not ((left > 0) & np.isfinite(left)).all():
        raise InputError(f"budget must be one number above 0, or one for each column of costs. Got {budget!r}.")
    shape = (n,) if left.ndim == 0 else (n, len(left))
    if prices.shape != shape:
        raise InputError(f"costs must have one entry per row ({n}) and budget. Got shape {prices.shape}.")
    bad = first_bad(~((prices > 0) & np.isfinite(prices)).reshape(n, -1).all(axis=1))
    if bad is not None:
        raise InputError(f"The cost of row {bad} is {prices[bad].min():g}. Costs must be above 0.")
    return prices.reshape(n, -1), left.reshape(-1)


def _check_labels(groups: Any, per_group: Any, quotas: Quotas) -> None:
    """Refuse groups that a dictionary names if there are none, or too few of their rows can be picked."""
    asked = per_group if isinstance(per_group, list) else [per_group]
    codes, counts, _, _ = quotas.limits(np.array([0, len(quotas.pinned)]), None, needs_first=False)
    for level, (labels, by_name) in enumerate(zip(as_levels(groups), asked, strict=True)):
        if not isinstance(by_name, Mapping):
            continue
        absent = absent_groups(by_name, labels)
        if absent:
            raise InputError(absent)
        least, possible = quotas.least[:, level], counts[codes[:, level + 1], NEED]
        short = first_bad(possible < least)
        if short is not None:
            raise InputError(
                f"per_group asks for {least[short]} rows of group {labels.tolist()[short]!r}, and only "
                f"{possible[short]} of them can be picked."
            )


def _check_enough(constraints: RowConstraints, n: int, budget: Any) -> None:
    k, taken = constraints.k, len(constraints.given)
    if budget is not None and not constraints.open.any():
        raise InputError(
            f"No row fits into budget={np.asarray(budget)}: the smallest cost is {constraints.costs.min():g}."
        )
    free = n - taken
    if constraints.counted and k > free:
        beside = f" besides the {taken} that are given" if taken else ""
        raise InputError(f"k={k}, but there are only {free} rows{beside}. Ask for at most that many.")
    reachable = int(constraints.highest(np.ones(n)).sum())
    if constraints.counted and budget is None and k > reachable:
        raise InputError(
            f"k={k}, but the quotas and exclusions let at most {reachable} rows be picked. "
            "Raise per_group, or ask for fewer rows."
        )
