"""Off-policy estimates on simulated logs of eighteen settings, against the value that the policy has in truth."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import repeat
from typing import Any

import numpy as np

import listwright as lw
from benchmarks.feedback.settings import LOGS, Setting, settings
from benchmarks.feedback.world import Cell, cell, log_of

ENOUGH = 100  # effective size from which on intervals are held to their word
SEED = 11
TURN = 10  # logs of a setting at a time

Estimated = dict[str, list[tuple[float, float, float, float]]]  # by estimator and log: value, low, high, effective size


def estimates(
    *, logs: int = LOGS, workers: int = 2, keep: Callable[[Any], None] = lambda entries: None
) -> list[dict[str, Any]]:
    """One entry per setting: the truth, and for each estimator its errors and how often its interval held the truth.

    Settings take turns of ten logs each, and `keep` gets the entries after every turn: a run that is stopped has the
    same number of logs of every setting.
    """
    collected: list[Estimated] = [{} for _ in settings()]
    entries: list[dict[str, Any]] = []
    with ProcessPoolExecutor(workers) as pool:
        for start in range(0, logs, TURN):
            numbers = range(start, min(start + TURN, logs))
            for rows, new in zip(collected, pool.map(tell, settings(), repeat(numbers)), strict=True):
                for name, values in new.items():
                    rows.setdefault(name, []).extend(values)
            entries = [
                entry(known, rows, numbers.stop)
                for known, rows in zip(pool.map(about, settings()), collected, strict=True)
            ]
            keep(entries)
            print(numbers.stop, "logs of each setting", flush=True)
    return entries


@cache
def _cell(setting: Setting) -> Cell:
    return cell(setting, SEED)


def about(setting: Setting) -> dict[str, Any]:
    """What a setting is worth in truth."""
    here = _cell(setting)
    return {"setting": setting.name, "truth": here.truth, "logged": here.logged, "lists": setting.n_lists}


def tell(setting: Setting, numbers: Iterable[int]) -> Estimated:
    """What all estimators say of some logs."""
    here, rows = _cell(setting), Estimated()
    value = "any" if setting.clicks == "any" else "sum"
    for number in numbers:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.feedback.EvidenceWarning)
            evaluated = lw.feedback.evaluate(log_of(here, number), here.target, value=value, random_state=number)
        for name, estimate in evaluated.estimates.items():
            rows.setdefault(name, []).append((estimate.value, estimate.low, estimate.high, estimate.effective_size))
    return rows


def entry(known: dict[str, Any], rows: Estimated, logs: int) -> dict[str, Any]:
    """All estimators in one setting."""
    estimators = {name: summary(np.array(some), known["truth"]) for name, some in rows.items()}
    return known | {"logs": logs, "estimators": estimators}


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
