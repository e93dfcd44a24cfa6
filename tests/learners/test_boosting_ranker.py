"""Boosted rankers with and without LightGBM: what they learn, what they start from, and what files hold of them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import listwright as lw
from listwright._kernels.trees import tree_sums
from listwright.features import Candidate
from listwright.learners import Aggregate, BoostingRanker
from listwright.learners.boosting import softmax_step
from tests import booster_tools

LIBRARIES = ["lightgbm", "scikit-learn"]


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "scikit-learn":
        monkeypatch.setitem(sys.modules, "lightgbm", None)
    else:
        booster_tools.library("lightgbm")
    return str(request.param)


def states(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Five candidates per state; the best is nearest to the state's own level, which shifts all of its features."""
    rng = np.random.default_rng(seed)
    apart, level = rng.normal(size=(n, 5)), 3.0 * rng.normal(size=(n, 1))
    table = np.stack([np.abs(apart), apart + level, rng.normal(size=(n, 5))], axis=2).reshape(5 * n, 3)
    best = np.abs(apart) == np.abs(apart).min(axis=1, keepdims=True)
    return table, best.ravel().astype(int), np.full(n, 5)


def hits(model: BoostingRanker, table: np.ndarray, target: np.ndarray) -> float:
    first = model.predict(table).reshape(-1, 5).argmax(axis=1)
    return float((first == target.reshape(-1, 5).argmax(axis=1)).mean())


def test_the_best_of_new_states_comes_first(library: str) -> None:
    model = BoostingRanker(60).fit(*states(150))
    table, target, _ = states(200, seed=1)
    assert hits(model, table, target) > 0.8
    assert len(model.models_) == 2
    np.testing.assert_allclose(model.predict(table), sum(part.predict(table) for part in model.parts))


def test_models_are_averaged(library: str) -> None:
    table, target, group = states(100)
    both = BoostingRanker(15).fit(table, target, group=group)
    alone = [BoostingRanker(15, n_models=1, random_state=seed).fit(table, target, group=group) for seed in (0, 1)]
    np.testing.assert_allclose(both.predict(table), (alone[0].predict(table) + alone[1].predict(table)) / 2, rtol=1e-9)


def test_a_start_is_kept_where_there_is_little_to_learn_from(library: str) -> None:
    table, target, _ = states(200, seed=1)
    start = BoostingRanker(60).fit(*states(150))
    few = BoostingRanker(60, start=start.parts).fit(*states(4, seed=2))
    assert few.parts[:2] == start.parts
    assert hits(few, table, target) > hits(start, table, target) - 0.05


def test_a_step_goes_from_the_softmax_to_the_grades() -> None:
    step = softmax_step(np.array([0.0, np.log(3.0), 5.0]), np.array([1.0, 0.0, 0.0]), np.array([2, 1]))
    np.testing.assert_allclose(step, [0.75, -0.75, 0.0])


def test_files_hold_them_and_the_compiled_walk_joins_their_trees(tmp_path: Path) -> None:
    table, target, _ = states(60)
    reward = lw.rewards.AnySuccess(target.reshape(60, 5))
    problems = lw.Problems.from_arrays(table.reshape(60, 5, 3), reward=reward)
    learner = Aggregate(BoostingRanker(20, n_models=3))
    model = lw.SCP(2, learner=learner, features=Candidate(), n_passes=1, random_state=0).fit(problems)
    model.save(tmp_path / "model")
    assert lw.load(tmp_path / "model").predict(problems) == model.predict(problems)
    found = model.policy_.boosted_trees()
    assert found is not None
    np.testing.assert_allclose(tree_sums(table, found[0], *found[1]), model.policy_.estimator.predict(table), rtol=1e-9)
