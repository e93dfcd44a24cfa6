"""Learners over linear weights, any estimator, and one for each position."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import listwright as lw
from listwright.errors import InputError
from listwright.features import Crossed, Rows
from listwright.learners import (
    KNOWN,
    Aggregate,
    GradientDescent,
    Learner,
    PerPosition,
    RidgeFTRL,
    SoftmaxLeader,
    as_learner,
)
from listwright.learners.examples import Examples, center_by_state
from listwright.learners.losses import LOSSES
from listwright.learners.ridge import PENALTIES, rows_by_fold
from listwright.policies import Estimator, Linear, Sequence, Uniform
from tests.booster_tools import booster
from tests.made_examples import changed, made

WEIGHTS = np.array([1.0, -2.0, 0.5])


def make_examples(seed: int, *, position: int = 0, weight: float = 1.0, n: int = 12, noise: float = 0.1) -> Examples:
    """States in which the gain is a line in what is seen."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(2, 7, size=n)
    owners = np.repeat(np.arange(n), counts)
    table = rng.normal(size=(len(owners), 3)).astype(np.float32)
    gains = table @ WEIGHTS + noise * rng.normal(size=len(owners)) + 5.0
    rows = Rows(table, owners, np.concatenate([[0], np.cumsum(counts)]))
    options = rng.random(len(owners)) < 0.9
    return made(rows, gains, weight=weight, position=position, options=options, learned=rng.random(n) < 0.9)


STACK = [make_examples(seed, weight=weight) for seed, weight in enumerate((1.0, 0.5, 0.25, 1.0))]


@pytest.fixture(autouse=True)
def one_openmp_thread() -> Iterator[None]:
    """Trees this small are slower on several threads."""
    with threadpool_limits(1, user_api="openmp"):
        yield


def taught(learner: Learner, stack: list[Examples]) -> Learner:
    for examples in stack:
        learner.learn(examples)
    return learner


