"""Any fitted model goes on learning from clicks: where it is not linear, a linear correction of its scores."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

import listwright as lw
from listwright.feedback.explore import Epsilon, Floor


def problems(n: int, seed: int) -> lw.Problems:
    table = np.random.default_rng(seed).random((n, 6, 2), dtype=np.float32)
    return lw.Problems.from_arrays(table, reward=lw.rewards.AnySuccess(table[..., 0] > 0.7))


@pytest.fixture(scope="module")
def trees() -> lw.SCP:
    return lw.SCP(2, learner=DecisionTreeRegressor(max_depth=3, random_state=0), random_state=0).fit(problems(80, 0))


def test_the_first_lists_are_those_of_the_model_and_clicks_correct_it(trees: lw.SCP, tmp_path) -> None:
    online = lw.OnlineSCP.from_model(trees, random_state=0)
    new = problems(60, 1)
    np.testing.assert_array_equal(online.predict(new).rows, trees.predict(new).rows)
    for i in range(4):
        shown = online.recommend(problems(100, 2 + i))
        liked = shown.problems.features[shown.rows, 1] > 0.6  # another taste than that of the model
        online.feedback(shown.list_ids, liked.astype(float))
    before, after = (float(new.features[lists.rows, 1].mean()) for lists in (trees.predict(new), online.predict(new)))
    assert after > before + 0.1
    state = online.state()
    twin = lw.OnlineSCP.from_model(trees, random_state=0).restore(state)
    np.testing.assert_array_equal(twin.predict(new).rows, online.predict(new).rows)
    online.save(tmp_path / "model")
    np.testing.assert_array_equal(lw.load(tmp_path / "model").predict(new).rows, online.predict(new).rows)


def test_no_chance_is_below_the_floor() -> None:
    new = problems(50, 3)
    online = lw.OnlineSCP(2, explore=Floor(Epsilon(0.0), 0.12), random_state=0).fit(new)
    shown = online.recommend(new)
    least = 0.12 / np.array([6, 5])
    assert (shown.propensities >= least - 1e-9).all()
    assert set(np.round(shown.propensities[:, 0], 6)) <= {0.02, 0.9}


@pytest.mark.parametrize("items", [None, 6])
def test_a_model_that_chose_one_column_learns_of_all_columns(items: int | None, tmp_path) -> None:
    def visits(n: int, seed: int, **more) -> lw.Problems:
        rng = np.random.default_rng(seed)
        table, context = rng.random((n, 6, 2), dtype=np.float32), rng.random((n, 1))
        known = {} if items is None else {"catalogue": np.tile(np.arange(items), n), "context": context}
        return lw.Problems.from_arrays(table, reward=lw.rewards.AnySuccess(table[..., 0] > 0.7), **known)

    model = lw.SCP(2, features=lw.features.BestColumn(), random_state=0).fit(visits(80, 0))
    online, new = lw.OnlineSCP.from_model(model, random_state=0), visits(60, 1)
    np.testing.assert_array_equal(online.predict(new).rows, model.predict(new).rows)
    for i in range(4):
        shown = online.recommend(visits(100, 2 + i))
        online.feedback(shown.list_ids, (shown.problems.features[shown.rows, 1] > 0.6).astype(float))
    assert float(new.features[online.predict(new).rows, 1].mean()) > 0.75
    online.save(tmp_path / "model")
    np.testing.assert_array_equal(lw.load(tmp_path / "model").predict(new).rows, online.predict(new).rows)


def test_a_model_that_was_chosen_among_several_goes_on_learning() -> None:
    table = np.random.default_rng(0).random((60, 6, 2), dtype=np.float32)
    valued = lw.Problems.from_arrays(table, catalogue=np.tile(np.arange(6), 60), reward=lw.rewards.Total(table[..., 0]))
    model = lw.SCP(2, random_state=0).fit(valued)
    online = lw.OnlineSCP.from_model(model, random_state=0)
    np.testing.assert_array_equal(online.predict(valued).rows, model.predict(valued).rows)
    new = lw.Problems.from_arrays(table[:, :5], catalogue=np.tile([1, 2, 3, 6, 7], 60))
    shown = online.recommend(new)
    online.feedback(shown.list_ids, np.ones(shown.rows.shape))
