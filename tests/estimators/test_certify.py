"""Certificates of fitted models on held-out problems, and of the run itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import listwright as lw
from listwright.baselines import Random, TopK
from listwright.errors import InputError
from listwright.evaluation.values import list_values
from listwright.features import Candidate
from listwright.guarantees import lower_share
from listwright.policies import Linear
from listwright.rewards import AnySuccess, Coverage, Function, Total
from tests.problem_tools import small_problems


def problems(n: int = 240, seed: int = 0, **given) -> lw.Problems:
    return small_problems(n, 8, seed=seed, above=0.85, **given)


@pytest.fixture(scope="module")
def model() -> lw.SCP:
    return lw.SCP(2, effort="fast", random_state=0).fit(problems()[:140])


def test_bounds_lie_below_what_was_seen(model):
    held = problems()[140:]
    found = model.certify(held, rivals=["top_k", "mmr", Random(2, random_state=0).fit(held)])
    assert 0 < found.value < found.mean == pytest.approx(model.score(held))
    assert 0.5 < found.share_of_greedy <= 1
    assert set(found.ahead_of) == {"top_k", "mmr", "Random"}
    assert found.ahead_of["Random"] > 0
    assert (found.n, found.delta, found.length) == (100, 0.05, 2)
    assert len(str(found).split(";")) == 6


def test_shares_of_greedy_and_of_the_best_are_one_exact_statement_for_0_and_1(model):
    held = problems()[140:]
    solved = lw.greedy(held, 2).values > 0
    wins = int(list_values(model.predict(held), held)[solved].sum())
    made = model.certify(held)
    assert made.share_of_greedy == made.share_of_best == lower_share(wins, int(solved.sum()), 0.9 * 0.05 / 2)
    assert made.alone["share_of_greedy"] == pytest.approx(lower_share(wins, int(solved.sum()), 0.95 * 0.05))


def test_several_models_are_sent_to_certify_best_and_one_to_certify(model):
    with pytest.raises(InputError, match=r"Got a list\. To certify the best of several models, use lw\.certify_best"):
        model.certify([model, model])
    with pytest.raises(InputError, match="For a single model, call its certify"):
        lw.certify_best(model, problems()[140:])


def test_less_confidence_gives_higher_bounds(model):
    held = problems()[140:]
    assert model.certify(held, delta=0.5).value > model.certify(held, delta=0.01).value


def test_problems_that_were_learned_from_are_refused_by_id(model):
    whole = problems()
    with pytest.raises(InputError, match="3 of these 4 problems were learned from: 0, 7, 139"):
        model.certify(whole[np.array([0, 7, 139, 200])])
    other_order = whole.features.reshape(240, 8, 3)[:5, ::-1]
    again = lw.Problems.from_arrays(other_order, reward=AnySuccess(other_order[..., 0] > 0.85))
    with pytest.raises(InputError, match="5 of these 5 problems"):
        model.certify(again)


def test_problems_that_stand_there_twice_are_refused_by_id(model):
    with pytest.raises(InputError, match="2 of these 12 problems occur more than once, with the same id: 200, 203"):
        model.certify(problems()[np.array([*range(200, 210), 203, 200])])
    assert str(model.certify(problems()[200:201])).startswith("On problems like this one,")


def test_a_certificate_goes_on_with_frames():
    frames = [pd.DataFrame(lw.simulate.readers.table(60, first=first, random_state=first)) for first in (0, 100, 200)]
    model = lw.SCP(2, effort="fast", random_state=0).fit(frames[0], reward="any:clicked")
    first = model.certify(frames[1])
    assert first.n < first.update(frames[2]).n <= 120


def test_two_rivals_of_a_class_are_both_named(model):
    held = problems()[140:]
    found = model.certify(held, rivals=[Random(2, random_state=seed).fit(held) for seed in range(3)])
    assert list(found.ahead_of) == ["Random", "Random 2", "Random 3"]


def test_a_share_held_back_by_fit_is_certified_and_saved(tmp_path):
    fitted = lw.SCP(2, effort="fast", random_state=0).fit(problems(), certify=0.25)
    assert fitted.certified_.n == 60
    assert fitted.n_rounds_ == 10 * 180
    fitted.save(tmp_path / "model")
    loaded = lw.load(tmp_path / "model")
    assert loaded.certified_ == fitted.certified_
    with pytest.raises(InputError, match="180 of these 240 problems were learned from"):
        loaded.certify(problems())
    assert not hasattr(fitted.partial_fit(problems(20, seed=1)), "certified_")


def test_problems_that_are_alike_may_be_on_both_sides_of_a_split():
    """Few distinct candidates, as in a table of grades: alike problems are draws like any other."""
    alike = small_problems(60, 4, 1, above=0.5)
    x = np.round(alike.features.reshape(60, 4, 1))
    many = lw.Problems.from_arrays(x, reward=AnySuccess(x[..., 0] > 0.5))
    fitted = lw.SCP(2, effort="fast", random_state=0).fit(many, certify=0.5)
    assert fitted.certified_.n == 30
    assert lw.SCP(2, effort="fast", random_state=0).fit(many).measured_.n == 60


def test_the_same_problem_twice_is_not_split():
    twice = problems(40)[np.array([*range(40), 3, 5])]
    with pytest.raises(InputError, match="2 of these 42 problems occur more than once, with the same id: 3, 5"):
        lw.SCP(2, effort="fast", random_state=0).fit(twice, certify=0.2)
    assert lw.SCP(2, effort="fast", random_state=0).fit(twice).measured_.n == 42, "copies are in the same fold"


@pytest.mark.parametrize("share", [0.0, 1.0, 1.5])
def test_a_share_that_cannot_be_is_named(share):
    with pytest.raises(InputError, match="certify must be a share between 0 and 1"):
        lw.SCP(2, effort="fast").fit(problems(), certify=share)


def test_rivals_that_are_only_named_need_the_training_problems(model, tmp_path):
    model.save(tmp_path / "model")
    loaded, whole = lw.load(tmp_path / "model"), problems()
    with pytest.raises(InputError, match="Pass training="):
        loaded.certify(whole[140:], rivals=["top_k"])
    mine = model.certify(whole[140:], rivals=["top_k"]).ahead_of
    assert loaded.certify(whole[140:], rivals=["top_k"], training=whole[:140]).ahead_of == mine
    assert (
        loaded.certify(whole[140:], rivals={"sorted": TopK(length=2).fit(whole[:140])}).ahead_of["sorted"]
        == mine["top_k"]
    )
    with pytest.raises(InputError, match="A rival is one of static, top_k, mmr"):
        model.certify(whole[140:], rivals=["best"])


def test_budgets_and_graded_rewards_are_certified_too():
    rng = np.random.default_rng(0)
    sizes, topics = rng.integers(1, 5, size=(240, 8)).astype(float), rng.random((240 * 8, 4)) < 0.3
    whole = problems(reward=Coverage(topics), sizes=sizes)
    found = lw.SCP(budget=5.0, effort="fast", random_state=0).fit(whole[:140]).certify(whole[140:])
    assert 0 < found.value < found.mean
    assert found.budget == 5.0
    assert 0 < found.share_of_best <= found.share_of_greedy  # from the fractional knapsack


def test_values_past_one_claim_nothing_against_greedy():
    values = np.random.default_rng(0).random((240, 8)) * 3
    whole = problems(reward=Total(values))
    found = lw.SCP(2, effort="fast", random_state=0).fit(whole[:140]).certify(whole[140:])
    assert found.share_of_greedy is None
    assert "Nothing is claimed against greedy" in str(found)


# The online certificate


def online(**given) -> lw.SCP:
    features = Candidate(standardize=False)
    settings = {"n_passes": 1, "batch_size": 1, "keep": "mixture", "features": features, "effort": "fast"}
    return lw.SCP(3, **settings, random_state=0).fit(problems(40, **given))


def test_a_run_to_the_letter_has_a_guarantee():
    assert online().online_certificate().assumptions_met


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda problem, items: 3.0 * len(items), "a list was worth more than 1"),
        (lambda problem, items: min(1.0, len(items) ** 2 / 16), "the gain of an item rose as its list grew"),
        (lambda problem, items: 0.5 - 0.1 * len(items), "an item lowered the value of a list"),
        (lambda problem, items: 0.5 + 0.1 * len(items), "the empty list is worth something"),
    ],
)
def test_a_function_that_breaks_a_law_gets_no_guarantee(f, words):
    model = online(reward=Function(f))
    certificate = model.online_certificate()
    assert any(words in breach for breach in certificate.breaches)
    measured = problems(40, reward=Function(f))
    assert certificate.value_seen == pytest.approx(model.score(measured))  # every item is worth the same here
    assert lw.greedy(measured, 3).values.mean() == pytest.approx(model.score(measured))


@pytest.mark.parametrize("method", ["lazy", "naive"])
def test_greedy_claims_no_bound_for_a_function_that_lowers_values_or_rises(method):
    falling = Function(lambda problem, items: 0.5 - 0.1 * len(items))
    rising = Function(lambda problem, items: len(items) ** 2 / 64)
    for f in (falling, rising):
        lists = lw.greedy(problems(10, reward=f), 3, method=method)
        assert lists.ratio is None
        assert lists.bound.startswith("no bound: ")


@pytest.mark.parametrize(("repeats", "list_features"), [(False, False), (True, True), (True, False)])
def test_rivals_that_look_at_the_list_are_no_rivals_of_the_theorem(repeats, list_features):
    features = Candidate(standardize=False)
    features = features + lw.features.Distance(standardize=False) if list_features else features
    weights = np.random.default_rng(0).normal(size=(20, 9 if list_features else 3))
    learner = lw.learners.WeightedMajority([lw.policies.Linear(one) for one in weights])
    settings = {"features": features, "learner": learner, "n_passes": 1, "batch_size": 1, "keep": "mixture"}
    certificate = lw.SCP(3, repeats=repeats, **settings, random_state=0).fit(problems(40)).online_certificate()
    assert certificate.assumptions_met == (repeats and not list_features)
    assert ("No guarantee: the policies look at the list" in str(certificate)) != certificate.assumptions_met
    assert ("best list of 3 policies of the class" in str(certificate)) == certificate.assumptions_met


class ByPosition(Linear):
    """A policy that looks at how long the list is."""

    def pick(self, rows, open_rows, position, rng):
        return rows.offsets[:-1] + position, np.zeros(len(rows.owners))


def test_policies_that_go_by_the_position_are_no_rivals_of_the_theorem():
    learner = lw.learners.WeightedMajority([Linear(np.ones(3)), ByPosition(np.ones(3))])
    settings = {"features": Candidate(standardize=False), "n_passes": 1, "batch_size": 1, "keep": "mixture"}
    model = lw.SCP(3, repeats=True, learner=learner, **settings, random_state=0).fit(problems(40))
    assert "No guarantee: the policies look at the list" in str(model.online_certificate())


@pytest.mark.parametrize("missing", [0, 5])
def test_medians_of_all_states_are_named(missing):
    x = np.random.default_rng(0).random((240, 3))
    frame = pd.DataFrame(x, columns=["a", "b", "c"]).assign(visit=np.arange(240) // 6, clicked=x[:, 0] > 0.8)
    frame.loc[: missing - 1, "b"] = np.nan
    model = lw.SCP(2, features=Candidate(standardize=False), n_passes=1, batch_size=1, keep="mixture", random_state=0)
    breaches = model.fit(frame, problem="visit", reward="any:clicked").online_certificate().breaches
    assert breaches == ("missing values were filled with medians of all states",) * (missing > 0)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_gains_beyond_single_precision_are_certified():
    huge = problems().with_reward(Total(1e300 * np.abs(problems().features[:, 0].astype(float))))
    made = lw.SCP(2, features=Candidate(), n_passes=1, random_state=0).fit(huge[:140]).certify(huge[140:])
    assert 0 < made.value <= made.mean
    assert made.share_of_greedy is None


def test_budgets_by_problem_are_refused(model):
    with pytest.raises(InputError, match="one budget for all problems"):
        model.certify(problems()[140:], budget=np.ones(100))


def test_constraints_of_the_problems_are_named():
    limited = problems(40).with_constraints(exclude=np.arange(0, 320, 8))
    model = lw.SCP(3, n_passes=1, batch_size=1, keep="mixture", features=Candidate(standardize=False), effort="fast")
    assert any("constraints of the problems" in breach for breach in model.fit(limited).online_certificate().breaches)


def test_what_saw_the_states_beforehand_is_named():
    scaled = lw.SCP(3, n_passes=1, batch_size=1, effort="fast", random_state=0).fit(problems(40))
    assert any("scaled or fitted on all states" in breach for breach in scaled.online_certificate().breaches)
    tuned = lw.SCP(3, n_passes=1, batch_size=1, effort="fast", tune=True, random_state=0).fit(problems(40))
    assert any("tune=True" in breach for breach in tuned.online_certificate().breaches)
    auto = lw.SCP(3, random_state=0).fit(problems(40))
    assert any('effort="auto"' in breach for breach in auto.online_certificate().breaches)


def test_unlearned_rounds_are_no_part_of_a_mixture():
    model = lw.SCP(3, effort="fast", keep="mixture", n_passes=1, batch_size=20, random_state=0).fit(problems(60))
    assert len(model.policy_.policies) == 40
    assert all(policy.has_learned for policy in model.policy_.policies)
    assert model.online_certificate().left_out == 20


def readers(n: int, first: int = 0) -> pd.DataFrame:
    return pd.DataFrame(lw.simulate.readers.table(n, first=first, random_state=first))


def test_weights_that_are_no_numbers_are_named():
    model = lw.SCP(2, effort="fast", random_state=0).fit(readers(60), reward="any:clicked")
    held = readers(20, 100)
    with pytest.raises(
        InputError, match=r"Column 'w' for weight must be an array of numbers\. Got text, such as 'a'\."
    ):
        model.certify(held.assign(w="a"), weight="w")
    with pytest.raises(InputError, match="weight must be an array of numbers"):
        model.certify(held, weight=["a"] * 20)


def test_rivals_of_several_models_learn_from_the_training_problems_of_any(model, tmp_path):
    model.save(tmp_path / "model")
    loaded, held = lw.load(tmp_path / "model"), problems()[140:]
    sorting = TopK(0, length=2).fit(problems()[:140])  # by a column, which learns nothing
    with pytest.raises(InputError, match=r"the model does not have them\. Pass training="):
        lw.certify_best([loaded, sorting], held, rivals=["top_k"])
    known = lw.certify_best([loaded, sorting], held, rivals=["top_k"], training=problems()[:140])
    assert set(known.ahead_of) == {"top_k"}
    found = lw.certify_best([loaded, TopK(length=2).fit(problems()[:140])], held, rivals=["top_k"])
    assert found.ahead_of == known.ahead_of
