"""Learning that goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import listwright as lw
from listwright.learners import RidgeFTRL
from listwright.policies import Linear, Policy, Sequence
from tests.estimators.models import ALL, BOTH, PLAIN
from tests.problem_tools import problems_of_kinds, recurring_problems


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("learner", ["ridge", RidgeFTRL(1.0), "gradient", Ridge()])
def test_partial_fit_in_pieces_equals_one_pass_over_all(cls: type, learner: Any) -> None:
    problems = problems_of_kinds(60)
    whole = cls(3, features=PLAIN, learner=learner, n_passes=1, batch_size=20).fit(problems)
    pieces = cls(3, features=PLAIN, learner=learner, n_passes=1, batch_size=20)
    for start in (0, 20, 40):
        pieces.partial_fit(problems[start : start + 20])
    assert pieces.predict(problems) == whole.predict(problems)
    assert pieces.n_rounds_ == whole.n_rounds_ == 60
    assert pieces.training_.ledger.loss == pytest.approx(whole.training_.ledger.loss)
    np.testing.assert_array_equal(weights_of(pieces.policy_, problems), weights_of(whole.policy_, problems))


def weights_of(policy: Policy, problems: lw.Problems) -> np.ndarray:
    if isinstance(policy, Sequence):
        return np.concatenate([weights_of(one, problems) for one in policy.policies])
    return policy.weights if isinstance(policy, Linear) else np.ravel(policy.estimator.coef_)


def test_context_free_partial_fit_in_pieces_equals_one_pass_over_all() -> None:
    problems = recurring_problems()
    learner = lw.learners.WeightedMajority(rate=0.3)
    whole = lw.ContextFreeSCP(2, learner=learner, random_state=np.random.default_rng(4)).fit(problems)
    pieces = lw.ContextFreeSCP(2, learner=learner, random_state=np.random.default_rng(4))
    for start in (0, 20, 40):
        pieces.partial_fit(problems[start : start + 20])
    np.testing.assert_allclose(pieces.probabilities_, whole.probabilities_, rtol=1e-12)


def test_partial_fit_state_by_state_draws_anew_each_time() -> None:
    success = np.tile([1.0, 0.0, 0.0, 0.0], (300, 1))
    problems = lw.Problems.from_arrays(np.zeros((300, 4, 1)), reward=lw.rewards.AnySuccess(success))
    model = lw.ContextFreeSCP(1, learner=lw.learners.WeightedMajority(rate=0.0), random_state=0)
    for start in range(300):
        model.partial_fit(problems[start : start + 1])
    assert 0.15 < model.training_.ledger.value / 300 < 0.35  # even odds: a quarter, not all or nothing


@pytest.mark.parametrize("cls", ALL)
def test_a_second_pass_over_the_same_states_is_no_guarantee(cls: type) -> None:
    first, second = recurring_problems(), recurring_problems(seed=1)
    model = cls(2, **unscaled(cls), n_passes=1, random_state=0).fit(first)
    assert model.online_certificate().assumptions_met
    model.partial_fit(second)
    assert model.online_certificate().assumptions_met
    model.partial_fit(first[np.random.default_rng(0).permutation(len(first))])  # equal, in another order
    assert "the same states were visited up to 2 times" in str(model.online_certificate())
    again = cls(2, **unscaled(cls), n_passes=1, random_state=0)
    assert again.fit(first).online_certificate().assumptions_met
    assert "visited up to 3 times" in str(again.set_params(n_passes=3).fit(first).online_certificate())


def unscaled(cls: type) -> dict[str, Any]:
    """Features that see nothing of other states; the context-free form has none."""
    return {} if cls is lw.ContextFreeSCP else {"features": lw.features.Candidate(standardize=False)}


@pytest.mark.parametrize("size", [1, 7, 25])
def test_visits_are_counted_by_state_whatever_the_slices(size: int) -> None:
    problems, rng = problems_of_kinds(25), np.random.default_rng(0)
    model = lw.SCP(2, **unscaled(lw.SCP), n_passes=1, batch_size=1, random_state=0)
    for _ in range(4):
        order = rng.permutation(25)
        for start in range(0, 25, size):
            model.partial_fit(problems[order[start : start + size]])
    certificate = model.online_certificate()
    assert "the same states were visited up to 4 times" in certificate.breaches
    assert certificate.states == 25


def test_states_without_context_that_come_again_one_by_one_are_named() -> None:
    wins = np.random.default_rng(0).random((9, 30)) < 0.1
    model = lw.ContextFreeSCP(3, random_state=0)
    for i in range(90):
        reward = lw.rewards.AnySuccess(wins[i % 9 : i % 9 + 1])
        model.partial_fit(lw.Problems.from_arrays(np.zeros((1, 30, 0)), reward=reward, catalogue=np.arange(30)))
    said = "independent draws, each visited once, although 81 of the visits are to states that equal earlier ones."
    assert said in str(model.online_certificate())


def test_partial_fit_after_fit_goes_on() -> None:
    model = lw.SCP(3, n_passes=2, effort="fast").fit(problems_of_kinds(40))
    before, rounds = model.policy_.weights, model.n_rounds_
    model.partial_fit(problems_of_kinds(40, seed=1))
    assert model.n_rounds_ == rounds + 40
    assert np.abs(model.policy_.weights - before).max() > 1e-6


def test_a_model_given_out_before_partial_fit_does_not_change() -> None:
    problems = problems_of_kinds()
    model = lw.SCP(3, learner="gradient").fit(problems)
    policy, weights = model.policy_, model.policy_.weights.copy()
    training, rounds = model.training_, model.n_rounds_
    model.partial_fit(problems)
    np.testing.assert_array_equal(policy.weights, weights)
    assert training.ledger.rounds == rounds
