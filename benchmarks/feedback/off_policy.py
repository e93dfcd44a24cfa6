"""Off-policy estimates on simulated logs of eighteen settings, against the value that the policy has in truth."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import listwright as lw
from benchmarks.feedback.settings import LOGS, Setting, settings
from benchmarks.feedback.world import Cell, cell, log_of

ENOUGH = 100  # effective size from which on intervals are held to their word
SEED = 11


Told = dict[str, list[tuple[float, float, float, float]]]  # by estimator and log: value, low, high, effective size


def estimates(
    chosen: Iterable[Setting] | None = None, *, logs: int = LOGS, keep: Callable[[Any], None] | None = None
) -> list[dict[str, Any]]:
    """One entry per setting: the truth, and for each estimator its errors and how often its interval held the truth.

    Settings take turns, one log each, and `keep` gets the entries after every tenth turn: a run that is stopped has the
    same number of logs of every setting.
    """
    cells = [cell(setting, SEED) for setting in (settings() if chosen is None else chosen)]
    told: list[Told] = [{} for _ in cells]
    for number in range(logs):
        for here, rows in zip(cells, told, strict=True):
            tell(here, number, rows)
        if keep is not None and (number + 1) % 10 == 0:
            keep([entry(here, rows, number + 1) for here, rows in zip(cells, told, strict=True)])
            print(number + 1, "logs of each setting", flush=True)
    return [entry(here, rows, logs) for here, rows in zip(cells, told, strict=True)]


def tell(here: Cell, number: int, rows: Told) -> None:
    """Adds what all estimators say of one log."""
    value = "any" if here.setting.clicks == "any" else "sum"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.feedback.EvidenceWarning)
        evaluated = lw.feedback.evaluate(log_of(here, number), here.target, value=value, random_state=number)
    for name, one in evaluated.estimates.items():
        rows.setdefault(name, []).append((one.value, one.low, one.high, one.effective_size))


def entry(here: Cell, rows: Told, logs: int) -> dict[str, Any]:
    """All estimators in one setting."""
    return {
        "setting": here.setting.name,
        "truth": here.truth,
        "logged": here.logged,
        "logs": logs,
        "lists": here.setting.n_lists,
        "estimators": {name: summary(np.array(some), here.truth) for name, some in rows.items()},
    }


def summary(rows: Any, truth: float) -> dict[str, float | None]:
    """(logs, 4) of value, low, high and effective size: logs without evidence are counted, and left out of the rest."""
    known = ~np.isnan(rows[:, 0])
    value, low, high, _ = rows[known].T
    bounded = ~np.isnan(low)
    error = value - truth
    return {
        "evidence": float(known.mean()),
        "effective size": float(np.median(rows[:, 3])),
        "error": float(np.sqrt((error**2).mean())) if known.any() else None,
        "bias": float(error.mean()) if known.any() else None,
        "coverage": float(((low <= truth) & (truth <= high))[bounded].mean()) if bounded.any() else None,
        "width": float((high - low)[bounded].mean()) if bounded.any() else None,
    }
