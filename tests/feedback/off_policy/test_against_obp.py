"""The same data by obp 0.4.1 (Saito et al. 2021): `obp.json` has thirty rounds and what obp makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.feedback import Log
from listwright.feedback.off_policy.estimators import estimators, shrunk_weights
from listwright.feedback.off_policy.evidence import evidence, gains_of
from listwright.feedback.off_policy.targets import LoggedChances

DATA = json.loads((Path(__file__).parent / "obp.json").read_text())
VALUES = DATA["values"]


def parts(data: dict[str, Any]) -> dict[str, float]:
    """All estimates of given propensities, chances and rewards."""
    chances, propensities, rewards = (
        np.array(data[name]).reshape(30, -1) for name in ("chances", "propensities", "rewards")
    )
    n, length = rewards.shape
    problems = lw.Problems.from_arrays(np.random.default_rng(0).random((n, length + 3, 2)))
    log, ids = Log(), [str(i) for i in range(n)]
    rows = problems.offsets[:-1, None] + np.arange(length)
    log.append(lw.Lists(problems, rows), propensities=propensities, list_ids=ids)
    log.feedback(ids, rewards)
    known = gains_of(log.answered_lists(), cascade=False, value="sum")
    object.__setattr__(known.logged, "others", {"new": chances})
    return {name: part.value for name, part in estimators(evidence(known, LoggedChances("new"))).items()}


def test_single_items() -> None:
    told = parts(DATA)
    assert told["slate_ips"] == pytest.approx(VALUES["ips"])
    assert told["self_normalised"] == pytest.approx(VALUES["snips"])


def test_lists() -> None:
    told = parts(DATA["slate"])
    assert told["slate_ips"] == pytest.approx(VALUES["slate_standard_ips"])
    assert told["per_position_ips"] == pytest.approx(VALUES["slate_reward_interaction_ips"])


def test_shrinkage() -> None:
    weights = np.array(DATA["chances"]) / np.array(DATA["propensities"])
    errors, start = np.array(DATA["rewards"]) - np.array(DATA["q_shown"]), np.array(DATA["q_policy"])
    assert (start + weights * errors).mean() == pytest.approx(VALUES["dr"])
    for strength, value in VALUES["dros"].items():
        assert (start + shrunk_weights(weights, float(strength)) * errors).mean() == pytest.approx(value)