def stacked(stack: list[Examples], *, center: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    tables, targets, weights = [], [], []
    for examples in stack:
        rows, offsets = examples.used_rows
        table, target = examples.rows.table[rows].astype(np.float64), examples.gains[rows]
        tables.append(center_by_state(table, offsets) if center else table)
        targets.append(center_by_state(target, offsets) if center else target)
        weights.append(np.full(len(rows), examples.weight))
    return np.concatenate(tables), np.concatenate(targets), np.concatenate(weights)


# RidgeFTRL


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_sorted_by_fold(seed: int) -> None:
    examples = make_examples(seed, n=1 + seed % 12)
    folds = np.random.default_rng(seed).integers(0, 3, size=len(examples.learned))
    states = [[row for row in range(a, b) if examples.row_mask[row]] for a, b in pairwise(examples.rows.offsets)]
    rows, starts, ends = rows_by_fold(examples, folds, 3)
    assert [[rows[a:b].tolist() for a, b in pairwise(starts) if ends[f] <= a < ends[f + 1]] for f in range(3)] == [
        [state for state, fold in zip(states, folds, strict=True) if state and fold == f] for f in range(3)
    ]
    assert starts[-1] == ends[-1] == len(rows) == examples.row_mask.sum()


@pytest.mark.parametrize("seed", range(10))
def test_costs_are_distances_to_the_best_option(seed: int) -> None:
    examples = make_examples(seed)
    offsets, gains, options = examples.rows.offsets, examples.gains, examples.options
    best = [max((gains[i] for i in range(a, b) if options[i]), default=0.0) for a, b in pairwise(offsets)]
    expected = np.where(options, np.repeat(best, np.diff(offsets)) - gains, 0.0)
    np.testing.assert_array_equal(examples.costs, expected)


@pytest.mark.parametrize("center", [True, False])
def test_ridge_from_sums_is_ridge_on_the_stacked_rows(center: bool) -> None:
    policy = taught(RidgeFTRL(0.4, center=center), STACK).policy()
    table, target, weights = stacked(STACK, center=center)
    plain = Ridge(alpha=0.4, fit_intercept=False).fit(table, target, sample_weight=weights)
    np.testing.assert_allclose(policy.weights, plain.coef_, rtol=0, atol=1e-8)


def test_with_centering_gains_and_costs_are_the_same_target() -> None:
    gain = taught(RidgeFTRL(), STACK).policy()
    cost = taught(RidgeFTRL(target="cost"), STACK).policy()
    np.testing.assert_allclose(gain.weights, cost.weights, atol=1e-10)
    plain = taught(RidgeFTRL(target="cost", center=False), STACK).policy()
    assert np.abs(plain.weights - gain.weights).max() > 0.01


def test_centering_ignores_what_all_candidates_of_a_state_share() -> None:
    shifted = [changed(e, gains=e.gains + 100.0 * e.rows.owners) for e in STACK]
    np.testing.assert_allclose(
        taught(RidgeFTRL(), STACK).policy().weights, taught(RidgeFTRL(), shifted).policy().weights, atol=1e-8
    )


def floats_held(thing: Any) -> int:
    if isinstance(thing, np.ndarray):
        return thing.size
    if isinstance(thing, dict | list | tuple):
        return sum(map(floats_held, thing.values() if isinstance(thing, dict) else thing))
    return floats_held(vars(thing)) if hasattr(thing, "__dict__") else 0


@pytest.mark.parametrize("learner", [RidgeFTRL(), GradientDescent()])
def test_no_rows_are_stored(learner: Learner) -> None:
    one = taught(clone(learner), STACK[:1])
    many = taught(clone(learner), STACK * 5)
    one.policy(), many.policy()
    assert floats_held(many) == floats_held(one) < 200


def test_the_books_of_ridge_are_its_squared_errors() -> None:
    learner, loss = RidgeFTRL(), 0.0
    policy: Any = Linear(np.zeros(3))
    for examples in STACK:
        table, target, _ = stacked([examples], center=True)
        loss += examples.weight * float(((table @ policy.weights - target) ** 2).sum())
        learner.learn(examples)
        policy = learner.policy()
    table, target, weights = stacked(STACK, center=True)
    root = np.sqrt(weights)
    best = np.linalg.lstsq(root[:, None] * table, root * target)[1]
    assert learner.surrogate_loss() == pytest.approx(loss)
    assert learner.best_surrogate_loss() == pytest.approx(float(best[0]), rel=1e-5)


def crossed_examples(seed: int) -> Examples:
    rng = np.random.default_rng(seed)
    owners, items = np.repeat(np.arange(9), 4), np.tile(np.arange(4), 9)
    crossed = Crossed(items, 4, rng.normal(size=(9, 2)).astype(np.float32))
    rows = Rows(rng.normal(size=(36, 2)).astype(np.float32), owners, np.arange(10) * 4, crossed)
    return made(rows, rng.random(36), options=rng.random(36) < 0.7)


def test_no_fixed_crossed_weights_beat_the_best_in_the_books() -> None:
    learner = RidgeFTRL()
    stack = [crossed_examples(seed) for seed in range(4)]
    for examples in stack:
        learner.learn(examples)
        policy = learner.policy()
    again = RidgeFTRL()
    again.policy_ = policy  # the last policy on all rounds, without learning in between
    for examples in stack:
        again.learn(examples)
    assert learner.best_surrogate_loss() <= again.surrogate_loss() + 1e-9
    assert learner.best_surrogate_loss() == pytest.approx(again.best_surrogate_loss())


def test_collinear_columns_are_no_trouble() -> None:
    examples = make_examples(0)
    table = np.concatenate([examples.rows.table, examples.rows.table, np.ones((len(examples.gains), 2), np.float32)], 1)
    rows = Rows(table, examples.rows.owners, examples.rows.offsets)
    learner = RidgeFTRL()
    learner.learn(changed(examples, rows=rows))
    policy = learner.policy()
    np.testing.assert_allclose(policy.weights[:3], policy.weights[3:6], atol=1e-8)
    assert np.isfinite(learner.best_surrogate_loss())


@pytest.mark.parametrize("noise", [0.1, 3.0, 30.0])
def test_the_automatic_penalty_is_the_one_that_predicts_held_out_folds_best(noise: float) -> None:
    stack = [make_examples(seed, noise=noise) for seed in range(3)]
    learner = taught(RidgeFTRL(), stack)
    policy = learner.policy()
    table, target, weights = stacked(stack, center=True)
    folds = np.concatenate([e.folds[e.rows.owners[e.used_rows[0]]] for e in stack])

    def held_out_error(penalty: float) -> float:
        total = 0.0
        for fold in range(5):
            mine = folds == fold
            line = Ridge(penalty, fit_intercept=False).fit(table[~mine], target[~mine], sample_weight=weights[~mine])
            total += float(weights[mine] @ (line.predict(table[mine]) - target[mine]) ** 2)
        return total

    assert learner.penalty_ == min(PENALTIES, key=held_out_error)
    line = Ridge(learner.penalty_, fit_intercept=False).fit(table, target, sample_weight=weights)
    np.testing.assert_allclose(policy.weights, line.coef_, rtol=0, atol=1e-8)


def test_the_automatic_penalty_grows_with_the_noise() -> None:
    chosen = []
    for noise in (0.01, 30.0):
        learner = taught(RidgeFTRL(), [make_examples(seed, noise=noise) for seed in range(3)])
        learner.policy()
        chosen.append(learner.penalty_)
    assert chosen[0] < chosen[1]


@pytest.mark.parametrize("scale", [1e-6, 1e3, 1e7, 1e12])
@pytest.mark.parametrize("penalty", [1.0, "auto"])
def test_columns_of_any_scale_that_repeat_each_other_are_no_trouble(scale: float, penalty: Any) -> None:
    learner = RidgeFTRL(penalty)
    for examples in STACK:
        table = np.concatenate([examples.rows.table * scale, examples.rows.table * scale, examples.rows.table], axis=1)
        rows = Rows(table.astype(np.float32), examples.rows.owners, examples.rows.offsets)
        learner.learn(changed(examples, rows=rows))
    policy = learner.policy()
    assert np.isfinite(policy.weights).all()
    rows = make_examples(50).rows
    table = np.concatenate([rows.table * scale, rows.table * scale, rows.table], axis=1).astype(np.float32)
    wide = Rows(table, rows.owners, rows.offsets)
    truth = rows.table @ WEIGHTS
    assert np.corrcoef(policy.score(wide), truth)[0, 1] > 0.99


def test_a_round_without_rows_keeps_the_policy() -> None:
    learner = taught(RidgeFTRL(), STACK)
    before = learner.policy().weights
    learner.learn(changed(STACK[0], learned=np.zeros_like(STACK[0].learned)))
    np.testing.assert_array_equal(learner.policy().weights, before)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (RidgeFTRL(0.0), "penalty must be above 0.*Got 0.0"),
        (RidgeFTRL(-1.0), "penalty must be above 0.*Got -1.0"),
        (RidgeFTRL(float("nan")), "penalty must be above 0.*Got nan"),
        (RidgeFTRL(target="regret"), "target must be gain or cost. Got 'regret'"),
        (GradientDescent("absolute"), "loss must be one of squared, hinge_rank. Got 'absolute'"),
        (GradientDescent(rate=0.0), "rate must be a number above 0. Got 0.0"),
        (GradientDescent(rate=float("nan")), "rate must be a number above 0. Got nan"),
        (GradientDescent(rate="fast"), "rate must be a number above 0. Got 'fast'"),
        (GradientDescent(penalty=-1.0), "penalty must be a number from 0. Got -1.0"),
        (SoftmaxLeader(-1.0), "penalty must be a number from 0. Got -1.0"),
        (SoftmaxLeader(prior=(1.0,) * 4), r"prior must be one number, or up to one per column \(3\). Got \(1.0, 1.0"),
        (Aggregate(Ridge(), target="regret"), "target must be gain or cost. Got 'regret'"),
        (Aggregate("ridge"), "estimator must be a scikit-learn estimator. Got 'ridge'"),
        (Aggregate(Ridge), "estimator must be a scikit-learn estimator. Got <class"),
    ],
)
def test_wrong_settings_are_named(learner: Learner, message: str) -> None:
    with pytest.raises(InputError, match=message):
        learner.learn(STACK[0])


