"""Off-policy estimates on simulated logs, against the value that the policy has in truth."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import listwright as lw
from benchmarks.feedback.news import stream
from listwright.evaluation.values import list_values
from listwright.features.auto import paper_features
from listwright.feedback.explore import Epsilon
from listwright.lab.simulate.news import news

LENGTH, POOL, READERS_SEED = 3, 8, 7
NAMES = ("slate_ips", "self_normalised", "per_position_ips", "cascade_dr")


def policy(problems: lw.Problems, share: float, seed: int) -> lw.OnlineSCP:
    """What was learned from some problems, with even exploration."""
    model = lw.SCP(LENGTH, features=paper_features(), random_state=0).fit(problems)
    return lw.OnlineSCP.from_model(model, explore=Epsilon(share), random_state=seed, memory=0)


def made_log(logger: lw.OnlineSCP, valued: lw.Problems, number: int) -> lw.feedback.Log:
    """The first clicks on the lists that a policy shows."""
    rng = np.random.default_rng([number, 4])
    shown = logger.recommend(valued, list_ids=[f"{number}, {i}" for i in range(len(valued))])
    clicks = rng.random(shown.rows.shape) < valued.reward.tables["success"].values[shown.rows]
    log = lw.feedback.Log(cascade=True)
    log.append(shown)
    log.feedback(shown.list_ids, clicks & (np.cumsum(clicks, axis=1) == 1))
    return log


def estimates(*, logs: int = 500, lists: int = 2000, population: int = 30_000) -> dict[str, Any]:
    """Mean error and coverage of each estimator over many logs."""
    world = news(pool=POOL, random_state=READERS_SEED)
    train = stream(world, 300, 1)[0]
    logger, target = policy(train[:60], 0.7, 0), policy(train, 0.3, 1)
    valued = stream(world, population, 2)[1]
    true = float(list_values(target.recommend(valued, list_ids=[str(i) for i in range(population)]), valued).mean())
    found, sizes = np.empty((logs, len(NAMES), 3)), np.empty(logs)
    for i in range(logs):
        some = np.random.default_rng([i, 3]).choice(population, size=lists, replace=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.feedback.EvidenceWarning)
            told = lw.feedback.evaluate(made_log(logger, valued[some], i), target, random_state=i)
        found[i] = [(one.value, one.low, one.high) for one in (getattr(told, name) for name in NAMES)]
        sizes[i] = told.effective_size
    summary = {name: summarised(found[:, k], true) for k, name in enumerate(NAMES)}
    return {"true value": true, "logs": logs, "lists a log": lists, "effective size": float(sizes.mean()), **summary}


def summarised(found: NDArray[np.float64], true: float) -> dict[str, float]:
    """(logs, 3) of value, low and high."""
    value, low, high = found.T
    return {
        "mean error": float(np.abs(value - true).mean()),
        "bias": float(value.mean() - true),
        "coverage": float(((low <= true) & (true <= high)).mean()),
    }
