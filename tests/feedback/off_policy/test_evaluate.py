"""Off-policy estimates: by hand, on policy, and on simulated logs."""

from __future__ import annotations

import warnings
from dataclasses import asdict

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.evaluation.values import list_values
from listwright.features.auto import paper_features
from listwright.feedback import EvidenceWarning, Log, evaluate
from listwright.feedback.explore import Epsilon
from listwright.feedback.off_policy.estimates import estimate_of
from listwright.feedback.off_policy.estimators import InfluenceValues, _with_bias, estimators, support_size
from listwright.feedback.off_policy.evidence import Evidence, OutcomeRegression, evidence, gains_of
from listwright.feedback.off_policy.propensities import with_propensities
from listwright.feedback.off_policy.targets import as_target
from listwright.simulate.news import news

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


def seen(log: Log, policy: object) -> Evidence:
    return evidence(gains_of(log.answered_lists(), cascade=log.cascade, value="sum"), as_target(policy))


def test_estimates_by_hand() -> None:
    with pytest.warns(EvidenceWarning, match=r"effective sample size is 2.0 of 4 lists"):
        found = evaluate(small_log(), first_two)
    # w(1) = 2, 2, 0, 2 and w(2) = 4, 0, 0, 4
    assert found.slate_ips.value == pytest.approx((4 * 1 + 4 * 1) / 4)
    assert found.self_normalised.value == pytest.approx(8 / 8)
    # by position: sum of w * r / sum of w
    assert found.per_position_sn.value == pytest.approx((2 + 2) / 6 + 4 / 8)
    assert found.per_position_ips.value == pytest.approx(((2 + 0) + (2 + 0) + 0 + (0 + 4)) / 4)
    assert found.effective_size == pytest.approx(8**2 / 32)
    assert found.slate_ips.low <= found.slate_ips.value <= found.slate_ips.high


def test_targets_by_hand() -> None:
    log = small_log()
    chances = list(as_target(first_two).chances(log.answered_lists()))
    np.testing.assert_array_equal(chances[0].reshape(4, 3), [[1, 0, 0]] * 4)
    # after an item that it would not have shown, the policy goes on with the first of its own
    np.testing.assert_array_equal(chances[1].reshape(4, 3), [[0, 1, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]])
    found = seen(log, first_two)
    np.testing.assert_array_equal(found.weights, [[2, 4], [2, 0], [0, 0], [2, 4]])
    np.testing.assert_array_equal(found.same_slot, [[1, 1], [1, 0], [0, 0], [1, 1]])
    np.testing.assert_array_equal(found.any_slot, [[1, 1], [1, 0], [1, 1], [1, 1]])


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
    found, mean = evaluate(log, logger), np.mean([record.outcomes.sum() for record in log.updates()])
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
    logger.update([lw.feedback.TrainingUpdate.of(str(i), valued[i], [0, 1], None, [1, 0]) for i in range(20)])
    np.testing.assert_allclose(seen(drawn_log(logger, valued[:100], 1), logger).weights, 1.0, rtol=1e-3)


def test_intervals_cover_the_truth_and_positions_err_less_than_slates(
    world: tuple[lw.OnlineSCP, lw.OnlineSCP, lw.Problems],
) -> None:
    logger, target, valued = world
    true = list_values(target.recommend(valued, list_ids=[str(i) for i in range(len(valued))]), valued).mean()
    names = ("slate_ips", "self_normalised", "per_position_ips", "per_position_dr", "cascade_dr", "switch")
    covered, errors, count = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0), 40
    for i in range(count):
        some = np.random.default_rng([i, 3]).choice(len(valued), size=700, replace=False)
        told = evaluate(drawn_log(logger, valued[some], i), target, random_state=i).estimates
        for name in names:
            covered[name] += told[name].low <= true <= told[name].high
            errors[name] += abs(told[name].value - true)
    assert all(covered[name] >= 0.85 * count for name in names[2:])
    assert all(errors[name] < errors["slate_ips"] for name in names[2:])
    assert errors["switch"] == min(errors.values())


def all_lists() -> Log:
    """Every list of two of three items, each as likely as it was."""
    found = lw.Problems.from_arrays(np.random.default_rng(0).random((1, 3, 2)))
    rows = np.array([[i, j] for i in range(3) for j in range(3) if i != j])
    many = lw.Problems.concat([found] * 6)
    log = Log()
    log.append(lw.Lists(many, rows + many.offsets[:-1, None]), propensities=np.tile([1 / 3, 1 / 2], (6, 1)))
    log.feedback(list(log._places), np.array([0.1, 0.5, 0.9])[rows])
    return log


