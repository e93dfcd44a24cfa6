"""SCP, ConSeqOpt and the context-free form: what they learn and predict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import listwright as lw
from listwright.errors import DataWarning
from listwright.features import Candidate
from listwright.learners import RidgeFTRL
from listwright.learners.examples import Examples, position_weights
from tests.estimators.models import ALL, BOTH, state_of
from tests.problem_tools import problems_of_kinds, recurring_problems, sized_problems, unfitted

# Learning


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("learner", ["ridge", "gradient", "hinge_rank", Ridge()])
def test_lists_are_relevant_and_not_redundant(cls: type, learner: Any) -> None:
    train, test = problems_of_kinds(200), problems_of_kinds(200, seed=1)
    model = unfitted(cls, 3, learner=learner, random_state=0, n_passes=30 if learner == "gradient" else 4).fit(train)
    lists = model.predict(test)
    kinds = test.features[lists.rows][..., :3].argmax(axis=2)
    assert np.mean([len(set(row)) for row in kinds]) > 2.5
    best_first = test.features[lists.rows[:, 0], 3].mean()
    assert best_first > 0.75
    assert model.score(test) > 0.9 * lw.greedy(test, length=3).values.mean()


def test_one_policy_is_better_than_many_where_data_are_few() -> None:
    test = problems_of_kinds(300, seed=99)
    values = {
        cls: np.mean([cls(5, random_state=0).fit(problems_of_kinds(12, seed=seed)).score(test) for seed in range(8)])
        for cls in BOTH
    }
    assert values[lw.SCP] > values[lw.ConSeqOpt]


@pytest.mark.parametrize("weighting", ["discounted", "min_sum", "uniform"])
def test_examples_carry_the_weight_of_their_position(weighting: str) -> None:
    model = lw.SCP(4, comparator_length=3, weighting=weighting, learner=Recorder(), n_passes=1, batch_size=1).fit(
        problems_of_kinds(5)
    )
    weights = [examples.weight for examples in model.training_.learner.seen_]
    assert weights == position_weights(4, 3, weighting=weighting).tolist() * 5


class Recorder(RidgeFTRL):
    """Keeps the examples too."""

    def learn(self, examples: Examples) -> None:
        self.seen_ = [*getattr(self, "seen_", []), examples]
        super().learn(examples)


def test_position_weights() -> None:
    np.testing.assert_allclose(position_weights(4, 2), [0.125, 0.25, 0.5, 1.0])
    np.testing.assert_allclose(position_weights(3, 1), [0, 0, 1])
    np.testing.assert_allclose(position_weights(3), [4 / 9, 2 / 3, 1])
    np.testing.assert_allclose(position_weights(3, weighting="min_sum"), [3, 2, 1])
    np.testing.assert_allclose(position_weights(3, weighting="uniform"), [1, 1, 1])


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(("length", "comparator_length"), [(2, 5), (5, 2), (1, 1), (3, 1), (1, 4)])
def test_the_length_may_differ_from_the_rivals(cls: type, length: int, comparator_length: int) -> None:
    problems = recurring_problems()
    model = unfitted(cls, length, comparator_length=comparator_length, random_state=0).fit(problems)
    assert (model.predict(problems).lengths == length).all()
    assert 0 <= model.score(problems) <= 1
    certificate = model.online_certificate()
    assert (certificate.length, certificate.comparator_length) == (length, comparator_length)


def test_the_number_of_rounds_is_that_of_states_visited() -> None:
    assert lw.SCP(2, n_passes=3, effort="fast").fit(problems_of_kinds(20)).n_rounds_ == 60
    validated = lw.SCP(2, n_passes=3, keep="best", effort="fast").fit(problems_of_kinds(20))
    assert validated.n_rounds_ == 3 * 16  # a fifth is held out


def test_the_order_of_the_problems_hardly_matters_with_one_batch() -> None:
    problems = problems_of_kinds()
    order = np.random.default_rng(0).permutation(len(problems))
    one, other = (lw.SCP(3, batch_size=60, n_passes=3).fit(given) for given in (problems, problems[order]))
    np.testing.assert_allclose(one.policy_.weights, other.policy_.weights, rtol=0, atol=1e-8)


# Predicting


@pytest.mark.parametrize("cls", ALL)
def test_other_lengths_and_budgets_than_trained(cls: type) -> None:
    problems = sized_problems(catalogue=np.arange(8))
    model = unfitted(cls, 3, random_state=0).fit(problems)
    for length in (1, 2, 5, 8):
        assert (model.predict(problems, length=length).lengths == length).all()
    lists = model.predict(problems, budget=6.5)
    assert max(problems.sizes[rows[rows >= 0]].sum() for rows in lists.rows) <= 6.5
    both = model.predict(problems, length=2, budget=6.5)
    assert both.lengths.max() == 2
    by_problem = np.random.default_rng(0).uniform(1, 9, size=len(problems))
    lists = model.predict(problems, budget=by_problem)
    spent = [problems.sizes[rows[rows >= 0]].sum() for rows in lists.rows]
    assert (np.array(spent) <= by_problem).all()


@pytest.mark.parametrize("cls", BOTH)
def test_a_shorter_list_is_the_beginning_of_a_longer_one(cls: type) -> None:
    problems = problems_of_kinds()
    model = unfitted(cls, 3).fit(problems)
    long, short = model.predict(problems, length=6), model.predict(problems, length=2)
    np.testing.assert_array_equal(long.rows[:, :2], short.rows)


@pytest.mark.parametrize("cls", ALL)
def test_predict_never_sees_the_reward(cls: type) -> None:
    train, test = recurring_problems(), recurring_problems(seed=1)
    model = unfitted(cls, 3, random_state=0).fit(train)
    blind, seeing = model.predict(test.without_reward()), model.predict(test)
    assert blind == seeing
    assert seeing.problems.reward is None
    reversed_reward = test.with_reward(lw.rewards.AnySuccess(1 - test.reward.gains(test.reward.start(test))))
    assert model.predict(reversed_reward) == seeing


@pytest.mark.parametrize("cls", BOTH)
def test_a_problem_gets_the_same_list_alone_as_in_a_batch(cls: type) -> None:
    rng = np.random.default_rng(0)
    problems = recurring_problems(context=rng.random((60, 3)))
    model = unfitted(cls, 4).fit(problems)
    together = model.predict(problems)
    for i in range(0, 60, 7):
        alone = model.predict(problems[i])
        np.testing.assert_array_equal(alone[0], together[i])
        np.testing.assert_array_equal(alone.picked_scores[0], together.picked_scores[i])


def test_scores_of_picks_are_the_policys() -> None:
    problems = problems_of_kinds()
    model = lw.SCP(2, features=Candidate()).fit(problems)
    lists = model.predict(problems)
    seen = model.training_.features.start(problems)
    scores = model.policy_.score(model.training_.features.rows(seen))
    np.testing.assert_allclose(lists.picked_scores, scores[lists.rows], rtol=1e-6, atol=1e-8)
    assert (lists.picked_scores[:, 0] >= lists.picked_scores[:, 1]).all()


def test_the_score_is_the_mean_value_of_the_lists() -> None:
    problems = problems_of_kinds()
    model = lw.SCP(2, effort="fast").fit(problems)
    reward, state = problems.reward, problems.reward.start(problems)
    for picks in model.predict(problems).rows.T:
        state = reward.add(state, picks)
    assert model.score(problems) == pytest.approx(reward.value(state).mean())


# Budgets and sizes


@pytest.mark.parametrize("cls", BOTH)
def test_lists_within_a_budget_skip_what_does_not_fit(cls: type) -> None:
    problems = sized_problems()
    model = unfitted(cls, budget=9, random_state=0).fit(problems)
    lists = model.predict(problems)
    for i, rows in enumerate(lists.rows):
        taken = rows[rows >= 0]
        left = 9 - problems.sizes[taken].sum()
        mine = np.arange(problems.offsets[i], problems.offsets[i + 1])
        assert left >= 0
        assert (problems.sizes[np.setdiff1d(mine, taken)] > left).all()  # nothing more would fit
        assert len(set(taken)) == len(taken)
    assert model.score(problems) > 0.75 * lw.greedy(problems, budget=9).values.mean()


def test_gains_per_size_are_learned_under_a_budget_and_can_be_turned_off() -> None:
    problems = sized_problems()

    def first_gains(**given: Any) -> np.ndarray:
        model = lw.SCP(3, learner=Recorder(), n_passes=1, batch_size=60, **given).fit(problems)
        return model.training_.learner.seen_[0].gains

    plain = problems.reward.gains(problems.reward.start(problems))
    np.testing.assert_allclose(first_gains(), plain)
    np.testing.assert_allclose(first_gains(budget=9), plain / problems.sizes)
    np.testing.assert_allclose(first_gains(budget=9, per_size=False), plain)
    np.testing.assert_allclose(first_gains(per_size=True), plain / problems.sizes)


def test_the_end_of_a_budget_goes_to_what_gains_most_in_all() -> None:
    leads = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        sizes, quality = rng.choice([1, 2, 3, 5, 8, 10], (300, 20)) + rng.random((300, 20)) / 2, rng.random((300, 20))
        gains = quality * np.sqrt(sizes)
        table = np.stack([quality, sizes, gains, gains / sizes], axis=-1)
        reward = lw.rewards.Total(gains / gains.sum(axis=1, keepdims=True))
        problems = lw.Problems.from_arrays(table, sizes=sizes, reward=reward)
        model = lw.SCP(budget=10, effort="fast", per_size=True, random_state=0).fit(problems[:150])
        value, model.training_.last_by_gain = model.score(problems[150:]), False
        leads.append(value - model.score(problems[150:]))
    assert min(leads) > 0, leads
    softmax = lw.SCP(budget=10, effort="fast", per_size=True, learner="softmax", random_state=0).fit(problems[:50])
    assert not softmax.training_.last_by_gain  # its scores are no gains


def test_per_size_prefers_small_items() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 9, size=(80, 10)).astype(float)
    features = np.stack([sizes, rng.random((80, 10))], axis=2)
    reward = lw.rewards.Coverage(rng.random((80, 10, 12)) < 0.3)
    problems = lw.Problems.from_arrays(features, sizes=sizes, reward=reward)
    dense, plain = (lw.SCP(budget=12, per_size=per_size, effort="fast").fit(problems) for per_size in (True, False))
    assert dense.predict(problems).lengths.mean() > plain.predict(problems).lengths.mean() + 0.5
    assert dense.score(problems) > plain.score(problems)


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("learner", ["ridge", "gradient", Ridge()])
def test_a_budget_that_nothing_fits_gives_empty_lists(cls: type, learner: Any) -> None:
    problems = sized_problems()
    model = unfitted(cls, budget=0.5, learner=learner).fit(problems)
    assert (model.predict(problems).lengths == 0).all()
    assert model.score(problems) == 0
    assert model.predict(problems, length=2).lengths.tolist() == [2] * 60


def test_a_batch_that_nothing_fits_is_passed_over() -> None:
    sizes = np.ones((40, 8))
    sizes[:10] = 100.0
    problems = problems_of_kinds(40, sizes=sizes)
    assert lw.SCP(budget=3, batch_size=10, n_passes=1).fit(problems).score(problems[10:]) > 0.6


# Repeats


def test_repeats_are_allowed_when_asked_for() -> None:
    problems = problems_of_kinds(items=3)
    with pytest.warns(DataWarning, match="nothing to choose"):
        once = lw.SCP(3, features=Candidate()).fit(problems).predict(problems)
    assert all(len(set(items)) == 3 for items in once)
    model = lw.SCP(5, features=Candidate(), repeats=True).fit(problems)  # more positions than items
    assert all(len(set(items)) == 1 for items in model.predict(problems))  # what is best stays best


# The same seed


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("keep", ["last", "best", "mixture"])
def test_the_same_seed_gives_the_same_model(cls: type, keep: str) -> None:
    problems = recurring_problems()
    models = [unfitted(cls, 2, keep=keep, random_state=3).fit(problems) for _ in range(2)]
    assert state_of(models[0]) == state_of(models[1])
    assert models[0].predict(problems) == models[1].predict(problems)


def test_a_generator_can_be_passed() -> None:
    problems = recurring_problems()
    one = lw.SCP(2, effort="fast", random_state=np.random.default_rng(3)).fit(problems)
    other = lw.SCP(2, effort="fast", random_state=3).fit(problems)
    np.testing.assert_array_equal(one.policy_.weights, other.policy_.weights)