# GradientDescent


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("crossed", [False, True])
def test_gradient_descent_lowers_its_loss(loss: str, crossed: bool) -> None:
    make = crossed_examples if crossed else make_examples
    held_out, learner = make(99), GradientDescent(loss)

    def worth(policy: Any) -> float:
        rows, offsets = held_out.used_rows
        return float(LOSSES[loss](policy.score(held_out.rows)[rows], held_out.costs[rows], offsets)[0].sum())

    values = []
    for seed in range(150):
        learner.learn(make(99 if crossed else seed))
        values.append(worth(learner.policy()))
    assert values[-1] < 0.9 * values[0]
    assert values[-1] < 1.02 * min(values)


def test_one_step_of_gradient_descent_by_hand() -> None:
    rows = Rows(np.array([[1.0], [3.0]], np.float32), np.zeros(2, dtype=np.int64), np.array([0, 2]))
    learner = GradientDescent(rate=0.5)
    learner.learn(made(rows, [0.0, 1.0], weight=0.5))
    # Costs 1 and 0, scores 0: slopes 2 * (0 + 1) and 0; gradient 0.5 * 2 * 1 = 1. AdaGrad's first step has the rate's
    # length, against the gradient.
    np.testing.assert_allclose(learner.policy().weights, [-0.5])
    assert learner.surrogate_loss() == pytest.approx(0.5)


