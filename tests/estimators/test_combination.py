"""Policies and expected gains learned out of fold, and a small policy on top: what `effort="auto"` combines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import listwright as lw
from listwright.errors import InputError
from listwright.estimators.search import auto_methods
from listwright.estimators.stacking import PolicyScore
from listwright.features import ExpectedGain
from listwright.features.expected_gain import GivenFailure, Ranks, state_view


def portfolio(n: int, seed: int = 0) -> lw.Problems:
    """Six solvers: which ones work depends on two numbers of the instance, not in a straight line; pairs fail alike."""
    rng = np.random.default_rng(seed)
    context = rng.normal(size=(n, 4))
    region = (context[:, 0] > 0).astype(int) + 2 * (context[:, 0] * context[:, 1] > 0).astype(int)
    chances = np.array([[0.9, 0.9, 0.2, 0.2, 0.1, 0.3], [0.1, 0.1, 0.9, 0.9, 0.2, 0.3]])
    p = chances[region % 2] * np.where(region[:, None] >= 2, 0.9, 0.6)
    shared = np.repeat(rng.random((n, 3)), 2, axis=1)
    success = shared < p
    success[~success.any(axis=1), 5] = True
    return lw.Problems.from_arrays(
        np.zeros((n, 6, 0)), context=context, catalogue=np.arange(6), reward=lw.rewards.AnySuccess(success)
    )


def passages(n: int, seed: int = 0, **given: object) -> lw.Problems:
    rng = np.random.default_rng(seed)
    topic, quality = rng.integers(4, size=(n, 10)), rng.random((n, 10))
    features = np.concatenate([np.eye(4)[topic], quality[..., None]], axis=2)
    covers = np.eye(4)[topic] * (quality > 0.4)[..., None]
    return lw.Problems.from_arrays(features, reward=lw.rewards.Coverage(covers.reshape(-1, 4)), **given)


def test_the_combination_beats_the_static_list_and_is_no_worse_than_the_fast_policy() -> None:
    train, test = portfolio(300), portfolio(300, seed=1)
    best = lw.SCP(2, random_state=0).fit(train).score(test)
    assert best > lw.baselines.StaticList(2).fit(train).score(test) + 0.02
    assert best >= lw.SCP(2, effort="fast", random_state=0).fit(train).score(test) - 0.01


def test_the_combination_learns_coverage_from_candidates() -> None:
    train, test = passages(80), passages(100, seed=1)
    best = lw.SCP(3, random_state=0).fit(train)
    assert best.score(test) > 0.95 * lw.greedy(test, length=3).values.mean()
    assert best.predict(test, length=2) == lw.SCP(3, random_state=0).fit(train).predict(test, length=2)


def test_the_combination_under_a_budget() -> None:
    sizes = np.random.default_rng(3).integers(1, 5, size=(60, 10)).astype(float)
    problems = passages(60, sizes=sizes)
    lists = lw.SCP(budget=6, random_state=0).fit(problems).predict(problems)
    assert all(sizes[i][items].sum() <= 6 for i, items in enumerate(lists))


def test_prediction_never_sees_the_reward() -> None:
    train, test = portfolio(80), portfolio(40, seed=1)
    model = lw.SCP(3, random_state=0).fit(train)
    assert model.predict(test) == model.predict(test.without_reward())
    assert test.reward is not None


def test_training_problems_are_scored_by_models_that_did_not_learn_from_them() -> None:
    rng = np.random.default_rng(0)
    success = rng.random((60, 5)) < 0.5  # nothing to learn: what looks like learning is memory
    context = rng.normal(size=(60, 20))
    problems = lw.Problems.from_arrays(
        np.zeros((60, 5, 0)), context=context, catalogue=np.arange(5), reward=lw.rewards.AnySuccess(success)
    )
    for features in (ExpectedGain(("forest",)), PolicyScore(lw.SCP(2, effort="fast", random_state=0))):
        fitted = clone(features).fit(problems)
        for view, remembers in ((fitted, True), (fitted.for_training(problems), False)):
            column = view.columns(view.start(problems))[:, -1]
            r = np.corrcoef(column, success.ravel())[0, 1]
            assert (r > 0.35) == remembers, (features, r)


def test_out_of_fold_views_follow_the_problem_whatever_the_batch() -> None:
    problems = portfolio(50)
    method = auto_methods(problems, lw.SCP(2, effort="fast", random_state=0))[0]
    features = method.plan(problems).features.fit(problems).for_training(problems)
    whole = features.columns(features.start(problems))
    some = np.array([30, 2, 17])
    part = features.columns(features.start(problems[some]))
    np.testing.assert_allclose(part.reshape(3, 6, -1), whole.reshape(50, 6, -1)[some], rtol=1e-5, atol=1e-5)


def test_a_simple_method_is_taken_where_it_is_clearly_better() -> None:
    """Only the order of one column within a problem tells; its scale, by which trees split, does not."""
    rng = np.random.default_rng(0)
    column = rng.random((80, 12)) * 10.0 ** rng.uniform(-3, 3, size=(80, 1))
    reward = lw.rewards.AnySuccess(column == column.max(axis=1, keepdims=True))
    noise = rng.normal(size=(80, 12, 5))
    problems = lw.Problems.from_arrays(np.concatenate([column[..., None], noise], axis=2), reward=reward)
    model = lw.SCP(2, random_state=0).fit(problems[:60])
    assert model.report_ is not None
    assert model.report_.chosen == "one column"
    assert model.score(problems[60:]) == 1.0
    assert 'effort="auto" chose features and learner on the same states' in model.online_certificate().breaches


def test_expected_gain_conditions_on_failure() -> None:
    """Solvers 0 and 1 fail alike: once 0 has failed, there is less to hope from 1."""
    problems = portfolio(400)
    features = ExpectedGain().fit(problems)
    seen = features.start(problems)
    after = features.add(seen, problems.offsets[:-1])
    names = features.names()
    for name in ("static success where the list failed", "forest success given the list's failure"):
        before, behind = (features.columns(one)[1::6, names.index(name)].mean() for one in (seen, after))
        assert behind < before - 0.5


@pytest.mark.parametrize("name", ["static", "forest", "contrasts", "neighbours"])
def test_states_that_the_list_solves_keep_as_much_weight_as_is_in_doubt(name: str) -> None:
    train, test = portfolio(60), portfolio(4, seed=1)
    view = ExpectedGain((name,)).fit(train).view_
    assert isinstance(view, GivenFailure)
    seen = view.add(view.start(test), test.offsets[:-1] + 2)
    likeness = view.models_[name].likeness(view.ranks_.apply(state_view(test, 6, whole=False)[:, view.kept_]))
    assert likeness is not None
    doubt = 0.0 if name == "static" else 0.15
    weights = likeness / (likeness**2).sum(axis=1, keepdims=True) * np.where(view.outcomes_[:, 2] > 0, doubt, 1.0)
    np.testing.assert_allclose(seen.alive[name], weights)
    column = view.columns(seen)[:, view.names().index(f"{name} success where the list failed")].reshape(4, 6)
    failed = view.outcomes_[view.outcomes_[:, 2] == 0]
    everywhere = (failed.sum(axis=0) + 2.0 * view.rates_) / (len(failed) + 2.0)
    rates = (weights @ view.outcomes_ + 0.5 * everywhere) / (weights.sum(axis=1, keepdims=True) + 0.5)
    p = np.clip(everywhere if name == "static" else rates, 0.003, 0.997)
    np.testing.assert_allclose(column, np.broadcast_to(np.log(p / (1 - p)), (4, 6)), rtol=1e-5)


def test_expected_gain_sees_the_order_of_a_states_numbers_not_their_scale() -> None:
    problems = portfolio(80)
    assert problems.context is not None
    stretched = replace(problems, context=np.exp(3 * problems.context))
    first, second = (ExpectedGain(("forest", "ridge")).fit(one) for one in (problems, stretched))
    np.testing.assert_array_equal(first.columns(first.start(problems)), second.columns(second.start(stretched)))


def test_ranks_of_many_states_keep_few_knots() -> None:
    table = np.random.default_rng(0).normal(size=(5000, 2)).astype(np.float32)
    ranks = Ranks.of(table)
    assert len(ranks.knots) == 1001
    exact = (np.argsort(np.argsort(table, axis=0), axis=0) + 0.5) / 5000
    assert np.abs(ranks.apply(table) / np.sqrt(12) + 0.5 - exact).max() < 2e-3


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_problems(n: int) -> None:
    assert len(lw.SCP(2, random_state=0).fit(portfolio(n)).predict(portfolio(3, seed=1))) == 3


def test_bad_input() -> None:
    with pytest.raises(InputError, match=r"effort must be one of auto, fast\. Got 'most'"):
        lw.SCP(2, effort="most").fit(portfolio(10))
    with pytest.raises(InputError, match=r"Got 'best'\. What \"best\" did is part of \"auto\"\."):
        lw.SCP(2, effort="best").fit(portfolio(10))
    with pytest.raises(InputError, match="models must be some of static, forest"):
        ExpectedGain(("oracle",)).fit(portfolio(10))
    with pytest.raises(InputError, match="models must name at least one of static, forest"):
        ExpectedGain(()).fit(portfolio(10))
    with pytest.raises(InputError, match="need the model forest or ridge"):
        ExpectedGain(("static",)).fit(passages(10))
