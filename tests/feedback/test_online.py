"""OnlineSCP: what it shows, what it learns from, and what it refuses."""

from __future__ import annotations

import json
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.features import Candidate, Distance, Position
from listwright.feedback import TrainingUpdate
from listwright.feedback.explore import Epsilon, InverseGap
from listwright.feedback.update_queue import _walk_along, shown_rows
from listwright.policies import Linear, Uniform
from tests.problem_tools import small_problems


def problems(n: int = 8, items: int = 6, seed: int = 0, **known: Any) -> lw.Problems:
    return small_problems(n, items, seed=seed, reward=None, **known)


def names(n: int, prefix: str = "l") -> list[str]:
    return [f"{prefix}{i}" for i in range(n)]


def begun(**options: Any) -> lw.OnlineSCP:
    return lw.OnlineSCP(**({"length": 3, "random_state": 0} | options)).begin(problems())


def same(one: lw.OnlineSCP, other: lw.OnlineSCP) -> bool:
    mine, theirs = one.state(), other.state()
    return mine.keys() == theirs.keys() and all(np.array_equal(mine[key], theirs[key]) for key in mine)


def test_no_item_comes_twice_and_propensities_are_chances() -> None:
    lists = begun(length=6).recommend(problems(200))
    assert all(len(set(one.tolist())) == 6 for one in lists)
    assert ((lists.propensities > 0) & (lists.propensities <= 1)).all()
    np.testing.assert_allclose(lists.propensities[:, -1], 1.0)  # one candidate is left


def test_a_draw_depends_on_seed_id_and_state_alone() -> None:
    found, learner = problems(20), begun()
    whole = learner.recommend(found, list_ids=names(20))
    alone = begun().recommend(found[7], list_ids=["l7"])
    assert np.array_equal(alone[0], whole[7])
    assert np.array_equal(alone.propensities[0], whole.propensities[7])
    other = begun(random_state=1).recommend(found, list_ids=names(20))
    assert not np.array_equal(other.rows, whole.rows)


def test_a_draw_does_not_depend_on_other_problems_of_the_batch() -> None:
    small, large = problems(1, 3), problems(1, 9, seed=1)
    both = lw.Problems.concat([small, large])
    options = {"length": 5, "allow_short": True, "slots": "one"}
    together = begun(**options).recommend(both, list_ids=["a", "b"])
    alone = begun(**options).recommend(small, list_ids=["a"])
    assert np.array_equal(alone[0], together[0])
    assert np.array_equal(alone.propensities[0], together.propensities[0, :3])


def test_ids_are_new_unless_given_and_never_the_same() -> None:
    learner, found = begun(), problems(2)
    assert len({*learner.recommend(found).list_ids, *learner.recommend(found).list_ids}) == 4
    learner.recommend(found, list_ids=["a", "b"])
    with pytest.raises(InputError, match="List id a was used before"):
        learner.recommend(found[0], list_ids=["a"])
    with pytest.raises(InputError, match="one id per list"):
        learner.recommend(found, list_ids=["c", "c"])


def test_late_and_unordered_feedback_is_the_same_as_feedback_at_once() -> None:
    found, outcomes = problems(30), np.random.default_rng(1).random((30, 3)) < 0.4
    at_once, later = begun(penalty=1.0), begun(penalty=1.0)
    for learner in (at_once, later):
        learner.recommend(found, list_ids=names(30))
    assert at_once.feedback(names(30), outcomes) == 30
    for i in reversed(range(30)):
        later.feedback(f"l{i}", outcomes[i])
    one, other = at_once.state(), later.state()
    for key in one:
        np.testing.assert_allclose(one[key], other[key], rtol=1e-9, atol=1e-12)


def test_feedback_for_a_list_counts_once() -> None:
    found, once, twice = problems(2), begun(), begun()
    for learner in (once, twice):
        learner.recommend(found, list_ids=["a", "b"])
    assert once.feedback(["a", "b"], [[1, 0, 0], [0, 1, 0]]) == 2
    assert twice.feedback(["a", "a"], [[1, 0, 0], [0, 0, 1]]) == 1
    assert twice.feedback(["a", "b"], [[0, 0, 0], [0, 1, 0]]) == 1
    assert same(once, twice)
    assert twice.version == 2


