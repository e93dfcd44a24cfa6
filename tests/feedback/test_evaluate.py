"""Off-policy estimates: by hand, on policy, and on simulated logs."""

from __future__ import annotations

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.evaluation.values import list_values
from listwright.features.auto import paper_features
from listwright.feedback import EvidenceWarning, Log, estimators, evaluate
from listwright.feedback.estimators import cascade_doubly_robust, cumulative_weights, per_position
from listwright.feedback.explore import Epsilon
from listwright.feedback.targets import target_chances
from listwright.lab.simulate.news import news

IDS = [str(i) for i in range(4)]


def small_log(propensities: object = None) -> Log:
    """Two of three candidates; lists 0 and 1 begin alike."""
    found = lw.Problems.from_arrays(np.arange(12.0).reshape(4, 3, 1))
    rows = np.array([[0, 1], [3, 5], [7, 6], [9, 10]])
    chances = [[0.5, 0.5], [0.5, 0.25], [0.25, 0.5], [0.5, 0.5]] if propensities is None else propensities
    log = Log()
    log.append(lw.Lists(found, rows), propensities=chances, list_ids=IDS)
    log.feedback(IDS, [[1, 0], [1, 1], [0, 1], [0, 1]])
    return log


def first_two(problems: lw.Problems) -> lw.Lists:
    return lw.Lists(problems, problems.offsets[:-1, None] + np.array([0, 1]))


def test_estimates_by_hand() -> None:
    with pytest.warns(EvidenceWarning, match=r"effective sample size is 2.0 of 4 lists"):
        found = evaluate(small_log(), first_two)
    # w(1) = 2, 2, 0, 2 and w(2) = 4, 0, 0, 4
    assert found.slate_ips.value == pytest.approx((4 * 1 + 4 * 1) / 4)
    assert found.self_normalised.value == pytest.approx(8 / 8)
    assert found.per_position_ips.value == pytest.approx(((2 + 0) + (2 + 0) + 0 + (0 + 4)) / 4)
    assert found.effective_size == pytest.approx(8**2 / 32)
    assert found.slate_ips.low <= found.slate_ips.value <= found.slate_ips.high


