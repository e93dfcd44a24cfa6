"""Training problems are seen through what was learned without them."""

from __future__ import annotations

import numpy as np
import pytest

import listwright as lw
from listwright._internal.arrays import FOLDS, folds_of
from listwright.features.base import CrossFitted
from listwright.features.expected_gain import GivenFailure, PredictedTopics
from tests.problem_tools import small_problems


@pytest.mark.parametrize("kind", [GivenFailure, PredictedTopics])
def test_what_is_said_of_a_training_problem_does_not_depend_on_its_own_reward(kind: type[CrossFitted]) -> None:
    problems = small_problems(30, above=0.6, catalogue=np.arange(6))
    success = problems.features[:, 0].reshape(30, 6) > 0.6
    success[7] = ~success[7]
    said = [
        learned(kind(["ridge"]).fit(one), one)
        for one in (problems, problems.with_reward(lw.rewards.AnySuccess(success)))
    ]
    fold = folds_of(problems.problem_ids)
    np.testing.assert_array_equal(said[0][7], said[1][7])
    others = said[0][fold != fold[7]] != said[1][fold != fold[7]]
    assert others.any()  # which may learn from it


def learned(feature: CrossFitted, problems: lw.Problems) -> np.ndarray:
    """(problems, items): what the twin for training takes each item to bring."""
    seen = feature.for_training(problems).start(problems)
    found = seen.left["ridge"] if isinstance(feature, GivenFailure) else seen.alone
    return np.asarray(found).reshape(len(problems), -1)


def test_folds_are_those_of_the_names() -> None:
    problems = small_problems(40)
    folds = list(GivenFailure(["ridge"]).folds(problems))
    assert [fold.number for fold in folds] == list(range(FOLDS))
    assert (sum(fold.held.astype(int) for fold in folds) == 1).all()
    assert all((fold.rest == ~fold.held).all() for fold in folds)
    some = folds_of(problems.problem_ids[10:])
    assert (some == folds_of(problems.problem_ids)[10:]).all()


def test_a_single_problem_teaches_itself() -> None:
    (fold,) = GivenFailure(["ridge"]).folds(small_problems(1))
    assert fold.held.all()
    assert fold.rest.all()
