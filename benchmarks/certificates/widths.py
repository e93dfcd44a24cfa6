"""How far lower confidence bounds lie below what was seen: ours, alone and in a certificate, beside those of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from listwright.guarantees.held_out import HeldOutValues, make_certificate

GRID = np.arange(1, 1_000) / 1_000
VALUES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "value, 0 or 1, mean 0.9": lambda rng, n: (rng.random(n) < 0.9).astype(float),
    "value, Beta(5, 2)": lambda rng, n: rng.beta(5, 2, n),
    "value, Beta(0.2, 5)": lambda rng, n: rng.beta(0.2, 5, n),
    "value, Beta(10, 30)": lambda rng, n: rng.beta(10, 30, n),
}
AHEAD = "ahead of a rival, Beta(5, 2) against half of each Beta(2, 2)"
SHARES = {
    "share of greedy, 0 or 1: 0.971 of the 0.056 that greedy solves": (0.056, 0.971),
    "share of greedy, 0 or 1: 0.9 of the 0.2 that greedy solves": (0.2, 0.9),
    "share of greedy, 0 or 1: all of the 0.04 that greedy solves": (0.04, 1.0),
}


def sample(kind: str, rng: np.random.Generator, n: int) -> HeldOutValues:
    """Values of lists, of greedy's and two rivals', with bounds on the best lists: a certificate of five statements."""
    if kind in SHARES:
        solved, share = SHARES[kind]
        greedy = (rng.random(n) < solved).astype(float)
        values = greedy * (rng.random(n) < share)
    else:
        values = VALUES.get(kind, VALUES["value, Beta(5, 2)"])(rng, n)
        greedy = np.minimum(values + 0.2 * rng.random(n), 1.0)
    best = greedy if kind in SHARES else np.minimum(1.1 * greedy, 1.0)
    rivals = {name: (values + rng.beta(2, 2, n)) / 2 for name in ("a", "b")}
    return HeldOutValues(values, greedy, rivals, best=best, binary=bool(np.isin(values, (0, 1)).all()))


def bounded_variable(kind: str, measured: HeldOutValues) -> np.ndarray | None:
    """The values from 0 to 1 whose mean is bounded; None for a share, which is a ratio of two means."""
    if kind in SHARES:
        return None
    return (measured.values - measured.rivals["a"] + 1) / 2 if kind == AHEAD else measured.values


def ours(kind: str, measured: HeldOutValues, delta: float) -> dict[str, float]:
    """The bound of the one statement, in a certificate of five: what it prints, and what holds by itself."""
    made = make_certificate(measured, delta=delta)
    joint = {name: getattr(made, name) for name in ("value", "share_of_greedy", "ahead_of")}
    return {name: _of_kind(kind, bounds) for name, bounds in (("alone", made.alone), ("jointly", joint))}


def _of_kind(kind: str, bounds: dict[str, Any]) -> float:
    if kind in SHARES:
        return float(bounds["share_of_greedy"])
    return (bounds["ahead_of"]["a"] + 1) / 2 if kind == AHEAD else float(bounds["value"])


def fixed_stakes(kind: str, measured: HeldOutValues, delta: float) -> float:
    """The bound of listwright 0.1: stakes for a fixed number of problems, as large as earlier ones suggest."""
    values = bounded_variable(kind, measured)
    top, bottom = (measured.values, measured.greedy) if values is None else (values, np.ones(len(values)))
    n, needed = len(top), np.log(1 / delta)
    guess = np.concatenate([[1.0], ((0.5 + np.cumsum(top)) / (0.5 + np.cumsum(bottom)))[:-1]])
    squares = (0.25 + np.cumsum((top / guess - bottom) ** 2)) / (np.arange(1, n + 1) + 1)
    stakes = np.minimum(np.sqrt(2 * needed / (n * np.concatenate([[0.25], squares[:-1]]))), 0.75)
    low, high = 0.0, 2.0
    for _ in range(40):
        middle = (low + high) / 2
        won = np.cumsum(np.log1p(stakes * (top / middle - bottom))).max() >= needed
        low, high = (middle, high) if won else (low, middle)
    return low


def waudby_smith_ramdas(values: np.ndarray, delta: float) -> float:
    """Bets that are set from the number of values and the variance so far (2023, predictable plug-in)."""
    n = len(values)
    counts = np.arange(1, n + 1)
    means = (0.5 + np.cumsum(values)) / (1 + counts)
    variances = (0.25 + np.cumsum((values - means) ** 2)) / (1 + counts)
    before = np.concatenate([[0.25], variances[:-1]])
    stakes = np.sqrt(2 * np.log(1 / delta) / (n * before))
    capital = np.zeros(len(GRID))
    most = capital.copy()
    for stake, value in zip(stakes, values, strict=True):
        capital += np.log1p(np.minimum(stake, 0.75 / GRID) * (value - GRID))
        most = np.maximum(most, capital)
    lost = np.flatnonzero(most < np.log(1 / delta))
    return float(GRID[lost[0] - 1]) if len(lost) and lost[0] else 0.0


def empirical_bernstein(values: np.ndarray, delta: float) -> float:
    """The bound of Maurer and Pontil (2009)."""
    n, log = len(values), np.log(2 / delta)
    return max(0.0, float(values.mean() - np.sqrt(2 * values.var(ddof=1) * log / n) - 7 * log / (3 * (n - 1))))


def hoeffding(values: np.ndarray, delta: float) -> float:
    """The bound of Hoeffding (1963)."""
    return max(0.0, float(values.mean() - np.sqrt(np.log(1 / delta) / (2 * len(values)))))


METHODS = {
    "Waudby-Smith & Ramdas": waudby_smith_ramdas,
    "empirical Bernstein": empirical_bernstein,
    "Hoeffding": hoeffding,
}


def below(kind: str, measured: HeldOutValues, delta: float) -> dict[str, float]:
    """How far each bound lies below what was seen, by method."""
    values = bounded_variable(kind, measured)
    seen = measured.values.sum() / max(measured.greedy.sum(), 1.0) if values is None else values.mean()
    bounds = ours(kind, measured, delta) | {"listwright 0.1": fixed_stakes(kind, measured, delta)}
    if values is not None:
        bounds |= {name: bound(values, delta) for name, bound in METHODS.items()}
    scale = 2.0 if kind == AHEAD else 1.0
    return {name: float(scale * (seen - bound)) for name, bound in bounds.items()}


KINDS = (*VALUES, AHEAD, *SHARES)


def widths(kind: str, n: int, delta: float, draws: int) -> dict[str, Any]:
    """The mean distance of each bound to what was seen, for a statement and a sample size."""
    rng = np.random.default_rng(n)
    made = [below(kind, sample(kind, rng, n), delta) for _ in range(draws)]
    means = {name: float(np.mean([draw[name] for draw in made])) for name in made[0]}
    return {"statement": kind, "n": n, "below": means}
