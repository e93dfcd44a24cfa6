"""Theorem 1 on a distribution that is known exactly: the certificate's bound fails in at most a share delta of runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import listwright as lw

pytest.importorskip("benchmarks.certificates", reason="benchmarks are not part of the source package")
from benchmarks.certificates.online import (
    BEST,
    DELTA,
    N_RUNS,
    Books,
    K,
    T,
    certificate_of,
    certificates,
    runs,
    share_of_failures,
)


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
