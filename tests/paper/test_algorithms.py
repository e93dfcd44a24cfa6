"""Plain transcriptions of Algorithms 1 and 2, state by state, against which the library's loop is replayed."""

from __future__ import annotations

import numpy as np
import pytest

import listwright as lw
from listwright.features import Candidate, Distance, Position

M, K, PENALTY = 3, 2, 0.7


def make_arrays(seed: int, n_states: int = 25, n_items: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Features are multiples of 1/64, so that float32 holds them and their differences exactly."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 64, size=(n_states, n_items, 3)) / 64, rng.random((n_states, n_items, 5)) < 0.35


def make_problems(seed: int) -> lw.Problems:
    features, covers = make_arrays(seed)
    reward = lw.rewards.Coverage(covers.astype(float))
    return lw.Problems.from_arrays(features, catalogue=np.arange(features.shape[1]), reward=reward)


def marginal_gains(covers: np.ndarray, chosen: list[int]) -> np.ndarray:
    """b(s | L) of weighted coverage: newly covered topics over those that the state's candidates cover."""
    covered = covers[chosen].any(axis=0) if chosen else np.zeros(covers.shape[1], dtype=bool)
    total = max(covers.any(axis=0).sum(), 1)
    return (covers & ~covered).sum(axis=1) / total


def paper_columns(x: np.ndarray, chosen: list[int]) -> np.ndarray:
    """The footnote of the trajectory experiment: own features, distances to the list, bias, first-position flag."""
    gaps = [np.abs(x - x[s]) for s in chosen]
    smallest = np.min(gaps, axis=0) if gaps else np.zeros_like(x)
    mean = np.mean(gaps, axis=0).astype(np.float32) if gaps else np.zeros_like(x)
    flags = np.tile([1.0, float(not chosen)], (len(x), 1))
    return np.concatenate([x, smallest, mean, flags], axis=1)


def algorithm_two(features: np.ndarray, covers: np.ndarray) -> tuple[np.ndarray, list[list[int]]]:
    """Algorithm 2 with the regression reduction, by the book: one state at a time, normal equations from scratch."""
    h, rows, targets, weights, lists = None, [], [], [], []
    for x, c in zip(features, covers, strict=True):
        chosen: list[int] = []
        for i in range(1, M + 1):
            v = paper_columns(x, chosen)
            b = marginal_gains(c, chosen)
            cost = b.max() - b
            w = (1 - 1 / K) ** (M - i)
            rows.append(v)
            targets.append(-cost)  # a higher score is better: the policy predicts minus the cost
            weights.append(np.full(len(v), w))
            chosen.append(int(np.argmax(v @ h)) if h is not None else 0)
        lists.append(chosen)
        a, y, w = np.concatenate(rows), np.concatenate(targets), np.concatenate(weights)
        h = np.linalg.solve(a.T @ (w[:, None] * a) + PENALTY * np.eye(a.shape[1]), a.T @ (w * y))
    return h, lists


@pytest.mark.parametrize("seed", range(5))
def test_online_scp_is_algorithm_two_to_the_letter(seed: int) -> None:
    problems = make_problems(seed)
    features, dense = make_arrays(seed)
    model = lw.SCP(
        M,
        comparator_length=K,
        learner=lw.learners.RidgeFTRL(PENALTY, target="cost", center=False),
        features=Candidate(standardize=False) + Distance(standardize=False) + Position(),
        n_passes=1,
        batch_size=1,
        repeats=True,
        skip_saturated=False,
    ).fit(problems)
    h, lists = algorithm_two(features, dense)
    np.testing.assert_allclose(model.policy_.weights, h, rtol=0, atol=1e-10)
    losses = sum(
        (1 - 1 / K) ** (M - 1 - i) * (marginal_gains(c, chosen[:i]).max() - marginal_gains(c, chosen[:i])[chosen[i]])
        for c, chosen in zip(dense, lists, strict=True)
        for i in range(M)
    )
    assert model.training_.ledger.loss == pytest.approx(losses, abs=1e-10)
    values = sum(
        c[chosen].any(axis=0).sum() / max(c.any(axis=0).sum(), 1) for c, chosen in zip(dense, lists, strict=True)
    )
    assert model.training_.ledger.value == pytest.approx(values, abs=1e-10)


def algorithm_one(covers: np.ndarray, rate: float, seed: int) -> np.ndarray:
    """Algorithm 1 with Weighted Majority: draw m items, add up discounted benefits, multiply the weights."""
    rng = np.random.default_rng(seed)
    n_items = covers.shape[1]
    weights = np.ones(n_items)
    for c in covers:
        p = weights / weights.sum()
        chosen: list[int] = []
        r = np.zeros(n_items)
        for i in range(1, M + 1):
            r += (1 - 1 / K) ** (M - i) * marginal_gains(c, chosen)
            chosen.append(int(np.searchsorted(np.cumsum(p), rng.random(), side="right")))
        loss = r.max() - r
        weights = weights * np.exp(-rate * loss)
    return weights / weights.sum()


@pytest.mark.parametrize("seed", range(5))
def test_context_free_scp_is_algorithm_one_to_the_letter(seed: int) -> None:
    _, dense = make_arrays(seed)
    model = lw.ContextFreeSCP(
        M, comparator_length=K, learner=lw.learners.WeightedMajority(rate=0.8), random_state=seed
    ).fit(make_problems(seed))
    np.testing.assert_allclose(model.probabilities_, algorithm_one(dense, 0.8, seed), rtol=0, atol=1e-10)


def test_context_free_equals_the_contextual_algorithm_with_constant_policies() -> None:
    """Section 4.1: the context-free setting is the finite class of policies that always pick one item."""
    problems = make_problems(3)
    n_items = 6
    constant = [lw.policies.Linear(np.zeros(0), np.eye(n_items)[s][:, None]) for s in range(n_items)]
    contextual = lw.SCP(
        M,
        comparator_length=K,
        learner=lw.learners.WeightedMajority(constant, rate=0.8),
        features=lw.features.Identity(),
        n_passes=1,
        batch_size=1,
        repeats=True,
        skip_saturated=False,
        random_state=7,
    ).fit(problems)
    context_free = lw.ContextFreeSCP(
        M, comparator_length=K, learner=lw.learners.WeightedMajority(rate=0.8), random_state=7
    ).fit(problems)
    np.testing.assert_allclose(
        contextual.training_.learner.probabilities_, context_free.probabilities_, rtol=0, atol=1e-10
    )
