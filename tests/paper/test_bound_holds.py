"""Theorem 1 on a distribution that is known exactly: the certificate's bound fails in at most a share delta of runs."""

from __future__ import annotations

from itertools import combinations

import numpy as np

import listwright as lw

N_RUNS, DELTA, T, M = 1000, 0.1, 30, 2
KINDS = np.array([[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 1, 0], [1, 0, 0, 0, 1]], dtype=float)  # states x items


def value(items: tuple[int, ...]) -> float:
    """F of a fixed list: the share of the four equally likely states in which one of its items succeeds."""
    return float(KINDS[:, list(items)].any(axis=1).mean())


PAIRS = np.array([[value((a, b)) for b in range(KINDS.shape[1])] for a in range(KINDS.shape[1])])
BEST = max(value(items) for items in combinations(range(KINDS.shape[1]), M))


def run(seed: int) -> tuple[float, float, float]:
    """F(p-bar, m) exactly, what the certificate says it is at least, and what it says without the rival."""
    states = KINDS[np.random.default_rng(seed).integers(len(KINDS), size=T)]
    problems = lw.Problems.from_arrays(np.zeros((*states.shape, 1)), reward=lw.rewards.AnySuccess(states))
    model = lw.ContextFreeSCP(M, keep="mixture", random_state=seed).fit(problems)
    drawn = [getattr(policy, "probabilities", np.full(KINDS.shape[1], 0.2)) for policy in model.policy_.policies]
    exact = float(np.mean([p @ PAIRS @ p for p in drawn]))
    certificate = model.certificate(DELTA)
    assert certificate.assumptions_met
    assert len(drawn) == T == model.n_rounds_
    return exact, certificate.lower_bound(BEST), certificate.lower_bound_on_value


def test_the_table_of_pairs_is_the_exact_value_of_lists() -> None:
    assert PAIRS.max() == BEST
    assert PAIRS[0, 0] == 0.5


def test_the_bound_fails_in_at_most_a_tenth_of_a_thousand_runs() -> None:
    exact, promised, seen = np.array([run(seed) for seed in range(N_RUNS)]).T
    assert (exact < promised).mean() <= DELTA
    assert (exact < seen).mean() <= DELTA
    assert exact.min() > 0.3  # the runs are real: every mixture is worth something, and not all the same
    assert exact.std() > 0.001
