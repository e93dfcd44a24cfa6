"""What lists must keep to besides length and first budget: quotas, exclusions, pins, budgets, alternatives."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import (
    Bools,
    Floats,
    Ints,
    as_numbers,
    as_whole_numbers,
    at_least_one,
    first_bad,
    number_within,
)
from listwright.errors import InputError

MOST = 2**31 - 1  # of a quota: larger ones are none, and do not fit into an array
ROUNDING = 1e-9  # relative excess over a budget that is accepted: three times 0.1 is more than 0.3 in binary
Quota = int | tuple[int | None, int | None]  # at most, or (least, most)
PerGroup = Quota | Mapping[Any, Quota] | list[Quota | Mapping[Any, Quota]] | None  # or one entry for each level
COUNTS = 5  # columns of the counts, see `_kernels.constraints`


@dataclass(frozen=True, eq=False)
class Quotas:
    """Quotas, exclusions, pins and further budgets by row."""

    groups: Ints  # (rows, levels): the number of its group within its problem, from coarse to fine
    most: Ints  # (rows, levels): how many rows of its group a list may hold
    least: Ints  # (rows, levels): and how many it must, as far as the problem has them
    pinned: Ints  # (rows,): -1 if excluded, from 1 on if pinned, in this order; else 0
    amounts: Floats  # (rows, budgets): what it uses of each further budget
    budgets: Floats  # (rows, budgets): the budgets of its problem
    alternatives: Ints  # (rows, 0 or 1): the number of its set of alternatives within its problem, -1 for none

    @staticmethod
    def free(n: int) -> Quotas:
        none = np.zeros((n, 0), dtype=np.int64)
        return Quotas(none, none, none, np.zeros(n, dtype=np.int64), np.zeros((n, 0)), np.zeros((n, 0)), none)

    def __getitem__(self, rows: Any) -> Quotas:
        return Quotas(**{name: array[rows] for name, array in self.arrays().items()})

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @staticmethod
    def join(parts: Sequence[Quotas]) -> Quotas:
        """Return the quotas of several batches as those of one; levels and budgets that a part lacks are no limit."""
        names = ("groups", "budgets", "alternatives")
        padded = [
            part._pad(*(max(other.arrays()[name].shape[1] for other in parts) for name in names)) for part in parts
        ]
        return Quotas(**{name: np.concatenate([part.arrays()[name] for part in padded]) for name in padded[0].arrays()})

    def _pad(self, levels: int, budgets: int, sets: int) -> Quotas:
        def wide(array: NDArray[Any], width: int, fill: float = 0) -> NDArray[Any]:
            # In front, so that all rows are in one group of each level that is added, and groups stay nested.
            return np.pad(array, ((0, 0), (width - array.shape[1], 0)), constant_values=fill)

        groups, most, least = wide(self.groups, levels), wide(self.most, levels, MOST), wide(self.least, levels)
        amounts, limits = wide(self.amounts, budgets), wide(self.budgets, budgets, np.inf)
        return Quotas(groups, most, least, self.pinned, amounts, limits, wide(self.alternatives, sets, -1))

    @property
    def needs(self) -> bool:
        return bool(self.least.any())

    @property
    def pins(self) -> bool:
        return bool((self.pinned > 0).any())

    def free_problems(self, offsets: Ints) -> Bools:
        """Return by problem whether it has no quotas, pins or further budgets: any one row that fits is a list."""
        free = (self.pinned <= 0) & (self.most >= MOST).all(axis=1) & ~self.least.any(axis=1)
        return np.logical_and.reduceat(free & np.isinf(self.budgets).all(axis=1), offsets[:-1])

    def needs_first(self, offsets: Ints, *, limited: bool) -> Bools:
        """Return by problem whether the least rows of groups come first: if a budget could run out before."""
        starts = offsets[:-1]
        if not self.needs:
            return np.zeros(len(starts), dtype=bool)
        return np.logical_or.reduceat(self.least.any(axis=1), starts) & (
            limited | np.isfinite(self.budgets[starts]).any(axis=1)
        )

    def limits(
        self, offsets: Ints, length: int | None, *, needs_first: bool | Bools, replays: bool = False
    ) -> tuple[Ints, Ints, Floats, Floats]:
        """Return `groups`, `counts`, `amounts` and `left` of `_kernels.constraints.ListLimits`."""
        n_problems, n = len(offsets) - 1, len(self.pinned)
        owners = np.repeat(np.arange(n_problems), np.diff(offsets))
        groups, counts = self._tree(owners, n_problems, MOST if length is None else length, replays)
        counts[:n_problems, 3], groups[:, -1] = self._pin_order(owners, n_problems, n)
        counts[:n_problems, 4] = needs_first
        groups[self.pinned < 0, 0] = -1
        left = self.budgets[offsets[:-1]] if self.budgets.shape[1] else np.zeros((n_problems, 0))
        return groups, counts, self.amounts, left

    def _tree(self, owners: Ints, n_problems: int, length: int, replays: bool) -> tuple[Ints, Ints]:
        """Return the groups of each row, the problem as their root, and the counts of each group."""
        groups, n_groups = np.zeros((len(owners), self.groups.shape[1] + 2), dtype=np.int64), n_problems
        groups[:, 0] = owners
        most, least, parents = [np.full(n_problems, length)], [np.zeros(n_problems, dtype=np.int64)], [owners[:0]]
        for level in range(self.groups.shape[1]):
            number = owners * (int(self.groups[:, level].max(initial=0)) + 1) + self.groups[:, level]
            _, first, groups[:, level + 1] = np.unique(number, return_index=True, return_inverse=True)
            groups[:, level + 1] += n_groups
            n_groups += len(first)
            most.append(self.most[first, level])
            least.append(self.least[first, level])
            parents.append(groups[first, level])
        counts = np.zeros((n_groups, COUNTS), dtype=np.int64)
        counts[:, 0], counts[:, 1], counts[:n_problems, 3] = np.concatenate(most), np.concatenate(least), -1
        self._add_needs(groups, counts, np.concatenate(parents), n_problems, replays)
        return groups, counts

    def _add_needs(self, groups: Ints, counts: Ints, parents: Ints, n_problems: int, replays: bool) -> None:
        if not self.needs:
            return
        reachable = np.bincount(groups[self.pinned >= 0, -2], minlength=len(counts))
        for group in range(len(counts) - 1, -1, -1):  # subgroups have higher numbers
            reachable[group] = min(reachable[group], counts[group, 0])
            counts[group, 1] = min(counts[group, 1], reachable[group])
            if counts[group, 2] > counts[group, 0] and not replays:  # a budget may have ended the list before
                what = "the length or k" if group < n_problems else "the most rows of the group they are in"
                raise InputError(
                    f"The groups need at least {counts[group, 2]} rows, more than {what} ({counts[group, 0]}) allows."
                )
            if group >= n_problems:
                parent = parents[group - n_problems]
                counts[parent, 2] += max(counts[group, 1], counts[group, 2])
                reachable[parent] += reachable[group]

    def _pin_order(self, owners: Ints, n_problems: int, n: int) -> tuple[Ints, Ints]:
        """Return the first pinned row of each problem, and by row the pinned row that follows it; -1 for none."""
        first, following = np.full(n_problems, -1), np.full(n, -1)
        rows = np.flatnonzero(self.pinned > 0)
        rows = rows[np.lexsort((self.pinned[rows], owners[rows]))]
        starts = np.flatnonzero(np.diff(owners[rows], prepend=-1))
        first[owners[rows[starts]]] = rows[starts]
        follows = owners[rows[1:]] == owners[rows[:-1]]
        following[rows[:-1][follows]] = rows[1:][follows]
        return first, following


def make_quotas(
    before: Quotas, offsets: Ints, groups: Any, per_group: Any, exclude: Any, pin: Any, budgets: Any, alternatives: Any
) -> Quotas:
    """Return the quotas with what the arguments of `Problems.with_constraints` say; None leaves a part as it is."""
    n, quotas = len(before.pinned), before
    if per_group is not None:
        quotas = replace(quotas, **group_quotas(groups, per_group, offsets))
    if exclude is not None or pin is not None:
        pinned = quotas.pinned.copy()
        pinned[as_rows(exclude, n, "exclude")] = -1
        rows = as_rows(pin, n, "pin")
        if (pinned[rows] < 0).any():
            raise InputError(f"Row {rows[pinned[rows] < 0][0]} is both pinned and excluded.")
        pinned[rows] = np.arange(1, len(rows) + 1)
        quotas = replace(quotas, pinned=pinned)
    if alternatives is not None:
        labels = np.asarray(alternatives).reshape(-1)
        if labels.shape != (n,):
            raise InputError(f"alternatives must have one label per row ({n}). Got shape {labels.shape}.")
        quotas = replace(quotas, alternatives=number_within(labels, offsets)[:, None])
    if budgets is None:
        return quotas
    return replace(quotas, **further_budgets(budgets, offsets))


def group_quotas(groups: Any, per_group: Any, offsets: Ints) -> dict[str, Any]:
    n, levels = int(offsets[-1]), as_levels(groups)
    asked = per_group if isinstance(per_group, list) else [per_group]
    if len(asked) != len(levels):
        raise InputError(f"per_group has {len(asked)} entries for {len(levels)} levels of groups. Pass one for each.")
    numbers = []
    for level, labels in enumerate(levels):
        if labels.shape != (n,):
            raise InputError(f"groups must have one label per row ({n}). Got shape {labels.shape}.")
        numbers.append(number_within(labels, offsets))
        if level and len(np.unique(np.stack(_prepend_owners(offsets, *numbers[-2:])), axis=1).T) > len(
            np.unique(np.stack(_prepend_owners(offsets, numbers[-1])), axis=1).T
        ):
            raise InputError(
                f"Level {level + 1} of groups is not nested: one of its groups is in two of the level above."
            )
    bounds = (bounds_of(limits, labels) for limits, labels in zip(asked, levels, strict=True))
    least, most = zip(*bounds, strict=True)
    stacked = {"groups": numbers, "most": most, "least": least}
    return {name: np.stack(arrays, axis=1) for name, arrays in stacked.items()}


def _prepend_owners(offsets: Ints, *numbers: Ints) -> list[Ints]:
    return [np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), *numbers]


def as_levels(groups: Any) -> list[NDArray[Any]]:
    several = isinstance(groups, list | tuple) and len(groups) and not isinstance(groups[0], Hashable)
    return [np.asarray(labels) for labels in (groups if several else [groups])]


def absent_groups(per_group: Any, labels: NDArray[Any]) -> str:
    """Return what to say if a dictionary names a group that no row is in; else nothing."""
    known = np.unique(labels).tolist() if isinstance(per_group, Mapping) else []
    shown = ", ".join(map(repr, known[:5])) + (f" and {len(known) - 5} more" if len(known) > 5 else "")
    absent = [repr(name) for name in per_group if name not in known] if known else []
    return f"per_group names {absent[0]}, but no row is in that group. Groups: {shown}." if absent else ""


def bounds_of(per_group: Any, labels: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return by row the least and the most rows of its group; groups that a dictionary lacks are not limited."""
    if not isinstance(per_group, Mapping):
        low, high = _bounds(per_group, "")
        return np.full(len(labels), low), np.full(len(labels), high)
    names = dict.fromkeys(labels.tolist())
    known = dict.fromkeys(names, (0, MOST))
    known |= {name: _bounds(per_group[name], f" for group {name!r}") for name in names if name in per_group}
    both = np.array([known[label] for label in labels.tolist()], dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _bounds(asked: Any, where: str) -> tuple[int, int]:
    """Return the least and the most of (least, most), or of one number, which is the most."""
    if not isinstance(asked, tuple | list):
        if not where:
            at_least_one("per_group", asked)
        asked = (0, asked)
    if len(asked) != 2:
        raise InputError(f"per_group must be a number, or (least, most){where}. Got {asked!r}.")
    asked = [none if bound is None else bound for bound, none in zip(asked, (0, MOST), strict=True)]
    low, high = as_whole_numbers(asked, "per_group")
    if low < 0 or high < 0:
        raise InputError(f"per_group must be 0 or more. Got {min(low, high)}{where}.")
    if low > high:
        raise InputError(f"per_group must be (least, most){where}. Got {low} and {high}.")
    return int(low), min(int(high), MOST)


def further_budgets(budgets: Any, offsets: Ints) -> dict[str, Any]:
    n, n_problems, amounts, limits = int(offsets[-1]), len(offsets) - 1, [], []
    for pair in budgets if isinstance(budgets, Iterable) else [budgets]:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"budgets must be pairs of (what each row uses, the budget). Got {pair!r:.80}.")
        used, limit = as_numbers(pair[0], "budgets"), as_numbers(pair[1], "budgets")
        bad = first_bad(~((used >= 0) & np.isfinite(used))) if used.shape == (n,) else -1
        if bad is not None:
            detail = f"Got shape {used.shape}." if bad < 0 else f"Row {bad} uses {used[bad]:g}."
            raise InputError(f"budgets must say for each of {n} rows what it uses, 0 or more. {detail}")
        if limit.shape not in {(), (n_problems,)} or not (limit >= 0).all():
            raise InputError(f"A budget must be one number, or one per problem ({n_problems}). Got {pair[1]!r}.")
        amounts.append(used)
        limits.append(np.broadcast_to(limit * (1.0 + ROUNDING), n_problems).repeat(np.diff(offsets)))
    shape = (n, len(limits))
    return {"amounts": np.array(amounts).T.reshape(shape).copy(), "budgets": np.array(limits).T.reshape(shape).copy()}


def as_rows(given: Any, n: int, name: str) -> Ints:
    """Return row numbers from numbers or a mask, without duplicates; none for None."""
    if given is None:
        return np.empty(0, dtype=np.int64)
    given = sorted(given) if isinstance(given, set | frozenset) else given
    try:
        array = np.asarray(given)
    except ValueError:  # parts of several lengths
        raise InputError(f"{name} must be one list of row numbers. Got {given!r:.80}.") from None
    if array.dtype == bool:
        if array.shape != (n,):
            raise InputError(f"{name} as a mask must have one entry per row ({n}). Got shape {array.shape}.")
        return np.flatnonzero(array)
    if array.ndim > 1:
        raise InputError(f"{name} must be one list of row numbers. Got shape {array.shape}.")
    rows = as_whole_numbers(given, name).reshape(-1)
    bad = first_bad((rows < 0) | (rows >= n))
    if bad is not None:
        raise InputError(f"{name} must hold row numbers from 0 to {n - 1}. Got {rows[bad]}.")
    return np.array(list(dict.fromkeys(rows.tolist())), dtype=np.int64)
