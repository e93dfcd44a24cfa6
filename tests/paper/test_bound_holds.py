"""Theorem 1 on a distribution that is known exactly: the certificate's bound fails in at most a share delta of runs.

The distribution is the hardest for the theorem's ratio: each of five equally likely states wants an item of its own, so
that the best list of five is worth 1 and no distribution over items more than 1 - (1 - 1/5)^5, just above 1 - 1/e. A
thousand runs go on side by side, in arrays; the first test shows that such a run is the estimator's own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import listwright as lw
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


@pytest.fixture(scope="module")
def drawn() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.integers(K, size=(T, N_RUNS)), rng.random((T, N_RUNS, K))


@pytest.fixture(scope="module")
def books(drawn: tuple[np.ndarray, np.ndarray]) -> Books:
    return runs(*drawn)


@pytest.mark.parametrize("seed", range(3))
def test_a_run_in_arrays_is_that_of_the_estimator(seed: int) -> None:
    n = 150
    wanted = np.random.default_rng(seed).integers(K, size=n)
    success = wanted[:, None] == np.arange(K)
    problems = lw.Problems.from_arrays(np.zeros((n, K, 1)), reward=lw.rewards.AnySuccess(success))
    model = lw.ContextFreeSCP(K, keep="mixture", random_state=seed).fit(problems)
    mine = runs(wanted[:, None], np.random.default_rng(seed).random((n, 1, K)))
    theirs, ours = model.online_certificate(DELTA), certificate_of(mine, 0, n)
    assert theirs.assumptions_met
    for name in ("expected_regret", "regret", "value_seen", "regret_bound_used", "confidence_term"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=1e-9)
    assert ours.lower_bound(BEST) == pytest.approx(theirs.lower_bound(BEST), abs=1e-9)
    chances = [getattr(policy, "probabilities", np.full(K, 1 / K)) for policy in model.policy_.policies]
    assert len(chances) == n
    exact = np.mean([(1 - (1 - p) ** K).mean() for p in chances])
    assert mine.exact[0] == pytest.approx(exact, abs=1e-9)


def test_the_bounds_fail_in_at_most_a_tenth_of_a_thousand_runs(books: Books) -> None:
    proved = certificates(books)
    against_rivals = [certificate.lower_bound(BEST) for certificate in proved]
    alone = [certificate.lower_bound_on_value for certificate in proved]
    assert share_of_failures(books, against_rivals) <= DELTA
    assert 0 < share_of_failures(books, alone) <= DELTA
    assert min(against_rivals) > 0.3  # far above 0, which F is in any case
    assert max(certificate.slack for certificate in proved) < 0.3


def test_bounds_that_claim_too_much_fail(books: Books) -> None:
    proved = certificates(books)
    assert share_of_failures(books, [certificate.value_seen for certificate in proved]) > 0.3  # no chance allowed for
    tighter = [0.7 * BEST - certificate.regret_bound_used for certificate in proved]  # a ratio that nothing reaches
    assert share_of_failures(books, tighter) > 0.9
    doubted = [replace(certificate, delta=0.9).lower_bound_on_value for certificate in proved]
    assert share_of_failures(books, doubted) > DELTA


def test_a_learner_that_does_not_learn_keeps_its_regret_and_fails_without_it(
    drawn: tuple[np.ndarray, np.ndarray],
) -> None:
    wanted, uniforms = drawn
    stuck = runs(wanted[:1000], uniforms[:1000], learns=False)
    proved = certificates(stuck, 1000)
    assert stuck.exact == pytest.approx(1 / K)
    assert share_of_failures(stuck, [certificate.lower_bound(BEST) for certificate in proved]) <= DELTA
    assert min(certificate.regret_bound_used for certificate in proved) > 0.5
    hidden = [replace(certificate, regret_bound_used=0.0).lower_bound(BEST) for certificate in proved]
    assert share_of_failures(stuck, hidden) == 1


def test_no_distribution_is_worth_more_than_even_odds(books: Books) -> None:
    assert books.exact.max() <= 1 - (1 - 1 / K) ** K + 1e-12
    assert books.exact.min() > 0.6
    assert books.exact.std() > 1e-4  # the runs differ