def test_policies_that_were_given_out_do_not_change_later() -> None:
    learner = taught(GradientDescent(), STACK[:1])
    policy = learner.policy()
    before = policy.weights.copy()
    taught(learner, STACK[1:]).policy()
    np.testing.assert_array_equal(policy.weights, before)


def test_the_penalty_of_gradient_descent_shrinks_weights() -> None:
    sizes = []
    for penalty in (0.0, 50.0):
        learner = GradientDescent(penalty=penalty)
        for seed in range(50):
            learner.learn(make_examples(seed))
            policy = learner.policy()
        sizes.append(np.linalg.norm(policy.weights))
    assert sizes[1] < 0.8 * sizes[0]


# Aggregate


def share_of_best(policy: Any) -> float:
    """How often the best row of new states is picked."""
    e = make_examples(77, n=60)
    picks, _ = policy.pick(e.rows, np.ones(len(e.gains), dtype=bool), 0, np.random.default_rng(0))
    best = [start + e.gains[start:end].argmax() for start, end in zip(e.rows.offsets, e.rows.offsets[1:], strict=False)]
    return float(np.mean(picks == best))


ESTIMATORS = {
    "trees": HistGradientBoostingRegressor(max_iter=40, min_samples_leaf=5, random_state=0),
    "line": Ridge(),
    "neighbours, which take no weights": KNeighborsRegressor(),
    "pipeline": make_pipeline(StandardScaler(), Ridge()),
    "classifier": LogisticRegression(),
    "classifier of trees": HistGradientBoostingClassifier(max_iter=40, min_samples_leaf=5, random_state=0),
    "classifier without probabilities": RidgeClassifier(),
    "pipeline of a classifier": make_pipeline(StandardScaler(), LogisticRegression()),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("target", ["gain", "cost"])
def test_any_estimator_learns_what_gains(name: str, target: str) -> None:
    learner = Aggregate(ESTIMATORS[name], target=target)
    policy = taught(learner, [make_examples(seed) for seed in range(8)]).policy()
    assert share_of_best(policy) > 0.6
    assert not hasattr(ESTIMATORS[name], "n_features_in_")  # a clone was trained


@pytest.mark.parametrize("kind", ["LGBMRegressor", "LGBMClassifier", "LGBMRanker"])
@pytest.mark.parametrize("success_only", [False, True])
def test_boosted_trees_learn_what_gains(kind: str, success_only: bool) -> None:
    estimator = booster(kind, n_estimators=30, min_child_samples=5)
    stack = [make_examples(seed, n=40) for seed in range(6)]
    if success_only:
        stack = [changed(e, gains=(e.gains > 5.0).astype(float)) for e in stack]
    assert share_of_best(taught(Aggregate(estimator), stack).policy()) > 0.5


def test_aggregate_is_weighted_ridge_where_the_estimator_is() -> None:
    learner = taught(Aggregate(make_pipeline(StandardScaler(with_std=False), Ridge(0.4))), STACK)
    table, target, weights = stacked(STACK, center=False)
    table -= table.mean(axis=0)
    plain = Ridge(0.4).fit(table, target, sample_weight=weights)
    np.testing.assert_allclose(learner.policy().estimator[-1].coef_, plain.coef_, rtol=1e-4)


def test_a_classifier_is_asked_who_beats_the_mean_and_by_how_much() -> None:
    policy = taught(Aggregate(LogisticRegression()), STACK).policy()
    tables = np.concatenate([e.rows.table[e.used_rows[0]] for e in STACK])
    _, ahead, weights = stacked(STACK, center=True)
    several = np.abs(ahead) > 1e-9  # a candidate that is alone in its state tells nothing
    plain = LogisticRegression().fit(tables[several], ahead[several] > 0, (weights * np.abs(ahead))[several])
    np.testing.assert_allclose(policy.estimator.coef_, plain.coef_, rtol=1e-6)


def test_an_estimator_that_cannot_tell_is_asked_for_nothing() -> None:
    nothing = changed(STACK[0], learned=np.zeros_like(STACK[0].learned))
    assert isinstance(taught(Aggregate(Ridge()), [nothing]).policy(), Uniform)
    single = lw.Problems.from_arrays(np.ones((1, 1, 2)), reward=lw.rewards.AnySuccess([[1.0]]))
    model = lw.SCP(1, learner=HistGradientBoostingRegressor(), n_passes=1, random_state=0).fit(single)
    assert isinstance(model.policy_, Uniform)  # some estimators need two rows
    equal = changed(STACK[0], gains=np.full(len(STACK[0].gains), 0.1))
    assert isinstance(taught(Aggregate(LogisticRegression()), [equal]).policy(), Uniform)


def test_estimators_see_crossed_columns_as_flags() -> None:
    learner = taught(Aggregate(Ridge()), [crossed_examples(0)])
    assert learner.policy().estimator.n_features_in_ == 2 + 2 + 4


# PerPosition


def test_every_position_has_its_own_learner() -> None:
    learner = PerPosition(RidgeFTRL())
    for position, examples in enumerate(STACK[:3]):
        learner.learn(changed(examples, position=position))
    policy = learner.policy()
    assert isinstance(policy, Sequence)
    for position, examples in enumerate(STACK[:3]):
        alone = RidgeFTRL()
        alone.learn(examples)
        np.testing.assert_array_equal(policy.policies[position].weights, alone.policy().weights)
    e, every, rng = STACK[3], np.ones(len(STACK[3].gains), dtype=bool), np.random.default_rng(0)
    np.testing.assert_array_equal(
        policy.pick(e.rows, every, 2, rng)[0], policy.pick(e.rows, every, 9, rng)[0]
    )  # behind the end, the last one goes on
    assert not hasattr(learner.learner, "sums_")


# By name


@pytest.mark.parametrize("name", KNOWN)
def test_every_known_name_is_a_learner(name: str) -> None:
    assert isinstance(as_learner(name), Learner)


def test_a_learner_is_cloned_and_an_estimator_wrapped() -> None:
    mine = RidgeFTRL(3.0)
    theirs = as_learner(mine)
    assert theirs is not mine
    assert theirs.penalty == 3.0
    assert isinstance(as_learner(DummyRegressor()), Aggregate)


@pytest.mark.parametrize("wrong", ["rigde", None, 3, RidgeFTRL])
def test_an_unknown_learner_lists_the_known_ones(wrong: object) -> None:
    with pytest.raises(InputError, match=", ".join(KNOWN)):
        as_learner(wrong)


def test_the_policy_of_a_classifier_scores_by_its_margin_or_probability() -> None:
    e = STACK[0]
    success = e.gains > np.median(e.gains)
    logistic = LogisticRegression().fit(e.rows.table, success)
    np.testing.assert_allclose(Estimator(logistic).score(e.rows), logistic.predict_proba(e.rows.table)[:, 1])
    margin = RidgeClassifier().fit(e.rows.table, success)
    np.testing.assert_allclose(Estimator(margin).score(e.rows), margin.decision_function(e.rows.table))
    assert len(np.unique(Estimator(margin).score(e.rows))) > 2


def test_learning_a_whole_model_by_boosted_trees_gives_no_warnings() -> None:
    rng = np.random.default_rng(0)
    x = rng.random((60, 8, 2))
    works = x[..., 0] + 0.4 * rng.random((60, 8)) > 0.95
    problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(works), catalogue=np.arange(8))
    learner = booster("LGBMRegressor", n_estimators=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = lw.SCP(2, learner=learner, n_passes=2, random_state=0).fit(problems)
        assert model.score(problems) > 0.7
