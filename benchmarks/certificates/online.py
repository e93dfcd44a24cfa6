"""Algorithm 1 with Weighted Majority, a thousand runs side by side, on a distribution that is known exactly.

The distribution is the hardest for the theorem's ratio: each of five equally likely states wants an item of its own, so
that the best list of five is worth 1 and no distribution over items more than 1 - (1 - 1/5)^5, just above 1 - 1/e.
tests/paper shows that such a run is the estimator's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright.guarantees import Certificate, certify
from listwright.learners import WeightedMajority
from listwright.learners.examples import position_weights
from listwright.learners.experts import best_rate, exponential_weights

N_RUNS, DELTA, T, K = 1000, 0.1, 2500, 5
BEST = 1.0  # F of the list of all items


@dataclass(frozen=True)
class Books:
    """Sums over the rounds of many runs, one row per run."""

    gains: np.ndarray  # by item: the sum of r_t(s)
    most: np.ndarray  # the sum of max r_t
    expected: np.ndarray  # what the distributions in use were expected to gain
    picked: np.ndarray  # what the picks gained
    value: np.ndarray  # the sum of f(L_t)
    exact: np.ndarray  # F(p-bar, m), exactly


def runs(wanted: np.ndarray, uniforms: np.ndarray, *, learns: bool = True) -> Books:
    """Algorithm 1 with Weighted Majority in many runs at once.

    `wanted` are the states, (rounds, runs), as the item that each wants; `uniforms` decide the draws, (rounds, runs,
    positions). A learner that does not learn always picks item 0.
    """
    n_rounds, n_runs = wanted.shape
    weights, each = position_weights(K), np.arange(n_runs)
    rate = best_rate(K, n_rounds, float(weights.sum()))
    gains, (most, expected, picked, value, exact) = np.zeros((n_runs, K)), np.zeros((5, n_runs))
    p = np.full((n_runs, K), 1 / K) if learns else np.tile(np.eye(K)[0], (n_runs, 1))
    for wants, draws in zip(wanted, uniforms, strict=True):
        hits = (draws[..., None] >= np.cumsum(p, axis=1)[:, None, :]).sum(axis=2) == wants[:, None]
        left = np.cumsum(hits, axis=1) - hits == 0  # nothing before this position has served the state
        worth = left @ weights  # r_t of the item that is wanted; all others gain nothing
        gains[each, wants] += worth
        most += worth
        expected += p[each, wants] * worth
        picked += (hits & left) @ weights
        value += hits.any(axis=1)
        exact += (1 - (1 - p) ** K).mean(axis=1) / n_rounds
        if learns:
            p = exponential_weights(gains, rate)
    return Books(gains, most, expected, picked, value, exact)


def certificate_of(books: Books, run: int, n_rounds: int) -> Certificate:
    learner = WeightedMajority()
    learner.start(K)
    learner.losses_ = books.most[run] - books.gains[run]
    learner.expected_loss_ = books.most[run] - books.expected[run]
    learner.loss_ = books.most[run] - books.picked[run]
    return certify(
        learner, rounds=n_rounds, loss=float(learner.loss_), value=float(books.value[run]), length=K, delta=DELTA
    )


def certificates(books: Books, n_rounds: int = T) -> list[Certificate]:
    return [certificate_of(books, run, n_rounds) for run in range(N_RUNS)]


def share_of_failures(books: Books, bounds: list[float]) -> float:
    return float((books.exact < np.array(bounds)).mean())


def failures(seed: int) -> tuple[float, float]:
    """Shares of a thousand runs in which the bound against the best list was wrong, and the one on the value."""
    rng = np.random.default_rng(seed)
    books = runs(rng.integers(K, size=(T, N_RUNS)), rng.random((T, N_RUNS, K)))
    made = certificates(books)
    bounds = (
        [certificate.lower_bound(BEST) for certificate in made],
        [certificate.lower_bound_on_value for certificate in made],
    )
    return share_of_failures(books, bounds[0]), share_of_failures(books, bounds[1])