BAD = [
    (["x"], [[0, 0, 0]], "list x, which is not known"),
    (["a"], [{"nobody": 1}], "item 'nobody' of list a, which did not show it"),
    (["a"], [[0, float("nan"), 0]], "from 0 to 1. Got nan at position 2"),
    (["a"], [[0, 2, 0]], "from 0 to 1. Got 2.0"),
    (["a"], [[0, 0, 0, 0]], "showed 3 items"),
    (["a"], [[1, 0, 1]], "click at position 3, after the cascade stopped at position 1"),
    (["a"], [[0, 0, 0], [1, 0, 0]], "one outcome per list"),
    (["a"], [["yes", "no", "no"]], "array of numbers"),
]


@pytest.mark.parametrize(("ids", "outcomes", "message"), BAD)
def test_bad_feedback_is_one_clear_error_and_nothing_is_learned(ids: list[str], outcomes: Any, message: str) -> None:
    learner = begun(cascade=True)
    learner.recommend(problems(3), list_ids=["good", "a", "b"])
    learner.feedback("b", [0, 1, 0])
    before = learner.state()
    with pytest.raises(InputError, match=message):
        learner.feedback(["good", *ids], [[0, 0, 1], *outcomes])
    after = learner.state()
    assert all(np.array_equal(before[key], after[key]) for key in before)
    assert learner.feedback("good", [0, 0, 1]) == 1  # it still waits


@pytest.mark.parametrize("propensities", [[0.5, 0.0, 0.5], [0.5, 1.1, 0.5], [0.5, float("nan"), 0.5], [0.5]])
def test_records_with_bad_propensities(propensities: list[float]) -> None:
    with pytest.raises(InputError, match="ropensities"):
        TrainingUpdate.of("a", problems(1), [0, 1, 2], propensities, [0, 0, 1])


@pytest.mark.parametrize("picks", [[0, 0, 1], [0, 1, 6], [-1, 0, 1]])
def test_records_with_bad_picks(picks: list[int]) -> None:
    with pytest.raises(InputError, match=r"[lL]ist a"):
        TrainingUpdate.of("a", problems(1), picks, None, [0, 0, 1])


def test_one_bad_record_keeps_out_the_whole_update() -> None:
    learner = begun()
    good = TrainingUpdate.of("a", problems(1), [0, 1, 2], None, [0, 0, 1])
    other_kind = lw.Problems.from_arrays(np.zeros((1, 6, 2)))
    bad = TrainingUpdate.of("b", other_kind, [0, 1, 2], None, [0, 0, 1])
    for records in ([good, bad], [good, "b"]):
        with pytest.raises(InputError):
            learner.update(records)  # type: ignore[arg-type]
    assert same(learner, begun())


def test_what_fails_while_features_are_made_keeps_out_the_whole_update_too() -> None:
    known = problems(2, catalogue=np.tile(np.arange(6), 2))
    learner = lw.OnlineSCP(2, features=lw.features.Identity(("candidates",)), random_state=0).begin(known)
    before = learner.state()
    part = problems(1, 4, catalogue=np.arange(4))
    with pytest.raises(InputError, match="whole catalogue"):
        learner.update(
            [TrainingUpdate.of(name, found, [0], None, [1]) for name, found in (("a", known[0]), ("b", part))]
        )
    assert all(np.array_equal(value, before[key]) for key, value in learner.state().items())


def test_what_follows_the_stop_of_a_cascade_is_not_learned_from() -> None:
    whole, cut, plain = begun(cascade=True), begun(cascade=True), begun()
    for learner in (whole, cut, plain):
        learner.recommend(problems(1), list_ids=["a"])
    whole.feedback("a", [0, 1, 0])
    cut.feedback("a", [0, 1])
    plain.feedback("a", [0, 1, 0])
    assert same(whole, cut)
    assert not same(whole, plain)


def test_outcomes_by_item() -> None:
    found = problems(1, item_ids=[f"item {i}" for i in range(6)])
    by_item, by_position = begun(), begun()
    for learner in (by_item, by_position):
        lists = learner.recommend(found, list_ids=["a"])
    by_item.feedback("a", {lists.item_ids[0][1]: 0.5})
    by_position.feedback("a", [0, 0.5, 0])
    assert same(by_item, by_position)