@pytest.mark.parametrize("level", [0.0, 0.3, 0.7])
def test_doubly_robust_and_pseudo_inverse_estimates_are_right_whatever_the_model_says(
    level: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over all lists, each as likely as it was, what a model says cancels out."""
    monkeypatch.setattr(OutcomeRegression, "predict", lambda self, table, owners, position: np.full(len(table), level))
    parts = estimators(seen(all_lists(), first_two))
    for name in ("per_position_ips", "per_position_dr", "cascade_dr", "slate_ips", "pseudo_inverse"):
        assert parts[name].value == pytest.approx(0.6), name
    assert parts["direct"].value == pytest.approx(2 * level)


def test_pseudo_inverse_weights_are_those_of_the_design() -> None:
    """The closed form for even draws against the pseudo-inverse of the matrix of pairs."""
    log = all_lists()
    rows = log.answered_lists().rows - log.answered_lists().problems.offsets[:-1, None]
    flags = np.zeros((6, 2, 3))
    for i, one in enumerate(rows):
        flags[i, [0, 1], one] = 1.0
    flat = flags.reshape(6, 6)
    target = np.array([1.0, 0, 0, 0, 1, 0])
    weights = flat @ np.linalg.pinv(flat.T @ flat / 6) @ target
    values = log.answered_lists().outcomes.sum(axis=1)
    parts = estimators(seen(log, first_two))["pseudo_inverse"]
    assert parts.value == pytest.approx((weights * values).sum() / weights.sum())
    assert parts.effective_size == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


def test_direct_and_switch_have_the_interval_of_the_doubly_robust_estimate() -> None:
    found = evaluate(clicks_log(900), first_two)
    for one in (found.direct, found.switch):
        assert one.low <= found.cascade_dr.low
        assert one.high >= found.cascade_dr.high
        assert one.effective_size == found.cascade_dr.effective_size


def clicks_log(n: int, *, length: int = 2, likes: float = 0.4, logger: str = "even") -> Log:
    """Lists of two of four; any item is clicked with the same chance."""
    rng = np.random.default_rng(3)
    found = lw.Problems.from_arrays(rng.random((n, 4, 2)))
    shown = lw.OnlineSCP(length, random_state=0).begin(found).recommend(found, list_ids=[str(i) for i in range(n)])
    log = Log()
    if logger == "even":
        log.append(shown)
    else:
        log.append(first_two(found), propensities=np.ones((n, 2)), list_ids=shown.list_ids)
    log.feedback(shown.list_ids, rng.random(shown.rows.shape) < likes)
    return log


def last_two(problems: lw.Problems) -> lw.Lists:
    return lw.Lists(problems, problems.offsets[1:, None] - np.array([1, 2]))


def test_what_the_log_never_shows_has_no_evidence() -> None:
    with pytest.warns(EvidenceWarning, match="effective sample size is 0.0"):
        found = evaluate(clicks_log(300, logger="first"), last_two)
    assert str(found.slate_ips) == str(found.cascade_dr) == str(found.pseudo_inverse) == "no evidence"
    assert "by the model alone" in str(found.switch)
    assert found.to_dict()["estimates"]["slate_ips"]["value"] is None
    assert found.logged.low < 0.8 < found.logged.high


def test_a_part_of_a_policy_that_is_never_shown_is_no_evidence_either() -> None:
    assert support_size(np.repeat([1.0, 0.0], [100, 300])) == 0.0
    assert support_size(np.repeat([4.0, 0.0], [100, 300])) == 100.0

    def half(problems: lw.Problems) -> lw.Lists:
        first = np.arange(len(problems))[:, None] % 2 == 0
        return lw.Lists(problems, np.where(first, first_two(problems).rows, last_two(problems).rows))

    with pytest.warns(EvidenceWarning):
        assert str(evaluate(clicks_log(300, logger="first"), half).per_position_ips) == "no evidence"


def test_plain_weights_have_no_evidence_where_normalised_ones_do_without_a_twentieth() -> None:
    """A log that shows the policy's lists to 95 of 100 visitors: only division by the mean weight makes up for that."""

    def mostly(problems: lw.Problems) -> lw.Lists:
        rare = np.arange(len(problems))[:, None] % 20 == 0
        return lw.Lists(problems, np.where(rare, last_two(problems).rows, first_two(problems).rows))

    found = evaluate(clicks_log(2000, logger="first"), mostly)
    assert str(found.slate_ips) == str(found.per_position_ips) == "no evidence"
    assert found.self_normalised.effective_size == found.per_position_sn.effective_size == pytest.approx(1900)


def test_the_pseudo_inverse_allows_for_what_the_doubly_robust_estimate_shows_to_be_bias() -> None:
    """Half of the value, by every list: nothing of that is chance."""
    rng = np.random.default_rng(0)
    robust = InfluenceValues(rng.random(400), 400.0)
    same, half = (_with_bias(InfluenceValues(scale * robust.influence, 400.0), robust) for scale in (1.0, 0.5))
    assert same.bias == 0.0
    assert half.bias == pytest.approx(robust.value / 2, rel=0.01)
    assert estimate_of(half, 0.95, (0.0, 1.0), robust.influence).high > robust.value
    assert _with_bias(robust, InfluenceValues(robust.influence, 1.0)).bias == 0.0  # nothing to check it with


def test_intervals_stay_in_range_and_have_a_width() -> None:
    never, always = (evaluate(clicks_log(900, likes=likes), first_two, value="any") for likes in (0.0, 1.0))
    for found, value in ((never, 0.0), (always, 1.0)):
        for name, one in found.estimates.items():
            assert 0.0 <= one.low <= one.value <= one.high <= 1.0, name
            assert one.high - one.low > 0.01, name
        assert found.cascade_dr.value == pytest.approx(value, abs=0.02)


def test_value_any_counts_the_first_click_alone() -> None:
    log = clicks_log(900)
    logged = evaluate(log, first_two, value="any").logged.value
    assert logged == pytest.approx(np.mean([record.outcomes.max() for record in log.updates()]))


def test_switch_leaves_the_model_where_weights_show_that_it_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    log = clicks_log(2000)
    assert evaluate(log, first_two).switch.value == evaluate(log, first_two).direct.value
    monkeypatch.setattr(OutcomeRegression, "predict", lambda self, table, owners, position: np.full(len(table), 0.9))
    found = evaluate(log, first_two)
    assert found.direct.value == pytest.approx(1.8)
    assert found.switch.value == pytest.approx(0.8, abs=0.2)


def test_switch_keeps_the_correction_where_it_costs_nothing() -> None:
    found = evaluate(clicks_log(900, logger="first"), first_two)
    assert found.switch.value == found.cascade_dr.value
    assert found.switch.value != found.direct.value


def test_an_estimate_is_the_mean_of_its_parts() -> None:
    part = InfluenceValues(np.array([0.0, 1.0]), 2.0)
    assert (part.value, part.error) == (0.5, 0.5 / np.sqrt(2))


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
    model = lw.SCP(2, effort="fast", random_state=0).fit(found)
    by_walk, by_lists = evaluate(small_log(), model), evaluate(small_log(), model.predict)
    np.testing.assert_equal(asdict(by_walk.slate_ips), asdict(by_lists.slate_ips))  # NaN equals NaN there
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
        evaluate(small_log(), lw.SCP(2, effort="fast"))
    with pytest.raises(InputError, match="value must be one of sum, any"):
        evaluate(small_log(), first_two, value="clicks")
    with pytest.raises(InputError, match=r"must return listwright\.Lists"):
        evaluate(small_log(), lambda problems: [[0, 1]])


@pytest.mark.filterwarnings("ignore::listwright.feedback.EvidenceWarning")
@pytest.mark.parametrize(("rate", "n"), [(0.0, 60), (0.02, 600), (0.4, 100), (1.0, 60), (1.0, 300)])
def test_the_policy_of_the_log_earns_what_the_log_says_and_is_not_judged(rate: float, n: int) -> None:
    """Clicks that depend on nothing: a model finds chance differences, which are no differences between policies."""
    judged = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        problems, learner = lw.Problems.from_arrays(rng.random((n, 6, 2))), lw.OnlineSCP(3, random_state=seed)
        lists, log = learner.recommend(problems, list_ids=[str(i) for i in range(n)]), Log()
        log.append(lists)
        log.feedback(lists.list_ids, (rng.random(lists.rows.shape) < rate).astype(float))
        found = evaluate(log, learner)
        for name, one in found.estimates.items():
            assert np.isnan(one.low) or one.low <= found.logged.value <= one.high, name
        judged += found.against_log.verdict != "cannot tell"
    assert judged == 0


@pytest.mark.filterwarnings("ignore::listwright.feedback.EvidenceWarning")
def test_lists_that_are_all_worth_the_same_judge_no_policy() -> None:
    for rate in (0.0, 1.0):
        for seed in range(10):
            rng = np.random.default_rng(seed)
            problems, log = lw.Problems.from_arrays(rng.random((300, 4, 2))), Log()
            lists = lw.OnlineSCP(2, random_state=seed).recommend(problems, list_ids=[str(i) for i in range(300)])
            log.append(lists)
            log.feedback(lists.list_ids, np.full(lists.rows.shape, rate))
            found = evaluate(log, first_two)
            assert found.against_log.verdict == "cannot tell"
            assert found.switch.low <= 2 * rate <= found.switch.high


@pytest.mark.filterwarnings("ignore::listwright.feedback.EvidenceWarning")
@pytest.mark.parametrize(("items", "columns"), [(20, 0), (20, 1), (300, 0), (300, 1)])
def test_the_model_of_clicks_tells_items_apart_and_policies_see_all_of_them(items: int, columns: int) -> None:
    rng, n = np.random.default_rng(0), 2500
    worth = rng.random(items) * 0.5
    names = np.stack([rng.choice(items, 8, replace=False) for _ in range(n)]).ravel()
    found = lw.Problems.from_arrays(rng.random((n, 8, columns)), catalogue=names)
    rows = found.offsets[:-1, None] + np.stack([rng.choice(8, 3, replace=False) for _ in range(n)])
    log, ids = Log(), [str(i) for i in range(n)]
    log.append(lw.Lists(found, rows), list_ids=ids, propensities=np.tile([1 / 8, 1 / 7, 1 / 6], (n, 1)))
    log.feedback(ids, rng.random((n, 3)) < worth[names[rows]])

    def best(problems: lw.Problems) -> lw.Lists:
        order = np.argsort(-worth[problems.catalogue].reshape(-1, 8), axis=1)
        return lw.Lists(problems, order[:, :3] + problems.offsets[:-1, None])

    true = worth[names[best(found).rows]].sum(axis=1).mean()
    told = evaluate(log, best)
    assert told.direct.value == pytest.approx(true, rel=0.1 if items == 20 else 0.3)
    assert abs(told.pseudo_inverse.value - true) < 0.2
    assert abs(told.cascade_dr.value - true) < 0.3


def test_an_estimated_logging_policy_may_like_single_items() -> None:
    rng, n = np.random.default_rng(0), 1500
    found = lw.Problems.from_arrays(rng.random((n, 4, 1)), catalogue=np.tile(np.arange(4), n))
    chances = np.array([0.6, 0.2, 0.1, 0.1])
    picks = rng.choice(4, n, p=chances)
    log, ids = Log(), [str(i) for i in range(n)]
    log.append(lw.Lists(found, found.offsets[:-1, None] + picks[:, None]), list_ids=ids)
    log.feedback(ids, np.zeros((n, 1)))
    told = with_propensities(log.answered_lists(), "model").propensities[:, 0]
    np.testing.assert_allclose(told, chances[picks], rtol=0.25)


def test_a_verdict_and_a_warning_do_not_contradict_each_other() -> None:
    rng, n = np.random.default_rng(0), 340
    found = lw.Problems.from_arrays(np.zeros((n, 8, 0)), catalogue=np.tile(np.arange(8), n))
    picks = rng.integers(8, size=n)
    log, ids = Log(), [str(i) for i in range(n)]
    log.append(
        lw.Lists(found, found.offsets[:-1, None] + picks[:, None]), list_ids=ids, propensities=np.full((n, 1), 1 / 8)
    )
    log.feedback(ids, (rng.random(n) < np.where(picks == 3, 0.95, 0.1))[:, None])
    with warnings.catch_warnings():
        warnings.simplefilter("error", EvidenceWarning)
        told = evaluate(log, lambda problems: lw.Lists(problems, problems.offsets[:-1, None] + 3))
    assert told.effective_size < 50
    assert told.against_log.verdict == "roll out"
    with pytest.warns(EvidenceWarning, match="Do not trust"):
        unsure = evaluate(log, lambda problems: lw.Lists(problems, problems.offsets[:-1, None] + 4))
    assert unsure.against_log.verdict == "cannot tell"
