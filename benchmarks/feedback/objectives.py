"""Models learned from one log by two objectives: predicted gains, and the best lower bound by the log itself."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import listwright as lw
from benchmarks.feedback.off_policy import SEED
from benchmarks.feedback.settings import LOGGERS, Setting
from benchmarks.feedback.world import Cell, cell, log_of
from listwright.evaluation.intervals import estimate

LOGS = 12  # per setting
SETTINGS = tuple(
    Setting(length, logger, candidates, clicks)
    for length, candidates, clicks in ((3, 10, "position"), (3, 10, "any"), (5, 100, "any"))
    for logger in LOGGERS
)


def compare_objectives() -> list[dict[str, Any]]:
    """One entry per setting: what lists of both models are worth in truth, and how far off_policy is ahead."""
    records = []
    for setting in SETTINGS:
        here = cell(setting, SEED)
        values = {
            name: np.array([_worth(here, number, name) for number in range(LOGS)]) for name in ("gain", "off_policy")
        }
        ahead = estimate(values["off_policy"] - values["gain"])
        assert ahead is not None
        means = {name: float(value.mean()) for name, value in values.items()}
        about = {"setting": setting.name, "logs": LOGS, "lists": setting.n_lists, "logged": here.logged}
        records.append(about | means | {"ahead": [ahead.mean, ahead.low, ahead.high]})
    return records


def _worth(here: Cell, number: int, objective: str) -> float:
    log = log_of(here, number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.feedback.EvidenceWarning)
        model = lw.OnlineSCP(here.setting.length, random_state=0).fit_log(log, objective=objective)
    rows = model.predict(here.population.problems).rows
    return float(here.population.values(rows, here.setting.clicks).mean())
