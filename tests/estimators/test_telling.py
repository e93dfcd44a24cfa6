"""What a model tells: weights, importance, history, and what came of the fit."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeRegressor

import listwright as lw


def problems(n: int = 120, seed: int = 0, n_items: int = 8) -> lw.Problems:
    rng = np.random.default_rng(seed)
    x = rng.random((n, n_items, 3)) * [1.0, 100.0, 1.0]
    success = x[..., 1] + 5 * rng.standard_normal((n, n_items)) > 85
    ids = [f"p{seed}-{i}" for i in range(n)]
    return lw.Problems.from_arrays(
        x, reward=lw.rewards.AnySuccess(success), feature_names=["age", "quality", "price"], problem_ids=ids
    )


@pytest.fixture(scope="module")
def model():
    return lw.SCP(2, effort="fast", random_state=0).fit(problems())


def test_weights_are_named_and_in_spreads(model):
    table = model.weights_
    frame = table.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame) == ["feature", "group", "weight"]
    own = frame[frame.group == "relevance"].set_index("feature").weight
    assert own.index.tolist() == ["age", "quality", "price"]
    assert own.abs().idxmax() == "quality"
    np.testing.assert_array_equal(table["weight"], model.policy_.weights)


def test_a_weight_is_what_a_spread_adds(model):
    x = problems().features
    one, other = np.array([x.mean(axis=0)] * 2)
    other[1] += x[:, 1].std()
    pair = lw.Problems.from_arrays(np.stack([one, other]), offsets=[0, 2], feature_names=["age", "quality", "price"])
    features = model.training_.features
    scores = model.policy_.score(features.rows(features.start(pair)))
    weight = model.weights_["weight"][1]
    assert scores[1] - scores[0] == pytest.approx(weight, rel=1e-4)


def test_weights_by_position_of_a_mixture_and_of_items():
    table = lw.ConSeqOpt(2, random_state=0).fit(problems()).weights_
    assert sorted(set(table["position"].tolist())) == [1, 2]
    assert "position" not in lw.SCP(2, keep="mixture", random_state=0).fit(problems()).weights_.columns
    frame = pd.DataFrame({"problem": np.repeat(np.arange(40), 4), "item": list("abcd") * 40, "x": np.arange(160) % 7})
    frame["good"] = (frame.item == "c").astype(int) * (np.arange(160) % 5 > 0)
    known = lw.SCP(1, effort="fast", random_state=0).fit(frame, reward="any:good", catalogue="item").weights_
    items = known.where(group="identity")
    assert items["feature"][items["weight"].argmax()] == "c"


def test_trees_have_no_weights():
    model = lw.SCP(2, learner=DecisionTreeRegressor(max_depth=3), n_passes=1, random_state=0).fit(problems())
    with pytest.raises(AttributeError, match=r"has no weights.*importance"):
        _ = model.weights_
    assert lw.importance(model, problems(seed=1), n_repeats=2)["feature"][0] == "quality"


def test_importance_is_the_fall_in_value_and_seeded(model):
    held = problems(seed=1)
    table = lw.importance(model, held, n_repeats=3, random_state=4)
    assert table["feature"][0] == "quality"
    assert table["importance"][0] > 0.2
    assert np.abs(table["importance"][1:]).max() < 0.1
    assert table["spread"][0] > 0
    again = lw.importance(model, held, n_repeats=3, random_state=4)
    np.testing.assert_array_equal(table["importance"], again["importance"])
    order = np.random.default_rng([4, 0]).permutation(held.n_rows)
    changed = held.features.copy()
    changed[:, 1] = changed[order, 1]
    fall = model.score(held) - model.score(held.with_features(changed))
    one = lw.importance(model, held, features=["quality"], n_repeats=1, random_state=4)
    assert (len(one), one["importance"][0]) == (1, pytest.approx(fall))
    with pytest.raises(lw.errors.InputError, match="'colour'"):
        lw.importance(model, held, features=["colour"])


def test_importance_of_context_and_vectors_and_for_baselines():
    x = np.random.default_rng(0).random((40, 5, 2))
    given = lw.Problems.from_arrays(
        x, context=x[:, 0], vectors=x, reward=lw.rewards.AnySuccess(x[..., 0] + 0.1 * x[..., 1] > 0.8)
    )
    table = lw.importance(lw.SCP(2, effort="fast", random_state=0).fit(given), given, n_repeats=2)
    assert {"feature 0", "feature 1", "context 0", "context 1", "vectors"} == set(table["feature"].tolist())
    assert lw.importance(lw.baselines.TopK(length=2).fit(given), given)["feature"][0] == "feature 0"


def test_history_has_a_row_per_round(model, tmp_path):
    table = model.history_
    assert table["round"].tolist() == list(range(1, 41))
    assert table["states"].tolist() == [30] * 40
    assert np.isnan(table["held_out_value"]).all()
    ledger = model.training_.ledger
    assert (table["states"] * table["training_value"]).sum() == pytest.approx(ledger.value)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(lw.load(tmp_path / "model").history_["training_value"], table["training_value"])


def test_history_tells_what_rounds_are_worth_on_problems_held_out():
    held = problems(seed=1)
    model = lw.SCP(2, effort="fast", n_passes=2, random_state=0).fit(problems(), validation=held)
    assert model.history_["held_out_value"][-1] == pytest.approx(model.score(held))
    best = lw.SCP(2, effort="fast", n_passes=2, keep="best", random_state=0).fit(problems())
    assert not np.isnan(best.history_["held_out_value"]).any()
    with pytest.raises(lw.errors.InputError, match="validation"):
        lw.SCP(2).fit(problems(), validation=held.without_reward())


def test_the_chart_of_the_history_leaves_out_rounds_of_a_few_states():
    model = lw.SCP(2, effort="fast", batch_size=10, n_passes=3, random_state=0).fit(problems(31, 0))
    assert model.history_["states"].tolist() == [10, 10, 10, 1] * 3
    drawn = json.dumps(model.plot("history").to_dict())
    assert set(map(int, re.findall(r'"round": (\d+)', drawn))) == {1, 2, 3, 5, 6, 7, 9, 10, 11}
    assert "<table>" in model.history_._repr_html_()
    with pytest.raises(lw.errors.InputError, match="Got a DataFrame"):
        model.plot(pd.DataFrame({"x": [1]}))


def test_history_goes_on():
    model = lw.SCP(2, effort="fast", n_passes=1, random_state=0).fit(problems()).partial_fit(problems(seed=1))
    assert model.history_["round"].tolist() == list(range(1, 9))


def test_a_long_history_is_told_in_fewer_rows():
    n = 2500
    x = np.random.default_rng(0).random((n, 3, 1))
    many = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.6))
    model = lw.ContextFreeSCP(1, random_state=0).fit(many)
    assert len(model.history_) < 2000
    assert model.history_["states"].sum() == n
    assert model.history_["round"][-1] == n


def test_verbose_tells_in_plain_lines_where_piped(capsys):
    lw.SCP(2, effort="fast", n_passes=2, random_state=0, verbose=1).fit(problems())
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("round 1: lists were worth 0.")
    assert lines[1].startswith("round 8: ")
    assert lines[1].endswith("(8 of 8)")
    assert lines[2].startswith("Lists of 2 items are worth 0.")
    assert "\x1b" not in "".join(lines)
    lw.SCP(2, effort="fast", n_passes=2, random_state=0).fit(problems())
    assert capsys.readouterr().err == ""


def test_verbose_tells_of_the_model_and_not_of_what_was_tried_for_it(capsys):
    model = lw.SCP(2, random_state=0, verbose=1).fit(problems())
    assert len(model.trials_) > 2
    told = capsys.readouterr().err
    assert told.startswith("trying one column\n")
    assert told.count("problems out of fold.") == 1
    assert told.endswith(f"{model.measured_}\n")


@pytest.mark.parametrize("name", ["report_", "trials_", "certified_"])
def test_what_a_fit_has_not_set_says_which_fit_would(model, name):
    assert not hasattr(model, name)
    told = r"certify=0\.2" if name == "certified_" else r'\(effort="fast"\)\. effort="auto" chooses.*tune=True'
    with pytest.raises(AttributeError, match=rf"^This SCP has no {name}: .*{told}"):
        getattr(model, name)


@pytest.mark.parametrize("name", ["report_", "trials_", "certified_", "weights_", "history_", "measured_"])
def test_a_model_that_is_not_fitted_says_so_first(name):
    assert not hasattr(lw.SCP(2), name)
    with pytest.raises(NotFittedError, match="This SCP instance is not fitted yet"):
        getattr(lw.SCP(2), name)


def test_a_fit_forgets_the_choice_of_an_earlier_one():
    model = lw.SCP(2, random_state=0).fit(problems())
    assert model.report_.chosen
    model.partial_fit(problems(seed=1))
    assert model.trials_, "what goes on was chosen still"
    model.set_params(effort="fast").fit(problems())
    assert not hasattr(model, "report_")
    assert not hasattr(model, "trials_")


def rivals_of(measured):
    return {rival.name: rival for rival in measured.rivals}


def test_a_fit_ends_with_what_matters(tmp_path):
    model = lw.SCP(2, effort="fast", random_state=0).fit(problems(300), certify=0.2)
    measured = model.measured_
    assert (measured.n, measured.out_of_fold) == (60, False)
    assert list(rivals_of(measured)) == ["sorting by the best column", "sorting by trees", "MMR"]
    assert measured.certificate == model.certified_
    assert "regret" not in str(measured)
    assert "problems held out." in str(measured)
    model.save(tmp_path / "model")
    assert lw.load(tmp_path / "model").measured_ == measured


def test_sorting_is_held_to_the_same_groups():
    """Every item of the better half is in one group: with one of a group no sorted list may hold two of them."""
    quality = np.tile([0.9, 0.8, 0.2, 0.1], (60, 1)) + 0.05 * np.random.default_rng(0).random((60, 4))
    reward = lw.rewards.Total(quality)
    many = lw.Problems.from_arrays(
        quality[..., None], feature_names=["quality"], reward=reward, groups=np.tile(["a", "a", "b", "c"], 60)
    )
    capped = lw.SCP(2, effort="fast", per_group=1, random_state=0).fit(many).measured_
    free = lw.SCP(2, effort="fast", random_state=0).fit(many).measured_
    for rival in capped.rivals:
        assert capped.value == pytest.approx(rival.value, abs=0.02)
        assert rivals_of(free)[rival.name].value > rival.value + 0.2


def test_without_certify_copies_are_measured_out_of_fold():
    model = lw.SCP(2, effort="fast", random_state=0).fit(problems(300))
    lists = model.predict(problems(seed=1))
    measured = model.measured_
    assert measured.out_of_fold
    assert str(measured).startswith("Lists of 2 items are worth ")
    assert model.predict(problems(seed=1)) == lists
    assert model.measured_ is measured
    assert model.fit(problems(200)).measured_.n == 200


def test_it_says_where_the_policy_does_not_beat_sorting():
    x = np.random.default_rng(0).random((200, 6, 1))
    plain = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.8))
    measured = lw.SCP(2, effort="fast", random_state=0).fit(plain).measured_
    assert measured.value == rivals_of(measured)["sorting by the best column"].value
    assert not measured.beats_rivals
    assert "No clear difference to sorting by the best column" in " ".join(str(measured).split())


def test_redundant_items_are_where_it_beats_sorting():
    rng = np.random.default_rng(0)
    kind, quality = rng.integers(3, size=(400, 12)), rng.random((400, 12))
    x = np.concatenate([np.eye(3)[kind], quality[..., None]], axis=2)
    wanted = rng.integers(3, size=(400, 1))
    given = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess((kind == wanted) & (quality > 0.5)))
    measured = lw.SCP(3, effort="fast", random_state=0).fit(given).measured_
    assert rivals_of(measured)["sorting by trees"].low > 0
    assert "Ahead of sorting by the best column" in " ".join(str(measured).split())
