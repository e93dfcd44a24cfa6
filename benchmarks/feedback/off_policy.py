"""Off-policy estimates on simulated logs of eighteen settings, against the value that the policy has in truth."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

import listwright as lw
from benchmarks.feedback.settings import LOGS, Setting, settings
from benchmarks.feedback.world import cell, log_of

ENOUGH = 100  # effective size from which on intervals are held to their word
SEED = 11


def estimates(chosen: Iterable[Setting] | None = None, *, logs: int = LOGS) -> list[dict[str, Any]]:
    """One entry per setting: the truth, and for each estimator its errors and how often its interval held the truth."""
    found = []
    for setting in settings() if chosen is None else chosen:
        found.append(checked(setting, logs))
        print(setting.name, flush=True)
    return found


def checked(setting: Setting, logs: int) -> dict[str, Any]:
    """All estimators in one setting."""
    here = cell(setting, SEED)
    told: dict[str, list[tuple[float, float, float, float]]] = {}
    value = "any" if setting.clicks == "any" else "sum"
    for number in range(logs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.feedback.EvidenceWarning)
            evaluated = lw.feedback.evaluate(log_of(here, number), here.target, value=value, random_state=number)
        for name, one in evaluated.estimates.items():
            told.setdefault(name, []).append((one.value, one.low, one.high, one.effective_size))
    return {
        "setting": setting.name,
        "truth": here.truth,
        "logged": here.logged,
        "logs": logs,
        "lists": setting.n_lists,
        "estimators": {name: summary(np.array(rows), here.truth) for name, rows in told.items()},
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
