"""Exploring for a verdict: the planned number of lists, and the test that stops as soon as it may."""

from __future__ import annotations

import numpy as np
import pytest

from listwright.errors import InputError
from listwright.feedback import plan
from listwright.feedback.planning import SequentialTest, candidate_share, needed_lists
from tests.feedback.off_policy.logs import best, even_log

SETTINGS = [(0.2, 0.3, 0.5), (0.5, 0.42, 0.3), (0.1, 0.16, 0.2), (0.05, 0.09, 0.5), (0.3, 0.4, 0.1)]


def stopping_times(old: float, new: float, share: float, planned: int, most: int, runs: int = 40) -> np.ndarray:
    """After how many lists the simulated visitors of each run have decided; `most` for none."""
    rng, times = np.random.default_rng(0), np.full(runs, most)
    for run in range(runs):
        test = SequentialTest(planned)
        to_candidate = rng.random(most) < share
        clicked = rng.random(most) < np.where(to_candidate, new, old)
        for i in range(most):
            test.add(bool(to_candidate[i]), float(clicked[i]))
            if i % 10 == 0 and test.verdict != "cannot tell":
                assert (test.verdict == "roll out") == (new > old) or old == new
                times[run] = i + 1
                break
    return times


def test_the_plan_foretells_when_the_test_decides() -> None:
    within = 0
    for old, new, share in SETTINGS:
        planned = needed_lists(new - old, old * (1 - old), share, 0.95, old)
        assert planned is not None
        seen = np.quantile(stopping_times(old, new, share, planned, 3 * planned), 0.8)
        within += planned / 1.5 <= seen <= 1.5 * planned
    assert within >= 0.8 * len(SETTINGS)


def test_two_alike_are_seldom_told_apart_however_often_one_looks() -> None:
    times = stopping_times(0.3, 0.3, 0.5, 500, 1500, runs=60)
    assert (times < 1500).mean() <= 0.05


def test_a_plan_keeps_to_the_loss_budget() -> None:
    found = plan(even_log(1500), best, loss_budget=0.05)
    assert found.loss <= 0.05 + 1e-9
    assert found.difference == pytest.approx(0.32, abs=0.06)
    assert found.n_lists is not None
    assert 200 < found.n_lists < 5000
    assert "Show the candidate in" in str(found)
    assert "no number of lists" in str(plan(even_log(300), best, difference=0.0))
    assert candidate_share(0.02, 0.001) == 0.5
    with pytest.raises(InputError, match="loss_budget must be above 0"):
        plan(even_log(50), best, loss_budget=0.0)
