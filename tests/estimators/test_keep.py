"""Which policies of the rounds a model keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import listwright as lw
from listwright.features import Candidate
from listwright.policies import Estimator, Linear, PolicyMixture, Sequence, Uniform
from listwright.training.loop import FEW, MEMORY, RESERVOIR, PolicyKeeper, held_out
from tests.estimators.models import ALL, BOTH
from tests.problem_tools import problems_of_kinds, recurring_problems


def test_the_best_round_is_chosen_by_a_part_that_is_not_learned_from() -> None:
    problems = problems_of_kinds(100)
    held = held_out(100, np.random.default_rng(0))
    assert held is not None
    assert len(set(held.tolist())) == 20
    model = lw.SCP(2, keep="best", n_passes=1, effort="fast", random_state=0).fit(problems)
    assert model.n_rounds_ == 80
    alone = lw.SCP(2, keep="best", n_passes=1, effort="fast", random_state=0).fit(problems[:1])
    assert alone.n_rounds_ == 1  # of a single problem, nothing is held out
    keeper = PolicyKeeper("best")
    policies = [Linear(np.array([value])) for value in (0.0, 2.0, 1.0)]
    for policy in policies:
        keeper.after_round(policy, lambda policy=policy: float(policy.weights[0]))
    assert keeper.kept(policies[-1]).weights.tolist() == [2.0]


@pytest.mark.parametrize("cls", BOTH)
def test_the_best_round_is_no_worse_on_its_validation_part(cls: type) -> None:
    problems = problems_of_kinds(100)
    validation = problems[held_out(100, np.random.default_rng(0))]
    model = cls(2, keep="best", learner="gradient", random_state=0, n_passes=3).fit(problems)
    best = model.score(validation)
    model.policy_ = model.training_.policy  # the last one
    assert best >= model.score(validation)


def test_the_mixture_is_uniform_over_rounds_and_small() -> None:
    problems = problems_of_kinds(30)
    model = lw.SCP(2, keep="mixture", n_passes=2, batch_size=5, random_state=0).fit(problems)
    assert isinstance(model.policy_, PolicyMixture)
    assert len(model.policy_.policies) == 55  # one per state, without the first round's, which had not learned yet
    assert len({id(policy) for policy in model.policy_.policies}) == 11  # one per round of five states
    long = lw.SCP(2, keep="mixture", n_passes=40, batch_size=1, random_state=0).fit(problems)
    assert len(long.policy_.policies) == RESERVOIR


def test_a_long_mixture_is_an_even_sample_of_its_rounds() -> None:
    counts = np.zeros(4)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        keeper = PolicyKeeper("mixture")
        for round_ in range(2000):
            keeper.before_round(Linear(np.array([round_])), 1, rng)
        rounds = [policy.weights[0] for policy in keeper.kept(Linear(np.zeros(1))).policies]
        counts += np.histogram(rounds, bins=4, range=(0, 2000))[0]
    np.testing.assert_allclose(counts / counts.sum(), 0.25, atol=0.02)


@pytest.mark.parametrize("cls", BOTH)
def test_a_mixture_of_fitted_estimators_is_a_small_even_sample(cls: type) -> None:
    model = cls(2, learner=Ridge(), keep="mixture", n_passes=1, batch_size=1, random_state=0).fit(problems_of_kinds(40))
    assert len(model.policy_.policies) == FEW
    assert (model.predict(problems_of_kinds(40)).lengths == 2).all()
    more = model.partial_fit(problems_of_kinds(20, seed=1))
    assert len(more.policy_.policies) == FEW
    assert more.n_rounds_ == 60


@pytest.mark.parametrize("heavy", [Estimator, lambda number: Sequence((Linear(np.zeros(1)), Estimator(number)))])
def test_the_small_sample_is_even_also_where_the_first_policies_were_light(heavy: Any) -> None:
    counts, before = np.zeros(4), 200
    for seed in range(150):
        rng = np.random.default_rng(seed)
        keeper = PolicyKeeper("mixture")
        for round_ in range(400):
            keeper.before_round(heavy(round_) if round_ >= before else Linear(np.array([round_])), 1, rng)
        policies = keeper.kept(Uniform()).policies
        assert len(policies) == FEW
        last = [policy.policies[-1] if isinstance(policy, Sequence) else policy for policy in policies]
        rounds = [policy.weights[0] if isinstance(policy, Linear) else policy.estimator for policy in last]
        counts += np.histogram(rounds, bins=4, range=(0, 400))[0]
    np.testing.assert_allclose(counts / counts.sum(), 0.25, atol=0.04)


def test_large_weights_are_kept_in_bounded_memory() -> None:
    rng, many = np.random.default_rng(0), MEMORY // (8 * 100)
    keeper = PolicyKeeper("mixture")
    for _ in range(300):
        keeper.before_round(Linear(np.broadcast_to(np.zeros(1), many)), 1, rng)
    assert len(keeper.policies) == 100


@pytest.mark.parametrize("cls", ALL)
def test_a_mixture_draws_one_policy_for_each_list(cls: type) -> None:
    problems = recurring_problems()
    model = cls(3, keep="mixture", random_state=0).fit(problems)
    assert model.predict(problems) == model.predict(problems)
    assert (model.predict(problems).lengths == 3).all()
    policies = (Linear(np.array([0.0, 0, 0, 1])), Linear(np.array([0.0, 0, 0, -1])))
    drawn = lw.SCP(3, features=Candidate()).fit(problems_of_kinds(200, seed=5))
    drawn.policy_ = PolicyMixture(policies)
    drawn.random_state = 0
    others = problems_of_kinds(200, seed=5)
    quality = np.diff(others.features[drawn.predict(others).rows][..., 3])
    falls, rises = (quality <= 0).all(axis=1), (quality >= 0).all(axis=1)
    assert (falls | rises).all()  # never one policy for one position and another for the next
    assert 70 < falls.sum() < 130


def test_partial_fit_goes_on_with_a_mixture() -> None:
    first, second = problems_of_kinds(30), problems_of_kinds(30, seed=1)
    model = lw.SCP(2, keep="mixture", effort="fast", random_state=0).partial_fit(first).partial_fit(second)
    assert isinstance(model.policy_, PolicyMixture)
    assert len(model.policy_.policies) == model.n_rounds_ - model.training_.ledger.unlearned < 60
    model.fit(first)
    assert len(model.policy_.policies) == 256  # of 300 rounds; a fit starts anew
    assert model.n_rounds_ == 300
