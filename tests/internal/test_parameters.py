"""The protocol of scikit-learn's estimators holds without its base class."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

import listwright as lw
from listwright._internal.parameters import Parameters, check_fitted, is_sklearn_estimator
from listwright.learners import Boosting


class Shrunk(Parameters):
    """Two parameters, one of which may be an estimator."""

    def __init__(self, strength: float = 1.0, *, base: Any = None) -> None:
        self.strength = strength
        self.base = base


def problems() -> lw.Problems:
    x = np.random.default_rng(0).random((30, 5, 2))
    return lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.7))


def test_parameters_go_in_and_out_at_any_depth() -> None:
    model = Shrunk(base=Ridge(alpha=2.0))
    assert model.get_params(deep=False) == {"base": model.base, "strength": 1.0}
    assert model.get_params()["base__alpha"] == 2.0
    assert model.set_params(base__alpha=3.0, strength=0.5) is model
    assert (model.base.alpha, model.strength) == (3.0, 0.5)


def test_an_unknown_parameter_is_named() -> None:
    with pytest.raises(ValueError, match=r"Invalid parameter 'weight' for Shrunk. Its parameters are base, strength."):
        Shrunk().set_params(weight=1.0)


def test_a_parameter_replaced_and_set_at_once_is_set_on_the_new_one() -> None:
    model = Shrunk(base=Ridge()).set_params(base=Ridge(), base__alpha=7.0)
    assert model.base.alpha == 7.0


def test_reprs_show_what_differs_from_the_defaults() -> None:
    assert repr(Shrunk()) == "Shrunk()"
    assert repr(Shrunk(2.0, base=Shrunk(0.5))) == "Shrunk(base=Shrunk(strength=0.5), strength=2.0)"
    assert len(repr(Shrunk(base=list(range(10_000))))) < 300


def test_scikit_learn_clones_searches_and_chains() -> None:
    model = lw.SCP(length=2, learner=lw.learners.RidgeFTRL(), effort="fast", random_state=0)
    assert repr(clone(model)) == repr(model)
    assert clone(model).learner is not model.learner
    search = GridSearchCV(model, {"n_passes": [1, 2]}, cv=2).fit(problems())
    assert search.best_params_["n_passes"] in (1, 2)
    assert Pipeline([("scp", model)]).fit(problems()).predict(problems()).rows.shape == (30, 2)
    assert not get_tags(model).input_tags.two_d_array
    assert is_regressor(Boosting())


def test_notebooks_show_a_diagram() -> None:
    assert "SCP" in lw.SCP()._repr_html_()
    assert "<div" in lw.SCP()._repr_html_()


def test_copies_for_other_processes_keep_everything() -> None:
    model = lw.SCP(length=2, effort="fast", random_state=0).fit(problems())
    assert copy.deepcopy(model).predict(problems()) == model.predict(problems())


def test_models_that_are_not_fitted_say_so_as_scikit_learn_does() -> None:
    with pytest.raises(NotFittedError, match="SCP instance is not fitted yet"):
        check_fitted(lw.SCP())


def test_only_estimators_of_scikit_learn_are_its_own() -> None:
    assert is_sklearn_estimator(Ridge())
    assert not is_sklearn_estimator(lw.SCP())


def test_the_other_tools_of_scikit_learn_take_models_too() -> None:
    model, given = lw.SCP(length=2, effort="fast", n_passes=1, random_state=0), problems()
    search = RandomizedSearchCV(Pipeline([("scp", model)]), {"scp__length": [1, 2]}, n_iter=2, cv=2, random_state=0)
    assert search.fit(given).score(given) == max(
        clone(model).set_params(length=n).fit(given).score(given) for n in (1, 2)
    )
    found = cross_validate(model, given, cv=2, return_estimator=True, return_train_score=True)
    check_is_fitted(found["estimator"][0], ["policy_", "n_features_in_"])
    with config_context(enable_metadata_routing=True):
        assert cross_val_score(model, given, cv=2).tolist() == found["test_score"].tolist()
        with pytest.raises(TypeError, match="not routed"):
            Pipeline([("scp", model)]).fit(given, certify=0.2)
    with pytest.raises(ValueError, match="fit takes no y"):
        cross_val_score(model, given, np.zeros(30), cv=2, error_score="raise")