def records(n: int = 40) -> list[TrainingUpdate]:
    found, rng = problems(n, seed=3), np.random.default_rng(2)
    lists = begun().recommend(found, list_ids=names(n))
    return [
        TrainingUpdate.of(f"l{i}", found[i], lists[i], lists.propensities[i], (rng.random(3) < 0.5) * 1.0)
        for i in range(n)
    ]


def learners() -> list[lw.OnlineSCP]:
    return [
        lw.OnlineSCP(3, random_state=0),
        lw.OnlineSCP(3, explore="epsilon", penalty=2.0, random_state=0),
        lw.OnlineSCP(3, explore="exp4", policies=[Linear(np.eye(11)[0]), Linear(-np.eye(11)[0])], random_state=0),
    ]


@pytest.mark.parametrize("number", range(3))
def test_updates_are_the_same_to_the_last_bit_in_one_call_or_in_many(number: int) -> None:
    one, many = (learners()[number].begin(problems()) for _ in range(2))
    one.update(records())
    for record in records():
        many.update([record])
    assert same(one, many)
    shown = [learner.recommend(problems(30), list_ids=names(30)) for learner in (one, many)]
    assert np.array_equal(shown[0].propensities, shown[1].propensities)
    assert shown[0] == shown[1]


@pytest.mark.parametrize("number", range(3))
def test_state_and_file_bring_back_everything(number: int, tmp_path: Path) -> None:
    learner = learners()[number].begin(problems()).update(records())
    restored = learners()[number].begin(problems()).restore(learner.state())
    learner.save(tmp_path / "model")
    loaded = lw.load(tmp_path / "model")
    for other in (restored, loaded):
        assert same(learner, other)
        assert other.version == 40
        assert other.recommend(problems(20), list_ids=names(20)) == begun_again(learner).recommend(
            problems(20), list_ids=names(20)
        )
        other.update(records()[:5])
        assert same(other, begun_again(learner).update(records()[:5]))


