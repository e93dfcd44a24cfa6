"""Off-policy estimates on simulated logs of eighteen settings, against the value that the policy has in truth."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

import listwright as lw
from benchmarks.feedback.settings import LOGS, MORE_LOGS, Setting, settings
from benchmarks.feedback.world import Cell, cell, log_of

ENOUGH = 100  # effective size from which on intervals are held to their word
SEED = 11
RECOMMENDED = "switch"  # by `evaluate`


def estimates(chosen: Iterable[Setting] | None = None) -> list[dict[str, Any]]:
    """One entry per setting: the truth, and for each estimator its errors and how often its interval held the truth."""
    found = []
    for setting in settings() if chosen is None else chosen:
        found.append(checked(setting))
        print(setting.name, flush=True)
    return found


def checked(setting: Setting) -> dict[str, Any]:
    """All estimators in one setting, on more logs where there is evidence."""
    here = cell(setting, SEED)
    told = evaluated(here, range(LOGS))
    if np.median(told[RECOMMENDED][:, 3]) >= ENOUGH:
        more = evaluated(here, range(LOGS, MORE_LOGS))
        told = {name: np.concatenate([rows, more[name]]) for name, rows in told.items()}
    return {
        "setting": setting.name,
        "truth": here.truth,
        "logged": here.logged,
        "logs": len(told[RECOMMENDED]),
        "lists": setting.n_lists,
        "estimators": {name: summary(rows, here.truth) for name, rows in told.items()},
    }


def evaluated(here: Cell, numbers: Iterable[int]) -> dict[str, Any]:
    """By estimator, (logs, 4): value, low, high and effective size."""
    told: dict[str, list[tuple[float, float, float, float]]] = {}
    value = "any" if here.setting.clicks == "any" else "sum"
    for number in numbers:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.feedback.EvidenceWarning)
            found = lw.feedback.evaluate(log_of(here, number), here.target, value=value, random_state=number)
        for name, one in found.estimates.items():
            told.setdefault(name, []).append((one.value, one.low, one.high, one.effective_size))
    return {name: np.array(rows) for name, rows in told.items()}


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
