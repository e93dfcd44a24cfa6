"""The rules that everything which tunes goes by."""

from __future__ import annotations

import numpy as np

from listwright.evaluation.values import best_of, highest, simplest


def test_the_simplest_within_one_standard_error_is_taken() -> None:
    rng = np.random.default_rng(0)
    base = rng.random(100)
    lucky = base + np.where(rng.random(100) < 0.5, 0.3, -0.29)  # ahead by .005 or so, in doubt by .03
    better = base + 0.1
    assert simplest([base, lucky]) == 0
    assert simplest([base, lucky, better]) == 2
    assert simplest([base, base]) == 0


def test_noise_in_sums_breaks_no_tie() -> None:
    assert highest([np.array([0.1 + 0.2]), np.array([0.3])]) == 0
    assert highest([np.array([0.3]), np.array([0.1 + 0.2])]) == 0
    assert best_of(["a", "b"], lambda one: np.array([0.3 if one == "a" else 0.1 + 0.2])) == "a"


def test_a_single_problem_takes_the_highest() -> None:
    assert simplest([np.array([0.2]), np.array([0.4]), np.array([0.3])]) == 1
