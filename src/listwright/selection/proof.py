"""What is proved about a greedy selection: its share of the best one, for any data and for these data."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats
from listwright.selection.constraints import RowConstraints

FULL = 1 - 1 / math.e  # plain greedy under a count: Nemhauser, Wolsey & Fisher (1978)
CONFIDENCE = 0.95
TINY = 1e-300


class Proof(NamedTuple):
    """A bound in words and as a number: value >= ratio * best; ratio is None if nothing is proved."""

    words: str
    ratio: float | None


def prove(constraints: RowConstraints, n_picked: int, added: float, most: float) -> Proof:
    """Return the proof for a greedy selection that added `added`, if no selection can add more than `most` on these
    data.
    """
    known, why, what = any_data(constraints, n_picked)
    return of_these_data(added, most, known, why, what)


def of_these_data(added: float, most: float, known: float | None, why: str, what: str) -> Proof:
    """Return the better of the bound that is known for any data and the one that these data show."""
    here = min(added / most, 1.0) if most > 0 else 1.0
    if known is not None and here <= known:
        return Proof(f"at least {why} of {what}", known)
    general = f"; for any data {why}" if known is not None else ""
    return Proof(f"at least {here:.3f} of {what} for these data{general}", here)


def any_data(constraints: RowConstraints, n_picked: int) -> tuple[float | None, str, str]:
    """Return the share that greedy guarantees for any data; None if no ratio is known."""
    if not constraints.has_costs:
        count = f"the best {n_picked:,} rows" if n_picked != 1 else "the best row"
        if not constraints.has_groups:
            return FULL, f"1 - 1/e = {FULL:.3f}", count
        # The sets that can be completed within nested quotas, from below and above, are a matroid: Fisher, Nemhauser &
        # Wolsey (1978); El Halabi et al. (2020).
        return 0.5, "1/2", f"{count} within the groups"
    what = "the best rows within the budgets" if constraints.several_budgets else "the best rows within the budget"
    if constraints.has_groups or constraints.counted or constraints.several_budgets:
        return None, "", what
    # The better of the gains per cost and the best single row: Feldman, Nutov & Shoham (2021).
    return 0.427, "0.427", what


def most_possible(added: float, bounds: Floats, constraints: RowConstraints) -> float:
    """Return an upper bound on what any selection can add."""
    gains = constraints.highest(bounds)
    most = float(np.sort(gains)[::-1][: constraints.k].sum())
    for costs, left in constraints.prices():
        rates = gains / np.maximum(costs, TINY)
        order = np.argsort(-rates, kind="stable")
        before = np.cumsum(costs[order]) - costs[order]
        share = np.clip((left - before) / np.maximum(costs[order], TINY), 0.0, 1.0)
        most = min(most, float((gains[order] * share).sum()))
    return added + most


def sampling_error(most: float, n_sampled: int, n: int) -> float:
    """Return how far the mean over a random sample of rows may be below that over all rows, at 95 % confidence."""
    return most * math.sqrt((1 - (n_sampled - 1) / n) * math.log(1 / (1 - CONFIDENCE)) / (2 * n_sampled))
