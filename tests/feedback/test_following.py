"""Learning that follows the world: trees in the background, tastes that change, and items that are new."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.feedback import Log, TrainingUpdate
from listwright.feedback.gain_ridge import GainRidge
from listwright.feedback.gain_trees import FIRST, GainTrees
from tests.problem_tools import small_problems


def problems(n: int, seed: int = 0, items: int = 8) -> lw.Problems:
    return small_problems(n, items, 2, seed=seed, reward=None)


def records(n: int, liked: Any, *, first: int = 0, seed: int = 0) -> list[TrainingUpdate]:
    """Lists of two, drawn evenly; `liked` says which items are clicked."""
    rng, found = np.random.default_rng(seed), problems(n, seed)
    made = []
    for i in range(n):
        picks = rng.permutation(8)[:2]
        clicks = np.asarray(liked(found[i].features[picks]), dtype=float)
        made.append(TrainingUpdate.of(f"l{first + i}", found[i], picks, [1 / 8, 1 / 7], clicks))
    return made


def add(log: Log, record: TrainingUpdate) -> None:
    lists = lw.Lists(record.problem, record.picks[None])
    log.append(lists, list_ids=[record.list_id], propensities=record.propensities[None])
    log.feedback(record.list_id, record.outcomes)


def between(rows: Any) -> Any:
    """Items with a middling first feature: nothing that a linear model can learn."""
    return np.abs(rows[:, 0] - 0.5) < 0.2


def trees(**options: Any) -> lw.OnlineSCP:
    from sklearn.tree import DecisionTreeRegressor

    learner = options.pop("learner", DecisionTreeRegressor(min_samples_leaf=10, random_state=0))
    return lw.OnlineSCP(2, learner=learner, random_state=0, **options).begin(problems(20))


def share_liked(learner: lw.OnlineSCP, liked: Any) -> float:
    test = problems(200, seed=9)
    lists = learner.predict(test)
    return float(np.mean(liked(test.features[lists.rows.ravel()])))


@pytest.mark.parametrize("learner", ["boosting", None])
def test_trees_learn_what_a_line_cannot(learner: Any) -> None:
    made = records(800, between)
    options = {} if learner is None else {"learner": learner}
    assert share_liked(trees(**options).update(made), between) > 0.9
    assert share_liked(lw.OnlineSCP(2, random_state=0).begin(problems(20)).update(made), between) < 0.75


def test_the_regression_answers_before_there_are_trees_and_trees_take_over_at_a_fixed_list() -> None:
    learner, made = trees(), records(FIRST + 60, between)
    learner.update(made[: FIRST - 1])
    assert isinstance(learner.playing_.policy, lw.policies.Linear)
    learner.update(made[FIRST - 1 : FIRST + 20])  # in training
    assert isinstance(learner.playing_.policy, lw.policies.Linear)
    learner.update(made[FIRST + 20 :])
    assert isinstance(learner.playing_.policy, lw.policies.Estimator)


def test_trees_do_not_depend_on_how_feedback_comes_in() -> None:
    made = records(500, between)
    once, singly = trees().update(made), trees()
    for record in made:
        singly.update([record])
    test = problems(50, seed=4)
    assert once.predict(test) == singly.predict(test)
    mine, theirs = once.state(), singly.state()
    assert all(np.array_equal(mine[key], theirs[key]) for key in mine)


def test_states_and_files_bring_trees_back(tmp_path: Path) -> None:
    made, test = records(600, between), problems(50, seed=4)
    learner = trees().update(made[:420])  # with a training under way
    restored = trees().restore(learner.state())
    learner.save(tmp_path / "model")
    loaded = lw.load(tmp_path / "model")
    for other in (restored, loaded):
        assert other.predict(test) == learner.predict(test)
    learner.update(made[420:])
    for other in (restored, loaded):
        assert other.update(made[420:]).predict(test) == learner.predict(test)


def test_trees_forget_old_rows_and_can_be_explained() -> None:
    learner = trees()
    assert isinstance(learner.learner_, GainTrees)
    learner.learner_.keep = 400
    learner.update(records(900, between))
    assert len(learner.learner_.rows_) < 1300
    assert "score" in str(learner.predict(problems(1)).explain(0))


def test_a_log_is_learned_by_trees_at_once() -> None:
    log, made = Log(), records(400, between)
    for record in made:
        log.append(
            lw.Lists(record.problem, record.picks[None]), list_ids=[record.list_id], propensities=[[1 / 8, 1 / 7]]
        )
        log.feedback(record.list_id, record.outcomes)
    learner = lw.OnlineSCP(2, learner="boosting", random_state=0).fit_log(log)
    assert isinstance(learner.playing_.policy, lw.policies.Estimator)
    assert share_liked(learner, between) > 0.85


def large(rows: Any) -> Any:
    return rows[:, 0] > 0.7


def small(rows: Any) -> Any:
    return rows[:, 0] < 0.3


def test_a_half_life_follows_a_change_of_taste() -> None:
    steady, quick = (lw.OnlineSCP(2, half_life=life, random_state=0).begin(problems(20)) for life in (None, 60.0))
    for learner in (steady, quick):
        learner.update(records(600, large))
        assert share_liked(learner, large) > 0.75
        learner.update(records(250, small, first=600, seed=1))
    assert share_liked(quick, small) > 0.75
    assert share_liked(steady, small) < 0.5
    assert quick.playing_.learned < 100  # so exploration goes on


@pytest.mark.parametrize("half_life", [None, 3.0, 50.0])
def test_lists_at_once_are_lists_one_by_one(half_life: float | None) -> None:
    """The sums of `fit_log` against those of `update`, which start anew when they have grown large."""
    log, made = Log(), records(300, large)
    for record in made:
        log.append(
            lw.Lists(record.problem, record.picks[None]), list_ids=[record.list_id], propensities=[[1 / 8, 1 / 7]]
        )
        log.feedback(record.list_id, record.outcomes)
    options: dict[str, Any] = {"half_life": half_life, "penalty": 1.0, "random_state": 0}
    start, rest = log.answered_lists().problems, Log()
    at_once = lw.OnlineSCP(2, **options).begin(start).fit_log(log)
    one_by_one = lw.OnlineSCP(2, **options).begin(start).update(made)
    for record in made[150:]:
        add(rest, record)
    both = lw.OnlineSCP(2, **options).begin(start).update(made[:150]).fit_log(rest)
    for learner in (at_once, both):
        weights = learner.playing_.policy.weights, one_by_one.playing_.policy.weights
        np.testing.assert_allclose(*weights, rtol=1e-5, atol=1e-6)
        assert learner.playing_.learned == pytest.approx(one_by_one.playing_.learned)


def test_a_half_life_fades_by_half() -> None:
    learner = GainRidge(1.0, center=False, half_life=10.0)
    rows = lw.features.Rows(np.ones((1, 1), np.float32), np.array([0]), np.array([0, 1]))
    learner.open(rows)
    for gain in [1.0] + [0.0] * 10:
        learner.reveal(rows, np.array([gain]), np.ones(1), 0)
    lists = 0.5 ** (np.arange(11) / 10)
    assert learner.policy().weights[0] == pytest.approx(0.5 / (lists.sum() + 1.0))


@pytest.mark.parametrize("count", [40, 41, 42, 90])
def test_no_list_is_lost_when_sums_are_scaled_down(count: int) -> None:
    learner = GainRidge(1.0, center=False, half_life=1.0)
    rows = lw.features.Rows(np.ones((1, 1), np.float32), np.array([0]), np.array([0, 1]))
    learner.open(rows)
    for i in range(count):
        learner.reveal(rows, np.array([float(i == count - 1)]), np.ones(1), 0)
    assert learner.policy().weights[0] == pytest.approx(1.0 / 3.0)  # the latest list counts 1, all others together 1


def catalogue(n: int, items: int) -> lw.Problems:
    return lw.Problems.from_arrays(np.zeros((n, items, 0)), catalogue=np.arange(items))


@pytest.mark.parametrize("context", [False, True])
def test_new_items_of_a_catalogue_are_shown_soon(context: bool) -> None:
    def visit(items: int, i: int) -> lw.Problems:
        known = {"context": np.random.default_rng(i).random((1, 2))} if context else {}
        return lw.Problems.from_arrays(np.zeros((1, items, 0)), catalogue=np.arange(items), **known)

    learner = lw.OnlineSCP(1, random_state=0).begin(lw.Problems.concat([visit(6, i) for i in range(10)]))
    shown: list[int] = []
    for i in range(700):
        problem = visit(6 if i < 500 else 8, i)
        lists = learner.recommend(problem, list_ids=[str(i)])
        item = int(lists[0][0])
        shown.append(item)
        learner.feedback(str(i), [float(item == 2 or item == 7)])
    assert np.mean(np.array(shown[400:500]) == 2) > 0.8
    assert {6, 7} <= set(shown[500:600])
    assert learner.predict(visit(8, 0))[0][0] in (2, 7)
    assert learner.signature_.n_items == 8
    twin = lw.OnlineSCP(1, random_state=0).begin(lw.Problems.concat([visit(6, i) for i in range(10)]))
    twin.restore(learner.state())
    assert twin.predict(visit(8, 3)) == learner.predict(visit(8, 3))


def test_without_optimism_nothing_new_is_preferred() -> None:
    eager, plain = (lw.OnlineSCP(1, optimism=value, random_state=0).begin(catalogue(5, 4)) for value in (0.5, 0.0))
    made = [TrainingUpdate.of(str(i), catalogue(1, 4), [i % 4], [0.25], [1.0]) for i in range(200)]
    for learner in (eager, plain):
        learner.update(made)
    many = catalogue(300, 5)
    counts = [np.mean(learner.recommend(many).rows % 5 == 4) for learner in (eager, plain)]
    assert counts[0] > 2 * counts[1]
    assert plain.playing_.eager is None


def test_a_catalogue_does_not_grow_without_bounds_nor_by_mistake() -> None:
    learner = lw.OnlineSCP(1, random_state=0).begin(catalogue(5, 4))
    far = lw.Problems.from_arrays(np.zeros((1, 1, 0)), catalogue=[1_000_000])
    with pytest.raises(InputError, match="far beyond the 4 items"):
        learner.recommend(far)
    before = learner.state()
    learner.recommend(catalogue(3, 6))
    assert all(np.array_equal(value, before[key]) for key, value in learner.state().items())
    with pytest.raises(InputError, match="new; the model was trained on items 0 to 3"):
        lw.OnlineSCP(1, explore="exp3", random_state=0).begin(catalogue(5, 4)).recommend(catalogue(3, 6))


def test_position_bias_is_learned_around() -> None:
    """The good item always stands at the second position, which few look at."""
    rng = np.random.default_rng(0)
    found = lw.Problems.from_arrays(np.stack([rng.random((3000, 4)), np.ones((3000, 4))], axis=2))
    score = found.features[:, 0].reshape(-1, 4) + rng.normal(scale=0.1, size=(3000, 4))
    rows = found.offsets[:-1, None] + np.argsort(score, axis=1)[:, [0, 3]]
    clicks = rng.random((3000, 2)) < (0.4 + 0.5 * found.features[rows, 0]) * [1.0, 0.15]
    log = Log()
    log.append(lw.Lists(found, rows), list_ids=[str(i) for i in range(3000)])
    log.feedback([str(i) for i in range(3000)], clicks)
    plain, fair = (lw.OnlineSCP(1, features=lw.features.Candidate(standardize=False), random_state=0) for _ in range(2))
    plain.fit_log(log)
    fair.fit_log(log, propensity="examination")
    assert plain.playing_.policy.weights[0] < 0 < fair.playing_.policy.weights[0]


def test_predicted_lists_tell_their_reasons() -> None:
    learner = lw.OnlineSCP(2, random_state=0).begin(problems(20)).update(records(50, large))
    reasons = learner.predict(problems(2)).explain(1)
    assert len(reasons.picks) == 2
    assert "relevance" in str(reasons)
    exp3 = lw.OnlineSCP(1, explore="exp3", random_state=0).begin(catalogue(3, 4))
    assert len(exp3.predict(catalogue(1, 4)).explain(0).picks) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": "forest"}, "learner must be"),
        ({"half_life": 0.0}, "half_life must be above 0"),
        ({"leverage": -1.0}, "leverage must be above 0"),
    ],
)
def test_bad_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        lw.OnlineSCP(2, **options).begin(problems(5))


def test_feedback_that_changes_cannot_be_taken_back_by_trees() -> None:
    learner, made = trees(), records(3, large)
    learner.update(made)
    first = made[0]
    again = TrainingUpdate.of(first.list_id, first.problem, first.picks, None, [0, 0], earlier=first.outcomes)
    with pytest.raises(InputError, match=r"cannot take back|cannot change"):
        learner.update([again])