def test_targets_by_hand() -> None:
    logged = small_log().answered()
    chances = target_chances(first_two, logged)
    np.testing.assert_array_equal(chances[0].reshape(4, 3), [[1, 0, 0]] * 4)
    np.testing.assert_array_equal(chances[1].reshape(4, 3), [[0, 1, 0], [0, 1, 0], [0, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(cumulative_weights(logged, chances), [[2, 4], [2, 0], [0, 0], [2, 4]])


def news_policy(problems: lw.Problems, share: float, seed: int) -> lw.OnlineSCP:
    model = lw.SCP(3, features=paper_features(), random_state=0).fit(problems)
    return lw.OnlineSCP.from_model(model, explore=Epsilon(share), random_state=seed, memory=0)


def drawn_log(policy: lw.OnlineSCP, valued: lw.Problems, number: int) -> Log:
    rng = np.random.default_rng([number, 4])
    shown = policy.recommend(valued, list_ids=[f"{number}, {i}" for i in range(len(valued))])
    clicks = rng.random(shown.rows.shape) < valued.reward.tables["success"].values[shown.rows]
    log = Log(cascade=True)
    log.append(shown)
    log.feedback(shown.list_ids, clicks & (np.cumsum(clicks, axis=1) == 1))
    return log


@pytest.fixture(scope="module")
def world() -> tuple[lw.OnlineSCP, lw.OnlineSCP, lw.Problems]:
    """Two policies and visits with click probabilities."""
    readers = news(pool=6, random_state=7)
    train = readers.visits(range(75), per_user=4, random_state=1)
    valued = readers.visits(range(75), per_user=60, sampled=False, random_state=2)
    return news_policy(train[:60], 0.8, 0), news_policy(train, 0.4, 1), valued


def test_a_policy_that_made_the_log_is_worth_what_the_log_says(
    world: tuple[lw.OnlineSCP, lw.OnlineSCP, lw.Problems],
) -> None:
    logger, _, valued = world
    log = drawn_log(logger, valued[:300], 0)
    found, mean = evaluate(log, logger), np.mean([record.outcomes.sum() for record in log.records()])
    for name in ("slate_ips", "self_normalised", "per_position_ips"):
        assert getattr(found, name).value == pytest.approx(mean, rel=1e-3)  # the compiled walk rounds otherwise
    assert found.effective_size == pytest.approx(300, rel=1e-3)
    assert found.cascade_dr.value == pytest.approx(mean, abs=0.05)


@pytest.mark.parametrize("slots", ["all", "one"])
def test_logged_propensities_are_the_chances_of_the_policy_that_drew(
    world: tuple[lw.OnlineSCP, lw.OnlineSCP, lw.Problems], slots: str
) -> None:
    logger, _, valued = world
    logger = lw.OnlineSCP(**(logger.get_params(deep=False) | {"slots": slots, "explore": "igw"})).begin(valued[:50])
    logger.update([lw.feedback.Record.of(str(i), valued[i], [0, 1], None, [1, 0]) for i in range(20)])
    logged = drawn_log(logger, valued[:100], 1).answered()
    weights = cumulative_weights(logged, target_chances(logger, logged))
    np.testing.assert_allclose(weights, 1.0, rtol=1e-3)


def test_intervals_cover_the_truth_and_positions_err_less_than_slates(
    world: tuple[lw.OnlineSCP, lw.OnlineSCP, lw.Problems],
) -> None:
    logger, target, valued = world
    true = list_values(target.recommend(valued, list_ids=[str(i) for i in range(len(valued))]), valued).mean()
    covered, errors, count = np.zeros(4), np.zeros(4), 40
    for i in range(count):
        some = np.random.default_rng([i, 3]).choice(len(valued), size=700, replace=False)
        told = evaluate(drawn_log(logger, valued[some], i), target, random_state=i)
        each = [told.slate_ips, told.self_normalised, told.per_position_ips, told.cascade_dr]
        covered += [one.low <= true <= one.high for one in each]
        errors += [abs(one.value - true) for one in each]
    assert (covered[2:] >= 0.85 * count).all()
    assert (errors[2:] < errors[0]).all()


@pytest.mark.parametrize("level", [0.0, 0.7, -3.0])
def test_the_doubly_robust_estimate_is_right_whatever_its_model_says(
    level: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over all lists, each as likely as it was, what a model foretells cancels out."""
    monkeypatch.setattr(estimators, "_ridge", lambda table, target: np.full(table.shape[1] + 1, level))
    found = lw.Problems.from_arrays(np.random.default_rng(0).random((1, 3, 2)))
    rows = np.array([[i, j] for i in range(3) for j in range(3) if i != j])
    worth = np.array([0.1, 0.5, 0.9])
    many = lw.Problems.concat([found] * 6)
    log = Log()
    log.append(lw.Lists(many, rows + many.offsets[:-1, None]), propensities=np.tile([1 / 3, 1 / 2], (6, 1)))
    log.feedback(list(log._places), worth[rows])
    logged = log.answered()
    chances = target_chances(first_two, logged)
    weights = cumulative_weights(logged, chances)
    assert per_position(weights, logged.outcomes).mean() == pytest.approx(0.6)
    told = cascade_doubly_robust(logged, chances, weights, logged.outcomes)
    assert told.mean() == pytest.approx(0.6)
    assert level == 0.0 or told.std() != pytest.approx(per_position(weights, logged.outcomes).std())


def test_lists_without_propensities_are_left_out_with_a_warning() -> None:
    some = [[0.5, 0.5], [np.nan, np.nan], [0.25, 0.5], [0.5, 0.5]]
    with pytest.warns(EvidenceWarning) as told:
        found = evaluate(small_log(some), first_two)
    assert found.n_lists == 3
    assert any("1 of 4 lists have no propensities; they are left out" in str(one.message) for one in told)
    with pytest.raises(InputError, match="No list of this log has propensities"):
        evaluate(small_log(np.full((4, 2), np.nan)), first_two)


@pytest.mark.filterwarnings("ignore::listwright.feedback.EvidenceWarning")
def test_fitted_models_and_baselines_can_be_evaluated() -> None:
    found = lw.Problems.from_arrays(np.arange(12.0).reshape(4, 3, 1), reward=lw.rewards.AnySuccess(np.eye(4, 3)))
    model = lw.SCP(2, random_state=0).fit(found)
    by_walk, by_lists = evaluate(small_log(), model), evaluate(small_log(), model.predict)
    assert by_walk.slate_ips == by_lists.slate_ips
    evaluate(small_log(), lw.baselines.TopK(length=2).fit(found))


def test_what_cannot_be_evaluated() -> None:
    with pytest.raises(InputError, match="Log"):
        evaluate("log", first_two)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="confidence"):
        evaluate(small_log(), first_two, confidence=1.0)
    with pytest.raises(InputError, match="predict"):
        evaluate(small_log(), "policy")
    with pytest.raises(InputError, match="has an outcome yet"):
        evaluate(Log(), first_two)
    with pytest.raises(InputError, match="Ask for as many"):
        evaluate(small_log(), lambda problems: lw.Lists(problems, problems.offsets[:-1, None]))
    with pytest.raises(InputError, match="not fitted"):
        evaluate(small_log(), lw.SCP(2))
