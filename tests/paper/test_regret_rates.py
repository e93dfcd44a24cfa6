"""How Weighted Majority's regret grows: with the square roots of T, of ln N and of k' = min(m, k)."""

import numpy as np
import pytest

from listwright.guarantees import regret_bound
from listwright.learners import WeightedMajority
from listwright.learners.examples import position_weights
from listwright.learners.experts import best_rate, exponential_weights


def slope(x, y):
    """Exponent of y as a power of x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def coin_regret(n_states, n_experts, rng):
    """Expected regret of a whole run on fair coins, which no learner foresees and the luckiest expert beats.

    The gains do not depend on the picks, so all distributions of the run come from the running sums at once.
    """
    gains = rng.integers(2, size=(n_states, n_experts)).astype(float)
    before = np.cumsum(gains, axis=0) - gains
    probabilities = exponential_weights(before, best_rate(n_experts, n_states))
    return gains.sum(axis=0).max() - (probabilities * gains).sum()


def mean_coin_regret(n_states, n_experts, repetitions, seed):
    rng = np.random.default_rng(seed)
    return np.mean([coin_regret(n_states, n_experts, rng) for _ in range(repetitions)])


def test_the_quick_run_is_that_of_the_learner():
    learner = WeightedMajority(horizon=300)
    learner.start(5)
    for gains in np.random.default_rng(0).integers(2, size=(300, 5)).astype(float):
        learner.end_round(gains)
    assert coin_regret(300, 5, np.random.default_rng(0)) == pytest.approx(learner.expected_regret())


def test_average_regret_falls_with_the_square_root_of_the_states():
    states = [100, 1_000, 10_000, 100_000]
    average = [mean_coin_regret(n, 16, 12, seed) / n for seed, n in enumerate(states)]
    assert -0.6 <= slope(states, average) <= -0.4


def test_regret_grows_with_the_square_root_of_the_logarithm_of_the_class():
    sizes = [4, 16, 64, 256, 1024]
    regret = [mean_coin_regret(2_000, n, 12, seed) for seed, n in enumerate(sizes)]
    assert 0.4 <= slope(np.log(sizes), regret) <= 0.75  # the luckiest of few gains on sqrt(2 ln N), its limit


@pytest.mark.parametrize("rate", ["optimal", "doubling", "adaptive"])
def test_every_rate_is_no_regret_against_the_worst_sequence(rate):
    # Half of the experts gain 1, those with less probability: worse than even odds in every state.
    average = []
    for n_states in (100, 400, 1600):
        learner = WeightedMajority(rate=rate, horizon=n_states)
        learner.start(8)
        for _ in range(n_states):
            order = np.argsort(learner.probabilities_, kind="stable")
            learner.end_round(np.isin(np.arange(8), order[:4]).astype(float))
        average.append(learner.expected_regret() / n_states)
    assert -0.65 <= slope([100, 400, 1600], average) <= -0.35


def list_regret(length, n_states, n_items, rng):
    """Expected regret where a list is worth 1 once an item of it succeeds, and each item does with chance 1 / (2 m).

    The gains at the positions of a list then add up to at most 1, as for every reward of the paper, but an item that
    the list misses gains at all positions: up to k' in one state.
    """
    weights = position_weights(length)
    most = np.cumsum(weights)
    learner = WeightedMajority(horizon=n_states)
    learner.start(n_items)
    for _ in range(n_states):
        success = rng.random(n_items) < 0.5 / length
        hits = rng.random(length) < learner.probabilities_ @ success
        left = int(hits.argmax()) if hits.any() else length - 1  # the last position with something left to gain
        picked = float(weights[left]) if hits.any() else 0.0
        learner.end_round(most[left] * success, picked, most=float(most[-1]))
    return learner


def test_regret_grows_with_the_square_root_of_the_length():
    # Many items, so that no single one is found often enough to hold its own gains down.
    rng = np.random.default_rng(4)
    lengths = [2, 8, 32]
    regret = [np.mean([list_regret(m, 1_000, 1_000, rng).expected_regret() for _ in range(6)]) for m in lengths]
    assert 0.35 <= slope(lengths, regret) <= 0.6


def test_the_bound_with_its_constants_holds():
    for m in (1, 4, 16):
        learner = list_regret(m, 1_000, 20, np.random.default_rng(m))
        assert learner.expected_regret() / 1_000 <= regret_bound(1_000, 20, length=m)