@pytest.mark.parametrize("lost", ["seed_", "exploration_", "features_", "signature_", "per_size_", "learner_"])
def test_a_file_that_lacks_a_part_is_refused(lost: str, tmp_path: Path) -> None:
    begun().update(records()).save(tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as whole:
        members = {name: whole.read(name) for name in whole.namelist()}
    manifest = json.loads(members["manifest.json"])
    del manifest["model"]["fields"][lost]
    with zipfile.ZipFile(tmp_path / "less", "w") as less:
        for name, data in (members | {"manifest.json": json.dumps(manifest).encode()}).items():
            less.writestr(name, data)
    with pytest.raises(InputError, match="cannot be loaded"):
        lw.load(tmp_path / "less")


def begun_again(learner: lw.OnlineSCP) -> lw.OnlineSCP:
    """A twin whose lists do not wait."""
    return lw.OnlineSCP(**learner.get_params()).begin(problems()).restore(learner.state())


def test_a_state_is_a_copy() -> None:
    learner = begun().update(records())
    before = learner.state()
    kept = {key: value.copy() for key, value in before.items()}
    learner.update(records())
    assert all(np.array_equal(before[key], kept[key]) for key in kept)


def test_a_state_of_another_model_changes_nothing() -> None:
    learner, other = begun().update(records()), lw.OnlineSCP(3).begin(lw.Problems.from_arrays(np.zeros((1, 4, 2))))
    before = learner.state()
    for state in (other.state(), {}, {key: value for key, value in before.items() if key != "version"}):
        with pytest.raises(InputError, match="state"):
            learner.restore(state)
    assert all(np.array_equal(value, before[key]) for key, value in learner.state().items())


def fitted(**options: Any) -> tuple[lw.SCP, lw.Problems]:
    found = problems(300, 8)
    found = found.with_reward(lw.rewards.AnySuccess(found.features[:, 0] > 0.8))
    return lw.SCP(**({"length": 3, "effort": "fast", "random_state": 0} | options)).fit(found), found


def test_a_warm_start_knows_what_the_model_knows_and_learns_on() -> None:
    model, found = fitted()
    learner = lw.OnlineSCP.from_model(model, random_state=0)
    assert learner.predict(found) == model.predict(found)
    for i in range(300):  # the world has turned: now small first features are liked
        problem = found[i]
        lists = learner.recommend(problem, list_ids=[str(i)])
        learner.feedback(str(i), problem.features[lists[0], 0] < 0.2)
    assert learner.playing_.policy.weights[0] < model.policy_.weights[0]


def test_prior_weight_says_how_much_training_counts() -> None:
    model, found = fitted()
    steady, quick = (lw.OnlineSCP.from_model(model, prior_weight=weight, random_state=0) for weight in (1.0, 0.01))
    assert quick.predict(found) == model.predict(found)
    for learner in (steady, quick):
        learner.update([TrainingUpdate.of(str(i), found[i].without_reward(), [0, 1], None, [0, 0]) for i in range(50)])
    moved = [np.abs(learner.playing_.policy.weights - model.policy_.weights).max() for learner in (steady, quick)]
    assert moved[1] > 2 * moved[0]


def test_what_cannot_be_a_warm_start() -> None:
    with pytest.raises(InputError, match="Starting from problems or from a model"):
        lw.OnlineSCP.from_model(fitted()[0], explore="exp4", policies=[Linear(np.ones(3))])
    with pytest.raises(InputError, match="fitted SCP"):
        lw.OnlineSCP.from_model("model")  # type: ignore[arg-type]


def test_lists_keep_to_the_budget_and_gains_are_learned_per_size() -> None:
    found = problems(50, sizes=np.random.default_rng(0).uniform(1, 3, 300))
    learner = lw.OnlineSCP(budget=4.0, random_state=0)
    lists = learner.recommend(found, list_ids=names(50))
    spent = [found.sizes[found.offsets[i] + lists[i]].sum() for i in range(50)]
    assert max(spent) <= 4.0
    assert np.isnan(lists.propensities[lists.rows < 0]).all()
    assert learner.feedback(names(50), [np.ones(len(one)) for one in lists]) == 50
    by_hand = sum((1.0 / found.sizes[found.offsets[i] + lists[i]]) @ learner._weights(len(lists[i])) for i in range(50))
    bias = learner.features_.names().index("bias")
    assert sum(learner.state()[f"learner.sums_.{k}.right"][bias] for k in range(5)) == pytest.approx(by_hand)


def test_too_few_candidates() -> None:
    with pytest.raises(InputError, match="allow_short=True"):
        begun(length=7).recommend(problems())
    assert (begun(length=7, allow_short=True).recommend(problems()).lengths == 6).all()


@pytest.mark.parametrize(
    "features",
    [Candidate() + Distance() + Position(), Distance(mean=False), Distance(minimum=False) + Position(), Candidate()],
)
def test_shown_rows_are_those_of_the_walk_to_the_last_bit(features: lw.features.Features) -> None:
    found = problems(3, context=np.random.default_rng(5).random((3, 2)))
    view, picks = features.fit(found), np.array([4, 0, 2, 5])
    for problem in found:
        assert np.array_equal(shown_rows(view, problem, picks).table, _walk_along(view, problem, picks).table)


def test_crossed_features_are_learned_item_by_item() -> None:
    found = problems(60, catalogue=np.tile(np.arange(6), 60), context=np.random.default_rng(1).random((60, 2)))
    learner = lw.OnlineSCP(2, random_state=0, penalty=1.0)
    learner.recommend(found, list_ids=names(60))
    lists = learner._memory._shown["l0"][0]
    learner.feedback(names(60), [one == 3 for one in lists])  # item 3 is always liked
    assert learner.playing_.policy.item_weights.shape == (6, 3)
    assert all(3 in one for one in learner.predict(found))


def test_exp3_and_exp4_find_what_is_liked() -> None:
    found = problems(1, catalogue=np.arange(6))
    up, down = Linear(np.array([0.0, 1.0, 0.0])), Linear(np.array([0.0, -1.0, 0.0]))
    exp3 = lw.OnlineSCP(1, explore="exp3", random_state=0)
    exp4 = lw.OnlineSCP(1, explore="exp4", policies=[up, down], features=Candidate(), random_state=0)
    best = int(found.features[:, 1].argmax())
    for i in range(400):
        for learner in (exp3, exp4):
            lists = learner.recommend(found, list_ids=[str(i)])
            learner.feedback(str(i), lists[0] == best)
    assert exp3.predict(found)[0].tolist() == [best]
    assert exp4.learner_.probabilities_[0] > 0.9


def test_late_feedback_counts_with_the_propensity_that_it_was_shown_with() -> None:
    found = problems(1, catalogue=np.arange(6))
    learner = lw.OnlineSCP(1, explore="exp3", random_state=0).begin(found)
    record = TrainingUpdate.of("late", found, [2], [0.25], [1.0])
    learner.update([record])
    assert learner.learner_.gains_[2] == pytest.approx(1.0 / 0.25)
    with pytest.raises(InputError, match="no propensities"):
        learner.update([TrainingUpdate.of("b", found, [2], None, [1.0])])


def test_lists_that_wait_are_forgotten_from_the_oldest_on() -> None:
    learner = begun(memory=2)
    learner.recommend(problems(3), list_ids=["a", "b", "c"])
    with pytest.raises(InputError, match="shown before the last 2 lists"):
        learner.feedback("a", [0, 0, 0])
    assert learner.feedback(["b", "c"], [[0, 0, 0], [0, 0, 0]]) == 2
    forgetful = begun(memory=0)
    forgetful.recommend(problems(1), list_ids=["a"])
    with pytest.raises(InputError, match="not known"):
        forgetful.feedback("a", [0, 0, 0])


def test_threads_draw_what_one_thread_draws() -> None:
    found, learner = problems(64), begun(memory=1000)
    alone = begun().recommend(found, list_ids=names(64))
    with ThreadPoolExecutor(4) as pool:
        lists = list(pool.map(lambda i: learner.recommend(found[i], list_ids=[f"l{i}"]), range(64)))
    assert all(np.array_equal(lists[i][0], alone[i]) for i in range(64))
    with ThreadPoolExecutor(4) as pool:
        counted = list(pool.map(lambda i: learner.feedback(f"l{i // 2}", [0, 1, 0]), range(128)))
    assert sum(counted) == 64 == learner.version


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"explore": "ucb"}, "explore must be one of"),
        ({"explore": "exp4"}, "Pass policies"),
        ({"explore": "exp3"}, "catalogue"),
        ({"slots": "two"}, "slots must be"),
        ({"memory": -1}, "memory must be"),
        ({"length": 0}, "length must be at least 1"),
        ({"weighting": "none"}, "weighting must be"),
        ({"penalty": 0}, "penalty must be above 0"),
        ({"features": "all"}, "features must be"),
    ],
)
def test_bad_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        lw.OnlineSCP(**options).recommend(problems())


