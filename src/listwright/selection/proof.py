"""What is proved about a greedy selection: its share of the best one, for any data and for these data."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright.selection.rules import Rules

FULL = 1 - 1 / math.e  # plain greedy under a count: Nemhauser, Wolsey & Fisher (1978)
CONFIDENCE = 0.95


class Proof(NamedTuple):
    """A bound in words and as a number: value >= ratio * best; ratio is None if nothing is proved."""

    words: str
    ratio: float | None


def proved(rules: Rules, n_picked: int, added: float, most: float) -> Proof:
    """Return the proof for a greedy selection that added `added`, if no selection can add more than `most` on these
    data.
    """
    known, why, what = any_data(rules, n_picked)
    return of_these_data(added, most, known, why, what)


def of_these_data(added: float, most: float, known: float | None, why: str, what: str) -> Proof:
    """Return the better of the bound that is known for any data and the one that these data show."""
    here = min(added / most, 1.0) if most > 0 else 1.0
    if known is not None and here <= known:
        return Proof(f"at least {why} of {what}", known)
    general = f"; for any data {why}" if known is not None else ""
    return Proof(f"at least {here:.3f} of {what} for these data{general}", here)


def any_data(rules: Rules, n_picked: int) -> tuple[float | None, str, str]:
    """Return the share that greedy guarantees for any data."""
    if not rules.priced:
        count = f"the best {n_picked:,} rows" if n_picked != 1 else "the best row"
        # A limit per group is a partition matroid: Fisher, Nemhauser & Wolsey (1978).
        return (0.5, "1/2", f"{count} within the groups") if rules.grouped else (FULL, f"1 - 1/e = {FULL:.3f}", count)
    what = "the best rows within the budget"
    if rules.grouped or rules.counted:
        return None, "", what
    # The better of the gains per cost and the best single row: Feldman, Nutov & Shoham (2021).
    return 0.427, "0.427", what


def most_possible(added: float, bounds: Floats, rules: Rules) -> float:
    """Return an upper bound on what any selection can add."""
    gains = np.where(rules.open, bounds, 0.0)
    if rules.grouped:
        gains = _within_groups(gains, rules.groups, rules.room)
    if not rules.priced:
        return added + float(np.sort(gains)[::-1][: rules.k].sum())
    order = np.argsort(-gains / rules.costs, kind="stable")
    left = rules.left - np.cumsum(rules.costs[order]) + rules.costs[order]
    return added + float((gains[order] * np.clip(left / rules.costs[order], 0.0, 1.0)).sum())


def _within_groups(gains: Floats, groups: Ints, room: Ints) -> Floats:
    """Return the gains of the highest rows of each group, as many as it has room for; 0 for the others."""
    order = np.lexsort((-gains, groups))
    firsts = np.searchsorted(groups[order], np.arange(len(room)))
    rank = np.arange(len(order)) - firsts[groups[order]]
    kept = np.zeros(len(gains))
    kept[order] = np.where(rank < room[groups[order]], gains[order], 0.0)
    return kept


def sampling_error(most: float, n_sampled: int, n: int) -> float:
    """Return how far the mean over a random sample of rows may be below that over all rows, at 95 % confidence."""
    return most * math.sqrt((1 - (n_sampled - 1) / n) * math.log(1 / (1 - CONFIDENCE)) / (2 * n_sampled))
