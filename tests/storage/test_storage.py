"""Models come back from files as they were; and files that are damaged, or made to harm, are refused."""

from __future__ import annotations

import inspect as python_inspect
import os
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import listwright as lw
from listwright import features, learners, policies
from listwright._internal.saved import CLASSES
from listwright.errors import InputError
from listwright.estimators.stacking import PolicyScore
from listwright.loading import load
from listwright.storage import inspect, save
from listwright.storage.boosters import as_booster
from listwright.tables import read_with_columns
from tests.booster_tools import booster, library
from tests.problem_tools import small_problems

PLAIN = {"n_passes": 1, "batch_size": 20}


def made(*, full: bool = True, n: int = 40) -> lw.Problems:
    """Problems with, or without, all kinds of data."""
    if not full:
        return small_problems(n, above=0.7)
    rng = np.random.default_rng(1)
    return small_problems(
        n,
        above=0.7,
        context=rng.random((n, 2)),
        catalogue=np.arange(6),
        sizes=rng.random((n, 6)) + 0.5,
        vectors=rng.random((n, 6, 4)),
        feature_names=["a", "b", "c"],
    )


EXPERTS = [policies.Linear(np.array([1.0, 0.0, 0.0])), policies.Linear(np.array([0.0, 1.0, 0.0]))]
MODELS: dict[str, Callable[[], Any]] = {
    "ridge": lambda: lw.SCP(3, effort="fast"),
    "generator": lambda: lw.SCP(3, effort="fast", random_state=np.random.default_rng(5)),
    "budget": lambda: lw.SCP(budget=2.0, effort="fast"),
    "best": lambda: lw.SCP(3, keep="best", effort="fast"),
    "mixture": lambda: lw.SCP(3, keep="mixture", effort="fast"),
    "gradient": lambda: lw.SCP(3, learner="gradient"),
    "hinge": lambda: lw.SCP(3, learner="hinge_rank"),
    "softmax": lambda: lw.SCP(3, learner=learners.SoftmaxLeader(), features=features.Candidate() + features.Distance()),
    "crossed": lambda: lw.SCP(3, features=features.Candidate() + features.Identity(("context", "list", "candidates"))),
    "volume": lambda: lw.SCP(3, features=features.Candidate() + features.Volume()),
    "expected gain": lambda: lw.SCP(3, features=features.ExpectedGain(("static", "neighbours", "ridge", "kernel"))),
    "conseqopt": lambda: lw.ConSeqOpt(3),
    "conseqopt estimator": lambda: lw.ConSeqOpt(2, learner=Ridge(), **PLAIN),
    "majority": lambda: lw.SCP(3, features=features.Candidate(), learner=learners.WeightedMajority(EXPERTS)),
    "leader": lambda: lw.SCP(3, features=features.Candidate(), learner=learners.FollowLeader(EXPERTS)),
    "perturbed": lambda: lw.SCP(3, features=features.Candidate(), learner=learners.FollowPerturbedLeader(EXPERTS)),
    "exp4": lambda: lw.SCP(3, features=features.Candidate(), learner=learners.Exp4(EXPERTS)),
    "free majority": lambda: lw.ContextFreeSCP(3),
    "free adaptive": lambda: lw.ContextFreeSCP(3, learner=learners.WeightedMajority(rate="adaptive")),
    "free leader": lambda: lw.ContextFreeSCP(3, learner="leader"),
    "free exp3": lambda: lw.ContextFreeSCP(3, learner="exp3"),
    "estimator": lambda: lw.SCP(3, learner=make_pipeline(StandardScaler(), Ridge()), **PLAIN),
    "forest": lambda: lw.SCP(3, learner=ExtraTreesClassifier(4, random_state=0), **PLAIN),
    "boosting": lambda: lw.SCP(3, learner=GradientBoostingRegressor(n_estimators=4, random_state=0), **PLAIN),
    "histograms": lambda: lw.SCP(2, learner=HistGradientBoostingRegressor(max_iter=2), n_passes=1, batch_size=40),
    "lightgbm": lambda: lw.SCP(3, learner=booster("LGBMRegressor", n_estimators=4, min_child_samples=3), **PLAIN),
    "lightgbm classes": lambda: lw.SCP(3, learner=booster("LGBMClassifier", n_estimators=4), **PLAIN),
    "xgboost": lambda: lw.SCP(3, learner=booster("XGBRegressor", n_estimators=4), **PLAIN),
    "xgboost classes": lambda: lw.SCP(3, learner=booster("XGBClassifier", n_estimators=4), **PLAIN),
    "xgboost ranks": lambda: lw.SCP(3, learner=booster("XGBRanker", n_estimators=4), **PLAIN),
    "lightgbm ranks": lambda: lw.SCP(3, learner=booster("LGBMRanker", n_estimators=4), **PLAIN),
}


