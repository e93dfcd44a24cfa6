"""Parts that users write, and problems of unusual shapes."""

from __future__ import annotations

import pickle  # noqa: TID251  (a byte for byte picture of the fitted state)
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

import listwright as lw
from listwright.features import Candidate, Features
from listwright.learners import Learner
from listwright.learners.examples import Examples
from listwright.policies import Linear, Policy
from tests.estimators.models import ALL, BOTH
from tests.problem_tools import problems_of_kinds, recurring_problems, sized_problems, unfitted

# One's own objects


class Kinds(Features):
    """One's own feature: how many items of the candidate's kind the list holds."""

    group = "kinds"

    def start(self, problems: lw.Problems) -> Any:
        return problems, np.zeros((len(problems), 3), dtype=np.float32)

    def columns(self, seen: Any) -> Any:
        problems, held = seen
        kind = problems.features[:, :3].argmax(axis=1)
        return held[problems.owners, kind][:, None]

    def add(self, seen: Any, picks: Any) -> Any:
        problems, held = seen
        some, held = np.flatnonzero(picks >= 0), held.copy()
        held[some, problems.features[picks[some], :3].argmax(axis=1)] += 1
        return problems, held

    def names(self) -> list[str]:
        return ["items of the same kind"]

    def problems_of(self, seen: Any) -> lw.Problems:
        return seen[0]


class Perceptron(Learner):
    """One's own learner: adds up the best rows less the picked ones."""

    def __init__(self, rate: float = 1.0) -> None:
        self.rate = rate

    def learn(self, examples: Examples) -> None:
        table = examples.rows.table.astype(np.float64)
        if not hasattr(self, "weights_"):
            self.weights_ = np.zeros(table.shape[1])
        cheap = examples.row_mask & (examples.costs == 0)
        self.weights_ = self.weights_ + self.rate * (table[cheap].mean(axis=0) - table[examples.row_mask].mean(axis=0))

    def policy(self) -> Policy:
        return Linear(self.weights_)


def share_new(problem: lw.Problems, items: list[int]) -> float:
    """One's own reward: how many kinds there are among the items."""
    return len({int(problem.features[item, :3].argmax()) for item in items}) / 3


def test_own_reward_feature_and_learner_are_used_and_never_changed() -> None:
    problems = problems_of_kinds(40, reward=lw.rewards.Function(share_new))
    features, learner = Candidate() + Kinds(), Perceptron(0.5)
    before = pickle.dumps((features, learner))
    model = lw.SCP(3, features=features, learner=learner, random_state=0).fit(problems)
    model.partial_fit(problems)
    assert pickle.dumps((features, learner)) == before
    assert model.training_.learner is not learner
    assert model.score(problems) > 0.9
    lw.checks.check_features(Kinds(), problems)


@pytest.mark.parametrize("cls", BOTH)
def test_problems_are_never_changed(cls: type) -> None:
    problems = sized_problems(catalogue=np.arange(8), context=np.random.default_rng(0).random((60, 2)))
    arrays = [problems.features, problems.offsets, problems.context, problems.catalogue, problems.sizes]
    before = [array.tobytes() for array in arrays]
    unfitted(cls, budget=8).fit(problems).partial_fit(problems).predict(problems)
    assert [array.tobytes() for array in arrays] == before


def test_read_only_arrays_are_fine() -> None:
    x = np.random.default_rng(0).random((30, 6, 2)).astype(np.float32)
    x.flags.writeable = False
    success = x[..., 0] > 0.7
    success.flags.writeable = False
    problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(success), vectors=x, catalogue=np.arange(6))
    assert lw.SCP(2, effort="fast").fit(problems).score(problems) > 0.8


# Odd problems


