"""The pairwise hinge, solved in full through the estimator."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import listwright as lw
from listwright.errors import InputError
from listwright.learners import HingeLeader

PLAIN = lw.features.Candidate(standardize=False)


def made(n: int = 12, *, catalogue: bool = False) -> tuple[lw.Problems, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 5, 3))
    success = rng.integers(0, 4, size=(n, 5)) / 4
    numbers = np.arange(5) if catalogue else None
    reward = lw.rewards.AnySuccess(success)
    return lw.Problems.from_arrays(x, reward=reward, catalogue=numbers), success


def by_pairs(problems: lw.Problems, success: np.ndarray, weights: np.ndarray, penalty: float) -> float:
    """The objective, pair by pair."""
    total = 0.5 * penalty * float(weights @ weights)
    for i, gains in enumerate(success):
        scores = problems[i].features @ weights
        for a, b in combinations(range(len(gains)), 2):
            good, bad = (a, b) if gains[a] > gains[b] else (b, a)
            total += abs(gains[a] - gains[b]) * max(0.0, 1.0 - (scores[good] - scores[bad]))
    return total


@pytest.mark.parametrize("penalty", [0.3, 5.0])
def test_the_weights_are_those_of_the_sum_over_pairs(penalty: float) -> None:
    problems, success = made()
    model = lw.SCP(1, features=PLAIN, learner=HingeLeader(penalty), n_passes=1, random_state=0).fit(problems)
    mine = by_pairs(problems, success, model.policy_.weights, penalty)
    other = minimize(lambda h: by_pairs(problems, success, h, penalty), np.zeros(3), method="Nelder-Mead")
    assert mine <= other.fun * (1 + 1e-3)


def test_items_have_weights_of_their_own_where_identity_is_crossed() -> None:
    problems, _ = made(40, catalogue=True)
    model = lw.SCP(2, features=lw.features.Identity(), learner="hinge", n_passes=1, random_state=0).fit(problems)
    assert model.policy_.item_weights.shape[0] == 5
    assert np.abs(model.policy_.item_weights).max() > 0.01


def test_it_is_saved_and_learns_on(tmp_path: Path) -> None:
    problems, _ = made(30, catalogue=True)
    model = lw.SCP(2, learner="hinge", n_passes=1, random_state=0).fit(problems)
    model.save(tmp_path / "model")
    again = lw.load(tmp_path / "model")
    assert again.predict(problems) == model.predict(problems)
    assert again.partial_fit(problems).predict(problems) == model.partial_fit(problems).predict(problems)


@pytest.mark.parametrize("penalty", [0.0, -1.0, np.nan, "much"])
def test_a_wrong_penalty_is_named(penalty: object) -> None:
    with pytest.raises(InputError, match="penalty must be a number above 0"):
        lw.SCP(1, learner=HingeLeader(penalty)).fit(made()[0])  # type: ignore[arg-type]