def fitted(name: str, problems: lw.Problems) -> Any:
    model = MODELS[name]()
    return model.set_params(random_state=0 if model.random_state is None else model.random_state).fit(problems)


def same_lists(one: Any, other: Any, problems: lw.Problems) -> None:
    first, second = one.predict(problems), other.predict(problems)
    np.testing.assert_array_equal(first.rows, second.rows)
    np.testing.assert_allclose(first.picked_scores, second.picked_scores, rtol=1e-6)  # XGBoost computes in float32


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", MODELS)
def test_the_same_lists_before_and_after_and_after_learning_on(name: str, tmp_path: Path) -> None:
    problems = made(full=name not in ("leader", "perturbed", "exp4", "majority"))
    model = fitted(name, problems)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert type(again) is type(model)
    same_lists(model, again, problems)
    same_lists(model.partial_fit(problems[:20]), again.partial_fit(problems[:20]), problems)
    save(again, tmp_path / "model")
    same_lists(again, load(tmp_path / "model"), problems)


@pytest.mark.parametrize("learner", [Ridge(), learners.SoftmaxLeader(), "ridge"])
def test_a_slim_model_predicts_and_says_that_it_learns_no_more(learner: Any, tmp_path: Path) -> None:
    problems = made(full=False)
    model = lw.SCP(3, learner=learner, random_state=0, **PLAIN).fit(problems)
    save(model, tmp_path / "whole")
    save(model, tmp_path / "slim", slim=True)
    assert (tmp_path / "slim").stat().st_size < (tmp_path / "whole").stat().st_size * 0.7
    slim = load(tmp_path / "slim")
    same_lists(model, slim, problems)
    assert str(slim.online_certificate()) == str(model.online_certificate())
    with pytest.raises(InputError, match="saved with slim=True"):
        slim.partial_fit(problems)


@pytest.mark.parametrize("slim", [False, True])
def test_models_within_models_come_back_too(slim: bool, tmp_path: Path) -> None:
    problems = made(full=True)
    fast = lw.SCP(2, n_passes=1, random_state=0, features=features.Candidate() + features.Identity(("candidates",)))
    stacked = PolicyScore(fast) + PolicyScore(clone(fast).set_params(learner=Ridge(), batch_size=40))
    gains = features.ExpectedGain(("static", "ridge"))
    model = lw.SCP(2, n_passes=1, features=stacked + gains, learner=learners.SoftmaxLeader(), random_state=0).fit(
        problems
    )
    save(model, tmp_path / "model", slim=slim)
    again = load(tmp_path / "model")
    same_lists(model, again, problems)
    assert again.training_.features.names() == model.training_.features.names()
    if not slim:
        same_lists(model.partial_fit(problems), again.partial_fit(problems), problems)


def test_a_model_can_carry_how_its_table_was_read(tmp_path: Path) -> None:
    frame = pa.table(
        {"problem": [1, 1, 2, 2], "x": [1.0, 2.0, 3.0, 4.0], "kind": ["u", "v", "u", "w"], "hit": [0, 1, 1, 0]}
    )
    problems, columns = read_with_columns(frame, categorical=["kind"], catalogue="kind", reward="any:hit")
    model = lw.SCP(1, effort="fast", random_state=0).fit(problems)
    model.columns_ = columns
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.columns_ == columns
    same_lists(model, again, lw.Problems.from_frame(frame, columns=again.columns_))


def test_a_file_says_what_it_is_without_being_loaded(tmp_path: Path) -> None:
    save(fitted("ridge", made()), tmp_path / "model")
    about = inspect(tmp_path / "model")
    assert (about["class"], about["version"], about["features"]) == ("SCP", 1, ["a", "b", "c"])
    assert about["parameters"]["length"] == 3
    assert about["training"]["rounds"] == 400
    assert "numpy" in about["libraries"]


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("1", "2"):
        save(fitted("ridge", made()), tmp_path / name)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_every_class_that_models_are_made_of_has_a_name_in_files() -> None:
    known = set(CLASSES.values())
    for room in ("features", "learners", "policies"):
        module = import_module(f"listwright.{room}")
        public = {getattr(module, name) for name in module.__all__}
        missing = {one for one in public if python_inspect.isclass(one) and not python_inspect.isabstract(one)} - known
        assert {one.__name__ for one in missing} <= {"Crossed", "Examples", "Rows"}  # what exists during a walk only


def test_a_lightgbm_model_predicts_the_same_without_lightgbm() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 4)).astype(np.float32)
    for model in (
        booster("LGBMRegressor", n_estimators=20),
        booster("LGBMClassifier", n_estimators=20),
    ):
        model.fit(x, x[:, 0] > 0.3)
        stored = as_booster(model)
        assert stored is not None
        np.testing.assert_array_equal(stored.predict(x), model.booster_.predict(x, raw_score=True))
    np.testing.assert_array_equal(stored.predict_proba(x), model.booster_.predict(x)[:, None] * [-1, 1] + [1, 0])