@pytest.mark.parametrize(
    "options", [{"learner": "boosting"}, {"explore": "exp4", "policies": [Uniform()]}, {"explore": "exp3"}]
)
def test_only_a_ridge_regression_starts_from_measured_problems(options: dict[str, Any]) -> None:
    learner = lw.OnlineSCP(2, **options)
    told = r'Starting from problems or from a model needs learner="ridge" and explore="igw" or "epsilon"\. Got '
    with pytest.raises(InputError, match=told + f".*{next(iter(options.values()))!r}.*fit_log"):
        learner.fit(rewarded())
    assert vars(learner).keys() == lw.OnlineSCP().get_params().keys()
    with pytest.raises(InputError, match=told):
        lw.OnlineSCP.from_model(lw.SCP(length=2, effort="fast").fit(rewarded()), **options)


def rewarded() -> lw.Problems:
    x = np.random.default_rng(0).random((20, 5, 2))
    catalogue = np.tile(np.arange(5), 20)
    return lw.Problems.from_arrays(x, catalogue=catalogue, reward=lw.rewards.AnySuccess(x[..., 0] > 0.7))


def test_what_needs_a_beginning() -> None:
    learner = lw.OnlineSCP(3)
    for call in (lambda: learner.predict(problems()), lambda: learner.state(), lambda: learner.update([])):
        with pytest.raises(InputError, match="Call begin or recommend first"):
            call()
    with pytest.raises(InputError, match="needs to know how many slots"):
        begun(slots="one", budget=2.0).recommend(problems(sizes=np.ones(48)))


def test_exploration_can_be_given_as_an_object() -> None:
    given = InverseGap(5.0)
    learner = begun(explore=given)
    assert learner.exploration_ is not given
    assert learner.exploration_.scale == 5.0
    assert begun(explore=Epsilon(0.0)).recommend(problems()).propensities.min() == 1.0
