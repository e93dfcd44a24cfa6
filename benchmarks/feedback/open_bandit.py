"""The Open Bandit Dataset (Saito et al. 2021): the value of a policy that was really shown, from the log of another.

A fashion shop showed items by a random policy and by Thompson sampling, in parallel, and published both logs with the
chances of the shown items. So the value of the random policy can be estimated from the log of Thompson sampling, and
looked up in its own. The sample of 10,000 rows per campaign and policy (`listwright data open_bandit`) is published
with the Python package obp, under CC BY 4.0.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import listwright as lw
from listwright.evaluation.intervals import estimate
from listwright.feedback.explore import Epsilon

CAMPAIGNS = ("all", "men", "women")


def real_log(folder: Path) -> dict[str, Any]:
    """By campaign: clicks per item shown by the random policy, in its own log and from the log of Thompson sampling."""
    return {campaign: _compared(folder, campaign) for campaign in CAMPAIGNS}


def _compared(folder: Path, campaign: str) -> dict[str, Any]:
    shown, evenly = (pl.read_csv(folder / policy / campaign / f"{campaign}.csv") for policy in ("bts", "random"))
    truth = estimate(evenly["click"].to_numpy().astype(float), bounds=(0, 1))
    log, problems = _log(shown)
    even = lw.OnlineSCP(1, explore=Epsilon(1.0), random_state=0).begin(problems)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.feedback.EvidenceWarning)
        evaluation = lw.feedback.evaluate(log, even)
    assert truth is not None
    estimates = {
        name: [result.value, result.low, result.high, result.effective_size]
        for name, result in evaluation.estimates.items()
    }
    return {
        "items": int(shown["item_id"].max()) + 1,
        "its own log": [truth.mean, truth.low, truth.high],
        "logged by Thompson sampling": evaluation.logged.value,
        "estimates": estimates,
    }


def _log(frame: pl.DataFrame) -> tuple[lw.feedback.Log, lw.Problems]:
    """Each row is a list of one item out of all items of the campaign."""
    n, items = len(frame), int(frame["item_id"].max()) + 1
    problems = lw.Problems.from_arrays(np.zeros((n, items, 0)), catalogue=np.arange(items))
    rows = problems.offsets[:-1, None] + frame["item_id"].to_numpy()[:, None]
    ids = [str(i) for i in range(n)]
    log = lw.feedback.Log()
    log.append(lw.Lists(problems, rows), propensities=frame["propensity_score"].to_numpy()[:, None], list_ids=ids)
    log.feedback(ids, frame["click"].to_numpy().astype(float)[:, None])
    return log, problems