@pytest.mark.parametrize("kind", ["XGBRegressor", "XGBClassifier", "XGBRanker"])
@pytest.mark.parametrize("settings", [{}, {"max_depth": 1}, {"max_depth": 8, "subsample": 0.5, "gamma": 0.1}])
def test_an_xgboost_model_predicts_and_explains_the_same_without_xgboost(kind: str, settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 4)).astype(np.float32)
    model = booster(kind, n_estimators=20, **settings)
    y = np.sin(3 * x[:, 0]) * x[:, 1] + x[:, 2] > 0.2
    model.fit(x, y, **({"group": [20] * 20} if kind == "XGBRanker" else {}))
    stored, theirs = as_booster(model), model.get_booster()
    assert stored is not None
    margin = theirs.inplace_predict(x, predict_type="margin")
    np.testing.assert_allclose(stored.predict(x), margin, rtol=0, atol=2e-6)
    shares = theirs.predict(library("xgboost").DMatrix(x[:50]), pred_contribs=True)
    np.testing.assert_allclose(stored.contributions(x[:50]), shares, atol=2e-5)
    if kind == "XGBClassifier":
        np.testing.assert_allclose(stored.predict_proba(x), model.predict_proba(x), atol=1e-6)


def test_early_stopping_and_missing_values_of_xgboost() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 4)).astype(np.float32)
    y = x[:, 0] + rng.normal(size=300)
    model = booster("XGBRegressor", n_estimators=200, early_stopping_rounds=3)
    model.fit(x[:200], y[:200], eval_set=[(x[200:], y[200:])], verbose=False)
    stored = as_booster(model)
    assert stored is not None
    np.testing.assert_allclose(stored.predict(x), model.predict(x), atol=2e-6)
    with pytest.raises(InputError, match=r"missing=0.0 cannot be saved. Leave it at NaN"):
        as_booster(booster("XGBRegressor", n_estimators=2, missing=0.0).fit(x, y))


@pytest.mark.parametrize(
    "settings", [{}, {"max_depth": 1}, {"num_leaves": 60, "bagging_fraction": 0.5, "bagging_freq": 1}]
)
def test_contributions_of_a_lightgbm_model_are_those_of_lightgbm(settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 5)).astype(np.float32)
    model = booster("LGBMRegressor", n_estimators=15, min_child_samples=3, **settings)
    model.fit(x, np.sin(3 * x[:, 0]) * x[:, 1] + x[:, 2])
    stored = as_booster(model)
    assert stored is not None
    found = stored.contributions(x[:50])
    np.testing.assert_allclose(found, model.predict(x[:50], pred_contrib=True), atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), stored.predict(x[:50]), atol=1e-9)


def test_a_lightgbm_model_explains_the_same_from_a_file(tmp_path: Path) -> None:
    problems = made()
    learner = booster("LGBMRegressor", n_estimators=5, min_child_samples=5)
    model = lw.SCP(3, learner=learner, **PLAIN).fit(problems)
    save(model, tmp_path / "model")
    before, after = (one.predict(problems).explain(2) for one in (model, load(tmp_path / "model")))
    for ours, theirs in zip(before.picks, after.picks, strict=True):
        assert ours.contributions == pytest.approx(theirs.contributions)
        assert not theirs.note


UNSAVABLE: dict[str, tuple[Callable[[], Any], str]] = {
    "not fitted": (lambda: lw.SCP(3, effort="fast"), "not fitted yet. Call fit first"),
    "no model": (lambda: Ridge(), "Only estimators and baselines of listwright can be saved. Got Ridge"),
    "a function": (
        lambda: lw.SCP(3, learner=make_pipeline(FunctionTransformer(np.abs), Ridge()), **PLAIN).fit(made(full=False)),
        "functions are not among",
    ),
}


@pytest.mark.filterwarnings("ignore::listwright.errors.UnsavableWarning")
@pytest.mark.parametrize("name", UNSAVABLE)
def test_what_cannot_be_saved_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    make, message = UNSAVABLE[name]
    (tmp_path / "model").write_bytes(b"what was there before")
    with pytest.raises(InputError, match=message):
        save(make(), tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]
    assert (tmp_path / "model").read_bytes() == b"what was there before"


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    model = fitted("ridge", made())
    with pytest.raises(InputError, match=r"Cannot write .*nowhere.model: No such file"):
        save(model, tmp_path / "nowhere" / "model")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"Cannot write .*folder: Is a directory"):
        save(model, tmp_path / "folder")
    assert os.listdir(tmp_path) == ["folder"]


def test_scikit_learn_manners_survive(tmp_path: Path) -> None:
    model = fitted("ridge", made())
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert clone(again).get_params() == clone(model).get_params()
    assert repr(again) == repr(model)
    assert str(again.online_certificate()) == str(model.online_certificate())
    assert zipfile.is_zipfile(tmp_path / "model")
