"""The compiled lazy greedy gives the same lists as the one that goes through the reward's fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from listwright.problems import Problems
from listwright.rewards import ConcaveCoverage, Coverage, FacilityLocation, ProbabilisticCoverage, Reward
from listwright.selection.greedy import greedy

COUNTS = np.array([1, 7, 12, 30])


def made_reward(name: str, seed: int) -> Reward:
    """On a coarse grid, so that many gains are equal."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 5, size=(COUNTS.sum(), 6)) / 4.0
    squares: list[Any] = [rng.integers(-2, 9, size=(n, n)) / 8.0 for n in COUNTS]
    return {
        "facility": lambda: FacilityLocation(squares),
        "facility, float32, summed": lambda: FacilityLocation(
            [square.astype(np.float32) for square in squares], normalize=False
        ),
        "coverage": lambda: Coverage(table > 0.7),
        "weighted coverage": lambda: Coverage(table > 0.5, weights=rng.random(6), normalize=False),
        "probabilities": lambda: ProbabilisticCoverage(table),
        "square roots": lambda: ConcaveCoverage(table),
        "logarithms": lambda: ConcaveCoverage(table, "log", normalize=False),
        "caps": lambda: ConcaveCoverage(table, "cap", caps=1.5),
    }[name]()


NAMES = (
    "facility",
    "facility, float32, summed",
    "coverage",
    "weighted coverage",
    "probabilities",
    "square roots",
    "logarithms",
    "caps",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("length", "budget"), [(4, None), (50, None), (None, 5.0), (3, 4.0), (None, 0.3)])
def test_same_lists(name: str, length: int | None, budget: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(3):
        reward = made_reward(name, seed)
        sizes = np.random.default_rng(seed).integers(1, 5, size=COUNTS.sum()) / 2.0
        offsets = np.concatenate([[0], np.cumsum(COUNTS)])
        problems = Problems.from_arrays(np.zeros((COUNTS.sum(), 1)), offsets=offsets, sizes=sizes, reward=reward)
        compiled = greedy(problems, length, budget)
        assert problems.reward.lazy_lists(problems, sizes, np.ones(len(COUNTS)), 1) is not None
        with monkeypatch.context() as plain:
            plain.setattr(type(reward), "lazy_lists", Reward.lazy_lists)
            folded = greedy(problems, length, budget)
        np.testing.assert_array_equal(compiled.rows, folded.rows)
        np.testing.assert_array_equal(compiled.picked_gains, folded.picked_gains)


def test_a_reward_with_gains_of_its_own_goes_without() -> None:
    class Halved(FacilityLocation):
        def gains_of(self, state: Any, rows: Any) -> Any:
            return super().gains_of(state, rows) / 2.0

    problems = Problems.from_arrays(np.zeros((1, 2, 1)), reward=Halved(np.eye(2)))
    assert problems.reward.lazy_lists(problems, np.ones(2), np.ones(1), 1) is None
    np.testing.assert_array_equal(greedy(problems, 2).picked_gains, [[0.25, 0.25]])
