"""A user's own classes in model files: saved by name, and made only if they are trusted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR

import listwright as lw
from listwright import features, learners
from listwright.errors import InputError
from listwright.loading import load
from listwright.storage import inspect, save
from tests.storage import own_parts as mine
from tests.storage.test_storage import PLAIN, made, same_lists

HERE = "tests.storage.own_parts"
OWN: dict[str, tuple[Any, list[str]]] = {
    "feature": (lambda: lw.SCP(2, features=mine.Powers(1) + features.Position()), [f"{HERE}:Powers"]),
    "reward": (
        lambda: lw.SCP(2, features=mine.WithReward(mine.HalfSuccess(0.25))),
        [f"{HERE}:HalfSuccess", f"{HERE}:WithReward"],
    ),
    "learner and policy": (
        lambda: lw.SCP(2, features=features.Candidate(), learner=mine.Correlation(2.0)),
        [f"{HERE}:Correlation", f"{HERE}:Sharpest"],
    ),
    "estimator": (lambda: lw.SCP(2, learner=mine.Centroid(), **PLAIN), [f"{HERE}:Centroid"]),
    "estimator in a pipeline": (
        lambda: lw.SCP(2, learner=make_pipeline(StandardScaler(), mine.Centroid()), **PLAIN),
        [f"{HERE}:Centroid"],
    ),
    "compiled estimator": (lambda: lw.SCP(2, learner=SVR(), **PLAIN), ["sklearn.svm._classes:SVR"]),
    "search tree": (
        lambda: lw.SCP(2, learner=KNeighborsRegressor(algorithm="kd_tree"), **PLAIN),
        ["sklearn.neighbors._kd_tree:KDTree"],
    ),
    "model": (lambda: mine.MySCP(2), [f"{HERE}:MySCP"]),
}


@pytest.fixture
def problems() -> lw.Problems:
    return made(full=False)


@pytest.mark.parametrize("name", OWN)
def test_own_parts_come_back_once_they_are_trusted(name: str, problems: lw.Problems, tmp_path: Path) -> None:
    make, needed = OWN[name]
    model = make().set_params(random_state=0).fit(problems)
    save(model, tmp_path / "model")
    with pytest.raises(InputError) as refused:
        load(tmp_path / "model")
    assert all(one in str(refused.value) for one in needed)
    names = inspect(tmp_path / "model")["needs_trust"]
    assert set(needed) <= set(names)
    again = load(tmp_path / "model", trusted=names)
    assert type(again) is type(model)
    same_lists(model, again, problems)
    same_lists(model.partial_fit(problems), again.partial_fit(problems), problems)


def test_the_error_says_what_to_pass(problems: lw.Problems, tmp_path: Path) -> None:
    model = lw.SCP(2, features=mine.Powers() + mine.WithReward(mine.HalfSuccess())).fit(problems)
    save(model, tmp_path / "model")
    with pytest.raises(InputError) as refused:
        load(tmp_path / "model", trusted=[f"{HERE}:Powers"])
    assert f"pass trusted=['{HERE}:HalfSuccess', '{HERE}:WithReward']." in str(refused.value)


def test_models_of_listwrights_own_parts_need_no_trust(problems: lw.Problems, tmp_path: Path) -> None:
    save(lw.SCP(2, effort="fast").fit(problems), tmp_path / "model")
    assert inspect(tmp_path / "model")["needs_trust"] == []


@pytest.mark.parametrize("trusted", ["tests.storage.own_parts:Powers", ["Powers"], [3], ["a:b; import os"]])
def test_names_to_trust_are_checked(trusted: Any, problems: lw.Problems, tmp_path: Path) -> None:
    save(lw.SCP(2, effort="fast").fit(problems), tmp_path / "model")
    with pytest.raises(InputError, match="trusted must be a list of names such as"):
        load(tmp_path / "model", trusted=trusted)


def test_a_module_is_not_imported_before_it_is_trusted(problems: lw.Problems, tmp_path: Path) -> None:
    package = tmp_path / "their_features.py"
    package.write_text(
        "import pathlib\n"
        f"pathlib.Path({str(tmp_path / 'imported')!r}).touch()\n"
        "from listwright.features import Position\n"
        "class Theirs(Position):\n"
        "    pass\n"
    )
    script = (
        "import sys, numpy as np, listwright as lw\n"
        "from their_features import Theirs\n"
        "x = np.random.default_rng(0).random((20, 4, 2))\n"
        "p = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.7))\n"
        "lw.SCP(2, features=Theirs(), effort='fast').fit(p).save('model')\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    (tmp_path / "imported").unlink()
    trusting = "lw.load('model', trusted=['their_features:Theirs'])\n"
    script = (
        "import pathlib, listwright as lw\n"
        "try:\n    lw.load('model')\n"
        "except lw.errors.InputError as error:\n    print(error, pathlib.Path('imported').exists())\n"
        f"{trusting}"
        "print(pathlib.Path('imported').exists())\n"
    )
    told = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    before, after = told.stdout.splitlines()
    assert "pass trusted=['their_features:Theirs']" in before
    assert before.endswith(" False")
    assert after == "True"
    package.unlink()
    script = f"import listwright as lw\n{trusting}"
    told = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "their_features:Theirs cannot be imported here" in told.stderr


def hidden() -> features.Features:
    class Hidden(features.Position):
        pass

    return Hidden()


UNSAVABLE = {
    "a class in a function": (lambda: lw.SCP(2, features=hidden()), r"Hidden: define the class at the top level"),
    "an attribute": (lambda: lw.SCP(2, features=mine.Forgetful()), "attribute 'when' of Forgetful"),
    "a function": (
        lambda: lw.SCP(2, learner=make_pipeline(FunctionTransformer(np.abs), mine.Centroid()), **PLAIN),
        "functions are not among",
    ),
    "a lambda": (
        lambda: lw.SCP(2, learner=make_pipeline(FunctionTransformer(lambda x: x), mine.Centroid()), **PLAIN),
        "cannot be saved",
    ),
}


@pytest.mark.parametrize("name", UNSAVABLE)
def test_what_cannot_be_saved_is_announced_before_training(name: str, problems: lw.Problems, tmp_path: Path) -> None:
    make, message = UNSAVABLE[name]
    model = make()
    with pytest.warns(lw.errors.UnsavableWarning, match=message):
        model.fit(problems)
    with pytest.raises(InputError, match=message):
        save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("what", [3, lw.Problems, learners.RidgeFTRL()])
def test_only_models_can_be_saved(what: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Only estimators and baselines of listwright can be saved"):
        save(what, tmp_path / "model")


def test_a_fit_with_own_parts_goes_on_from_its_checkpoint(problems: lw.Problems, tmp_path: Path) -> None:
    model = lw.SCP(2, features=features.Candidate(), learner=mine.Correlation(), n_passes=2, random_state=0)
    whole = model.fit(problems, checkpoint=tmp_path / "file", checkpoint_every=3)
    again = lw.SCP(2, features=features.Candidate(), learner=mine.Correlation(), n_passes=2, random_state=0)
    same_lists(whole, again.fit(problems, checkpoint=tmp_path / "file", resume=True), problems)