@pytest.mark.parametrize("cls", BOTH)
def test_float32_float64_integers_and_csr_give_the_same_lists(cls: type) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-4, 5, size=(40, 6, 3))
    reward = lw.rewards.AnySuccess(x[..., 0] + x[..., 1] > 4)
    as_csr = sparse.csr_array(x.reshape(-1, 3).astype(float))
    kinds = [x.astype(np.float32), x.astype(np.float64), x, np.asfortranarray(x.astype(float)), x.tolist()]
    given = [lw.Problems.from_arrays(one, reward=reward) for one in kinds]
    given.append(lw.Problems.from_arrays(as_csr, offsets=np.arange(41) * 6, reward=reward))
    lists = [unfitted(cls, 3).fit(problems).predict(problems).rows for problems in given]
    for other in lists[1:]:
        np.testing.assert_array_equal(other, lists[0])


@pytest.mark.parametrize("cls", ALL)
def test_context_only_problems_with_a_catalogue(cls: type) -> None:
    rng = np.random.default_rng(0)
    context = rng.normal(size=(300, 2))
    best = (context[:, :1] > 0).astype(int) * 2 + (context[:, 1:] > 0)  # which of four items succeeds
    reward = lw.rewards.AnySuccess(np.arange(4) == best)
    problems = lw.Problems.from_arrays(np.zeros((300, 4, 0)), context=context, catalogue=np.arange(4), reward=reward)
    model = unfitted(cls, 1, random_state=0).fit(problems[:200])
    value = model.score(problems[200:])
    assert value > (0.1 if cls is lw.ContextFreeSCP else 0.85)


@pytest.mark.parametrize("keep", ["last", "best", "mixture"])
@pytest.mark.parametrize("cls", ALL)
def test_one_problem_is_enough_to_fit(cls: type, keep: str) -> None:
    problem = recurring_problems(1, seed=3)
    model = unfitted(cls, 2, keep=keep, random_state=0).fit(problem)
    assert len(model.predict(problem)[0]) == 2
    assert len(model.predict(recurring_problems(5))) == 5


@pytest.mark.parametrize("cls", ALL)
def test_single_candidates_leave_no_choice(cls: type) -> None:
    problems = lw.Problems.from_arrays(np.zeros((5, 1, 2)), reward=lw.rewards.AnySuccess(np.ones((5, 1))))
    model = unfitted(cls, 1).fit(problems)
    assert [items.tolist() for items in model.predict(problems)] == [[0]] * 5
    assert model.score(problems) == 1


@pytest.mark.parametrize("success", [0.0, 1.0], ids=["nothing can be gained", "everything succeeds"])
@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("keep", ["last", "best"])
def test_problems_that_teach_nothing(cls: type, success: float, keep: str) -> None:
    problems = recurring_problems(20, reward=lw.rewards.AnySuccess(np.full((20, 8), success)))
    model = unfitted(cls, 3, keep=keep, random_state=0).fit(problems)
    assert model.score(problems) == success
    assert (model.predict(problems).lengths == 3).all()
    assert all(np.isfinite(scores).all() for scores in model.predict(problems).scores)


@pytest.mark.parametrize("learner", ["gradient", "hinge_rank", Ridge()])
def test_other_learners_do_not_mind_problems_that_teach_nothing(learner: Any) -> None:
    problems = problems_of_kinds(20, reward=lw.rewards.AnySuccess(np.zeros((20, 8))))
    for model in (lw.SCP(2, learner=learner), lw.SCP(2, learner=learner, skip_saturated=False)):
        assert (model.fit(problems).predict(problems).lengths == 2).all()


def test_constant_features_leave_the_order_given() -> None:
    problems = lw.Problems.from_arrays(np.ones((10, 5, 2)), reward=lw.rewards.AnySuccess(np.eye(5)[[4] * 10]))
    lists = lw.SCP(3, effort="fast").fit(problems).predict(problems)
    assert lists.rows[0].tolist() == [0, 1, 2]  # ties go to the lowest row


def test_problems_of_different_sizes() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(2, 15, size=50)
    features = rng.random((counts.sum(), 2))
    reward = lw.rewards.AnySuccess(features[:, 0] > 0.8)
    problems = lw.Problems.from_arrays(features, offsets=np.concatenate([[0], np.cumsum(counts)]), reward=reward)
    lists = lw.SCP(5, allow_short=True, effort="fast").fit(problems).predict(problems)
    np.testing.assert_array_equal(lists.lengths, np.minimum(counts, 5))
