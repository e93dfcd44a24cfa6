"""Propensities and examination that a log does not have: estimated, marked, and near the truth."""

from __future__ import annotations

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.feedback import EvidenceWarning, Log, evaluate, examination
from listwright.feedback.explore import Softmax
from listwright.feedback.off_policy.propensities import sensitivity, with_propensities
from tests.feedback.off_policy.logs import BEST, best, even_log


def softmax_log(n: int = 1500) -> tuple[Log, np.ndarray]:
    """Lists drawn by a softmax of the first feature, and their true propensities."""
    rng = np.random.default_rng(0)
    found = lw.Problems.from_arrays(rng.random((n, 5, 2)))
    model = lw.SCP(2, effort="fast", random_state=0).fit(
        found.with_reward(lw.rewards.AnySuccess(found.features[:, 0] > 0.8))
    )
    shown = lw.OnlineSCP.from_model(model, explore=Softmax(0.3), random_state=0).recommend(found)
    log = Log()
    log.append(lw.Lists(found, shown.rows), list_ids=shown.list_ids)
    log.feedback(shown.list_ids, rng.random(shown.rows.shape) < found.features[shown.rows, 0])
    return log, shown.propensities


def test_a_model_of_the_logging_policy_finds_its_chances() -> None:
    log, true = softmax_log()
    found = with_propensities(log.answered_lists(), "model").propensities
    assert np.corrcoef(np.log(found).ravel(), np.log(true).ravel())[0, 1] > 0.95
    np.testing.assert_allclose(found.mean(axis=0), true.mean(axis=0), rtol=0.05)


def test_even_draws_are_seen_to_be_even() -> None:
    log = even_log(1500, known=False)
    found = with_propensities(log.answered_lists(), "model").propensities
    np.testing.assert_allclose(found, np.tile([1 / 4, 1 / 3], (1500, 1)), rtol=0.2)
    counted = with_propensities(even_log(1500, known=False, ids=True).answered_lists(), "frequency").propensities
    np.testing.assert_allclose(counted, np.tile([1 / 4, 1 / 3], (1500, 1)), rtol=0.15)


def test_estimates_by_estimated_propensities_are_marked_and_right() -> None:
    log = even_log(2000, known=False)
    with pytest.raises(InputError, match=r'No list of this log has propensities.*propensity="model"'):
        evaluate(log, best)
    found = evaluate(log, best, propensity="model")
    assert found.cascade_dr.low < BEST < found.cascade_dr.high
    assert found.propensity == "model"
    assert found.sensitivity is not None
    assert found.sensitivity[0] < found.cascade_dr.value < found.sensitivity[1]
    assert "Propensities were estimated (model)" in str(found)
    assert evaluate(even_log(800), best).sensitivity is None


def test_what_cannot_be_estimated() -> None:
    with pytest.raises(InputError, match="have no ids"):
        evaluate(even_log(50, known=False), best, propensity="frequency")
    only = even_log(50, length=4, known=False)
    with pytest.raises(InputError, match="no candidates besides those shown"):
        evaluate(only, lambda problems: best(problems, 4), propensity="model")


def test_lists_that_look_undrawn_are_told() -> None:
    problems = lw.Problems.from_arrays(np.random.default_rng(0).random((600, 4, 2)))
    log = Log()
    log.append(best(problems), list_ids=[str(i) for i in range(600)])
    log.feedback([str(i) for i in range(600)], np.random.default_rng(1).random((600, 2)) < 0.5)
    with pytest.warns(EvidenceWarning) as told:
        evaluate(log, lambda found: lw.Lists(found, found.offsets[:-1, None] + np.array([0, 1])), propensity="model")
    assert any("as if nothing had been drawn" in str(one.message) for one in told)


def test_sensitivity_by_brute_force() -> None:
    rng = np.random.default_rng(0)
    weights, values = rng.random((6, 1)), rng.random((6, 1))
    low, high = sensitivity(weights, values, factor=1.5)
    tried = []
    for bits in range(2**6):
        scaled = weights[:, 0] * np.where([bits >> i & 1 for i in range(6)], 1.5, 1 / 1.5)
        tried.append((scaled * values[:, 0]).sum() / scaled.sum())
    assert (low, high) == (pytest.approx(min(tried)), pytest.approx(max(tried)))


LOOKS = (1.0, 0.6, 0.3)


@pytest.mark.parametrize("method", ["em", "harvest"])
def test_examination_is_found_again(method: str) -> None:
    log = even_log(4000, length=3, looks=LOOKS, ids=method == "harvest")
    np.testing.assert_allclose(examination(log, method=method), LOOKS, atol=0.07)


def test_examination_harvests_where_it_can_and_says_where_it_cannot() -> None:
    assert np.array_equal(
        examination(even_log(2000, length=2, looks=(1.0, 0.5), ids=True)),
        examination(even_log(2000, length=2, looks=(1.0, 0.5), ids=True), method="harvest"),
    )
    with pytest.raises(InputError, match="shown often enough"):
        examination(even_log(100), method="harvest")
    with pytest.raises(InputError, match="method must be one of"):
        examination(even_log(100), method="guess")
    with pytest.raises(InputError, match="stop at the first click"):
        examination(Log(cascade=True))


def test_examination_moves_clicks_without_any_exploration() -> None:
    """The log always shows the same order; the policy turns it round."""
    rng = np.random.default_rng(0)
    problems = lw.Problems.from_arrays(rng.random((3000, 3, 2)))
    order = np.argsort(rng.random((3000, 3)), axis=1)  # nobody knows how it was drawn
    rows = problems.offsets[:-1, None] + order
    log = Log()
    log.append(lw.Lists(problems, rows), list_ids=[str(i) for i in range(3000)])
    log.feedback([str(i) for i in range(3000)], rng.random((3000, 3)) < problems.features[rows, 0] * LOOKS)

    def by_liking(found: lw.Problems) -> lw.Lists:
        ranked = np.argsort(-found.features[:, 0].reshape(-1, 3), axis=1)
        return lw.Lists(found, found.offsets[:-1, None] + ranked)

    found = evaluate(log, by_liking, propensity="examination")
    true = float(np.mean(np.sort(problems.features[:, 0].reshape(-1, 3), axis=1)[:, ::-1] @ LOOKS))
    assert found.recommended == "examination"
    assert found.value.value == pytest.approx(true, abs=0.03)
    assert found.value.effective_size > 1000
    with pytest.raises(InputError, match="sum of their clicks"):
        evaluate(log, by_liking, propensity="examination", value="any")
