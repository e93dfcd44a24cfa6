"""scikit-learn's manners: those of its checks that do not pass arrays, and what the others ask, asked of problems."""

from __future__ import annotations

import copy
import inspect
import pickle  # noqa: TID251  (joblib and friends pickle models between processes)
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.utils import estimator_checks

import listwright as lw
from listwright.baselines import TopK
from listwright.errors import InputError
from listwright.learners import GradientDescent, RidgeFTRL
from tests.problem_tools import small_problems, unfitted

CHECKS = [
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]
CLASSES = [lw.SCP, lw.ConSeqOpt, lw.ContextFreeSCP]
OTHERS = [
    lw.features.Candidate(),
    lw.features.Distance(),
    lw.features.Identity(("list",)),
    lw.features.Position(),
    lw.features.Volume(),
    RidgeFTRL(2.0),
    GradientDescent("hinge_rank"),
    lw.learners.WeightedMajority(),
]


def make_problems(n: int = 40, seed: int = 0) -> lw.Problems:
    return small_problems(n, 6, 2, seed=seed, catalogue=np.arange(6))


def named(estimator: Any) -> str:
    return type(estimator).__name__


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("estimator", [cls() for cls in CLASSES] + OTHERS, ids=named)
def test_scikit_learns_own_checks(estimator: Any, check: str) -> None:
    if not hasattr(estimator_checks, check):
        pytest.skip(f"this scikit-learn has no {check}")
    getattr(estimator_checks, check)(named(estimator), clone(estimator))


@pytest.mark.parametrize("cls", CLASSES)
def test_scikit_learn_knows_that_its_checks_on_arrays_do_not_apply(cls: type) -> None:
    with pytest.warns(SkipTestWarning, match="Can't test estimator"):
        estimator_checks.check_estimator(cls())


@pytest.mark.parametrize("cls", CLASSES)
def test_constructors_take_anything_and_only_assign(cls: type) -> None:
    for name in inspect.signature(cls).parameters:
        for junk in (-1.0, object(), "junk", np.zeros(3), None):
            assert getattr(cls(**{name: junk}), name) is junk


@pytest.mark.parametrize("cls", CLASSES)
def test_fit_returns_the_estimator_and_changes_no_parameter(cls: type) -> None:
    model = unfitted(cls, 2, random_state=0)
    before = copy.deepcopy(model.get_params())
    assert model.fit(make_problems()) is model
    assert model.partial_fit(make_problems()) is model
    assert model.get_params() == before


@pytest.mark.parametrize("cls", CLASSES)
def test_what_fit_learns_ends_in_an_underscore(cls: type) -> None:
    model = unfitted(cls, 2, random_state=0)
    before = set(vars(model))
    model.fit(make_problems())
    added = set(vars(model)) - before
    assert added
    assert all(name.endswith("_") and not name.startswith("_") for name in added)
    assert model.n_features_in_ == 2


@pytest.mark.parametrize("cls", CLASSES)
def test_a_model_that_is_not_fitted_says_so(cls: type) -> None:
    for use in ("predict", "score", "certify", "online_certificate"):
        with pytest.raises(NotFittedError, match=f"This {cls.__name__} instance is not fitted yet"):
            getattr(unfitted(cls, 2), use)(*([] if use == "online_certificate" else [make_problems()]))
    assert not hasattr(unfitted(cls, 2), "n_rounds_")


@pytest.mark.parametrize("cls", CLASSES)
def test_a_clone_has_the_parameters_and_nothing_that_was_learned(cls: type) -> None:
    model = unfitted(cls, 3, comparator_length=2, random_state=5).fit(make_problems())
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        twin.predict(make_problems())


@pytest.mark.parametrize("cls", CLASSES)
def test_fitting_again_forgets_and_gives_the_same(cls: type) -> None:
    problems = make_problems()
    once = unfitted(cls, 2, random_state=0).fit(problems)
    twice = unfitted(cls, 2, random_state=0).fit(make_problems(seed=9)).fit(problems)
    assert once.predict(problems) == twice.predict(problems)
    assert once.n_rounds_ == twice.n_rounds_


@pytest.mark.parametrize("cls", CLASSES)
def test_predicting_changes_nothing(cls: type) -> None:
    problems = make_problems()
    model = unfitted(cls, 2, random_state=0).fit(problems)
    before = pickle.dumps(model)
    first = model.predict(problems)
    model.score(problems)
    assert model.predict(problems) == first
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("cls", CLASSES)
def test_a_copy_predicts_the_same(cls: type) -> None:
    problems = make_problems()
    model = unfitted(cls, 2, random_state=0).fit(problems)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert twin.predict(problems) == model.predict(problems)


@pytest.mark.parametrize("cls", CLASSES)
def test_arrays_are_refused_with_the_way_out(cls: type) -> None:
    x = np.zeros((4, 3, 2))
    with pytest.raises(ValueError, match=r"Pass listwright.Problems or a frame, not ndarray. See Problems.from_arrays"):
        unfitted(cls, 2).fit(x)
    model = unfitted(cls, 2).fit(make_problems())
    with pytest.raises(ValueError, match=r"Pass listwright.Problems or a frame, not ndarray"):
        model.predict(x)


def test_nested_parameters_can_be_set() -> None:
    model = lw.SCP(learner=RidgeFTRL(1.0), features=lw.features.Volume())
    model.set_params(learner__penalty=7.0, features__relative=True)
    assert model.learner.penalty == 7.0
    assert model.features.relative
    assert model.get_params()["learner__penalty"] == 7.0
    with pytest.raises(ValueError, match="Invalid parameter 'lenght'"):
        model.set_params(lenght=3)


def test_rows_that_were_split_at_random_are_told_of_whole_problems_first() -> None:
    table = pd.DataFrame(lw.simulate.readers.table(60, random_state=1))
    folds = KFold(3, shuffle=True, random_state=0)
    options: dict[str, Any] = {"cv": folds, "params": {"reward": "any:clicked"}, "error_score": "raise"}
    with pytest.raises(InputError, match=r"length=3\. If the rows .* by GroupKFold, or by .* Pass allow_short=True"):
        cross_val_score(lw.SCP(3, effort="fast"), table, **options)


@pytest.mark.parametrize("model", [lw.SCP(2, effort="fast", random_state=0), TopK(length=2)], ids=["SCP", "TopK"])
def test_searches_and_splits_of_scikit_learn_take_problems(model: Any) -> None:
    problems = make_problems()
    folds = KFold(3)
    parts = [clone(model).fit(problems[train]).score(problems[test]) for train, test in folds.split(problems)]
    assert cross_val_score(model, problems, cv=folds).tolist() == parts
    search = GridSearchCV(model, {"length": [1, 2]}, cv=folds).fit(problems)
    best = clone(model).set_params(**search.best_params_).fit(problems)
    assert search.score(problems) == best.score(problems)
    assert search.predict(problems) == best.predict(problems)
