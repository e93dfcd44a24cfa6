"""Reasons of lists: contributions add up, runners-up are second, and what is redundant is named."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

import listwright as lw
from listwright.errors import InputError
from listwright.evaluation.explain import explain
from listwright.evaluation.values import measure_lists
from listwright.walk.lists import walk
from tests.booster_tools import booster


def made(n: int = 60, *, catalogue: bool = False, vectors: bool = False, context: bool = False) -> lw.Problems:
    rng = np.random.default_rng(0)
    kind, quality = rng.integers(3, size=(n, 8)), rng.random((n, 8))
    features = np.concatenate([np.eye(3)[kind], quality[..., None]], axis=2)
    return lw.Problems.from_arrays(
        features,
        reward=lw.rewards.AnySuccess((kind == rng.integers(3, size=(n, 1))) & (quality > 0.5)),
        catalogue=np.arange(8) if catalogue else None,
        context=rng.random((n, 2)) if context else None,
        vectors=rng.random((n, 8, 3)) if vectors else None,
        sizes=np.arange(1.0, 9.0),
        item_ids=[f"a{i}" for i in range(8)] * n,
        feature_names=["u", "v", "w", "quality"],
    )


LINEAR = {
    "ridge": (lambda: lw.SCP(3, effort="fast", random_state=0), {}),
    "gradient": (lambda: lw.SCP(3, learner="gradient", random_state=0), {}),
    "conseqopt": (lambda: lw.ConSeqOpt(3, random_state=0), {}),
    "mixture": (lambda: lw.SCP(3, keep="mixture", effort="fast", random_state=0), {}),
    "budget": (lambda: lw.SCP(budget=9.0, effort="fast", random_state=0), {}),
    "repeats": (lambda: lw.SCP(3, repeats=True, random_state=0), {}),
    "catalogue": (lambda: lw.SCP(3, effort="fast", random_state=0), {"catalogue": True, "context": True}),
    "vectors": (lambda: lw.SCP(3, effort="fast", random_state=0), {"vectors": True}),
    "estimator": (lambda: lw.SCP(3, learner=Ridge(), n_passes=1, random_state=0), {}),
    "estimator, catalogue": (lambda: lw.SCP(3, learner=Ridge(), n_passes=1, random_state=0), {"catalogue": True}),
}


@pytest.mark.parametrize("name", LINEAR)
def test_contributions_add_up_to_the_score(name: str) -> None:
    make, kinds = LINEAR[name]
    problems = made(**kinds)
    lists = make().fit(problems).predict(problems)
    for i in (0, 17, -1):
        reasons = lists.explain(i)
        assert [pick.item for pick in reasons.picks] == lists.item_ids[i].tolist()
        for pick, score in zip(reasons.picks, lists.scores[i], strict=True):
            assert pick.contributions
            assert not pick.note
            tolerance = 1e-12 if "estimator" not in name else 1e-6  # scikit-learn predicts in float32
            assert sum(pick.contributions.values()) == pytest.approx(pick.score, rel=tolerance, abs=tolerance)
            assert pick.score == pytest.approx(score, abs=1e-6)


def test_groups_are_those_of_the_features() -> None:
    problems = made(catalogue=True, vectors=True)
    pick = lw.SCP(2, effort="fast", random_state=0).fit(problems).predict(problems).explain(0).picks[1]
    assert set(pick.contributions) == {
        "relevance",
        "links to the list",
        "position",
        "volume with the list",
        "identity",
    }
    assert 1 <= len(pick.columns) <= 3


def test_the_runner_up_is_the_second_best_option() -> None:
    problems = made()
    model = lw.SCP(3, effort="fast", random_state=0).fit(problems)
    reasons = model.predict(problems).explain(4)
    steps = walk(
        problems[4].without_reward(), model.training_.features, model.policy_, length=3, rng=np.random.default_rng(0)
    )
    for pick, step in zip(reasons.picks, steps, strict=True):
        scores = np.where(step.options, step.scores, -np.inf)
        scores[step.picks[0]] = -np.inf
        assert pick.runner_up == f"a{scores.argmax()}"
        assert pick.margin == pytest.approx(step.scores[step.picks[0]] - scores.max())
        assert pick.margin >= 0


def test_what_does_not_fit_the_budget_is_no_runner_up() -> None:
    problems = made()
    lists = lw.SCP(budget=3.0, effort="fast", random_state=0).fit(problems).predict(problems)
    for i in range(10):
        left = 3.0
        for pick in lists.explain(i).picks:
            if pick.runner_up is not None:
                assert int(pick.runner_up[1:]) + 1 <= left
            left -= int(pick.item[1:]) + 1


def test_a_twin_of_a_pick_is_told_to_be_redundant() -> None:
    problems = made(200)
    features = problems.features.reshape(200, 8, 4).copy()
    model = lw.SCP(3, effort="fast", random_state=0).fit(problems)
    features[0] = [[0, 0, 1, 0.2]] * 8
    features[0, 0], features[0, 1] = [1, 0, 0, 0.99], [1, 0, 0, 0.98]
    features[0, 5], features[0, 6] = [0, 1, 0, 0.9], [0, 0, 1, 0.85]
    reasons = explain(model, lw.Problems.from_arrays(features, feature_names=problems.feature_names), 0)
    assert reasons.picks[0].item == 0
    told = {one.item: one for one in reasons.skipped}
    assert (told[1].because_of, told[1].rank_alone) == (0, 2)
    assert told[1].change < told[1].change_of_others
    assert "not 1, number 2 on its own: redundant after 0, which changed its score by " in str(reasons)


def test_what_led_and_did_not_fit_is_told_to_be_too_large() -> None:
    problems = made()
    model = lw.SCP(budget=4.0, effort="fast", random_state=0).fit(problems)
    told = [one for i in range(20) for one in model.predict(problems).explain(i).skipped]
    large = [one for one in told if one.does_not_fit is not None]
    assert large
    assert all(one.does_not_fit > 1 or int(one.item[1:]) + 1 > 4 for one in large)
    assert all(int(one.item[1:]) + 1 > 1 for one in large)
    assert "too large for what was left of the budget at position" in str(large[0])


def test_lightgbm_gives_its_own_contributions() -> None:
    learner = booster("LGBMRegressor", n_estimators=10, min_child_samples=5)
    for catalogue in (False, True):
        seen = made(catalogue=catalogue)
        model = lw.SCP(2, learner=learner, n_passes=1, batch_size=60, random_state=0).fit(seen)
        for pick in model.predict(seen).explain(3).picks:
            assert sum(pick.contributions.values()) == pytest.approx(pick.score, abs=1e-9)
            assert {"relevance", "base"} <= set(pick.contributions)


@pytest.mark.parametrize("learner", [DecisionTreeRegressor(max_depth=3), LogisticRegression()])
def test_other_estimators_give_the_score_alone_with_a_note(learner: object) -> None:
    problems = made()
    pick = lw.SCP(2, learner=learner, n_passes=1, random_state=0).fit(problems).predict(problems).explain(0).picks[0]
    assert pick.contributions == {}
    assert "no contributions" in pick.note
    assert pick.runner_up is not None


def test_the_combined_methods_and_the_context_free_form_can_be_explained() -> None:
    problems = made(catalogue=True)
    auto = lw.SCP(2, random_state=0).fit(problems)
    assert auto.report_.chosen.startswith("expected gains + linear")
    assert {"learned score", "expected gain"} <= set(auto.predict(problems).explain(0).picks[0].contributions)
    assert len(lw.ContextFreeSCP(2, random_state=0).fit(problems).predict(problems).explain(0).picks) == 2


def test_reasons_are_plain_values() -> None:
    problems = made()
    model = lw.SCP(2, effort="fast", random_state=0).fit(problems)
    told = json.loads(json.dumps(model.predict(problems).explain(1).to_dict()))
    assert told["problem"] == 1
    assert [pick["position"] for pick in told["picks"]] == [1, 2]
    assert told == json.loads(json.dumps(explain(model, problems, 1).to_dict()))


def test_reasons_do_not_change_when_the_model_learns_on() -> None:
    problems = made()
    model = lw.SCP(2, effort="fast", random_state=0).fit(problems[:30])
    lists = model.predict(problems[30:])
    before = lists.explain(0)
    model.partial_fit(problems[30:])
    assert lists.explain(0) == before


def test_measured_lists_keep_their_reasons() -> None:
    problems = made()
    lists = lw.SCP(2, effort="fast", random_state=0).fit(problems).predict(problems)
    assert measure_lists(lists, problems).explain(2) == lists.explain(2)


def test_lists_that_no_policy_built_say_so() -> None:
    with pytest.raises(InputError, match="cannot be explained"):
        lw.greedy(made(), length=2).explain(0)
