"""Intervals: of the right width, inside the bounds, and never of no width."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import listwright as lw
from listwright.evaluation.intervals import Estimate, bootstrap, estimate, means, means_from_moments, share_interval


def ends(one: Estimate | None) -> tuple[float, float]:
    assert one is not None
    assert one.low is not None
    assert one.high is not None
    return one.low, one.high


def test_means_are_students_t() -> None:
    values = np.random.default_rng(0).normal(size=(3, 12))
    found = means(values)
    for i, row in enumerate(values):
        low, high = stats.ttest_1samp(row, 0.0).confidence_interval()
        assert (found.low[i], found.high[i]) == pytest.approx((low, high))
    again = means_from_moments(values.mean(axis=1), values.var(axis=1, ddof=1), 12)
    np.testing.assert_allclose(again, found)


@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
@pytest.mark.parametrize("value", [0.0, 0.3, 1.0, 0.1 + 0.2])
def test_equal_values_have_an_interval_within_the_bounds(interval: str, value: float) -> None:
    low, high = ends(estimate(np.full(4, value), interval=interval, bounds=(0.0, 1.0)))
    assert 0.0 <= low <= value <= high <= 1.0
    assert high - low > 0.3
    narrow = ends(estimate(np.full(400, value), interval=interval, bounds=(0.0, 1.0)))
    assert 0.0 < narrow[1] - narrow[0] < 0.02


@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
def test_equal_values_without_bounds_have_no_interval(interval: str) -> None:
    found = estimate(np.full(4, 2.5), interval=interval)
    assert found == Estimate(2.5, None, None, 4)
    assert str(found) == "2.500"


@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
@pytest.mark.parametrize("hits", [0, 1, 3, 4])
def test_shares_stay_within_their_bounds(interval: str, hits: int) -> None:
    low, high = ends(estimate(np.arange(4.0) < hits, interval=interval, bounds=(0.0, 1.0)))
    assert 0.0 <= low <= hits / 4 <= high <= 1.0
    assert low < high


def test_values_of_0_and_1_have_wilsons_interval() -> None:
    expected = stats.binomtest(3, 50).proportion_ci(method="wilson")
    assert ends(estimate((np.arange(50) < 3).astype(float), bounds=(0.0, 1.0))) == pytest.approx(tuple(expected))
    assert share_interval(3, 50) == pytest.approx(tuple(expected))
    both = means(np.array([[0.0, 1.0, 1.0, 1.0], [0.2, 0.3, 0.4, 0.5]]), bounds=(0.0, 1.0))
    assert (both.low[0], both.high[0]) == pytest.approx(share_interval(3, 4))
    assert both.low[1] == pytest.approx(means(np.array([0.2, 0.3, 0.4, 0.5])).low)


def test_bounds_of_any_range() -> None:
    found = means(np.array([[-1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.9, 1.0, 0.8]]), bounds=(-1.0, 1.0))
    assert found.low[0] == pytest.approx(2 * share_interval(2, 3)[0] - 1)
    assert found.low[1] == -found.high[1] == -share_interval(0, 3)[1]
    assert found.high[2] == 1.0


@pytest.mark.parametrize("skewed", [False, True])
def test_bootstrap_intervals_cover_the_truth(skewed: bool) -> None:
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(200):
        values = rng.exponential(size=60) if skewed else rng.normal(1.0, size=60)
        low, high = bootstrap(values, np.ones(60), confidence=0.9, rng=rng)
        inside += low <= 1.0 <= high
    assert 168 <= inside <= 192


def test_many_cases_are_resampled_in_blocks() -> None:
    rng = np.random.default_rng(1)
    parts, totals = rng.exponential(size=200_000), rng.random(200_000)
    ratio = parts.sum() / totals.sum()
    error = (parts - ratio * totals).std() / np.sqrt(200_000) / totals.mean()
    low, high = bootstrap(parts, totals, confidence=0.95, rng=rng)
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.12)
    assert low < ratio < high


@pytest.mark.parametrize("parts", [np.zeros(5), np.ones(5), np.ones(1)])
def test_cases_that_do_not_differ_have_no_bootstrap_interval(parts: np.ndarray) -> None:
    assert np.isnan(bootstrap(parts, np.ones(len(parts)), confidence=0.95, rng=np.random.default_rng(0))).all()


def test_bootstrap_where_nearly_all_resamples_agree() -> None:
    parts = np.zeros(400)
    parts[3] = 1e-4
    low, high = bootstrap(parts, np.ones(400), confidence=0.95, rng=np.random.default_rng(0))
    assert 0.0 <= low <= high


def test_identical_methods_are_not_known_to_be_the_same_everywhere() -> None:
    problems = lw.Problems.from_arrays(np.eye(12).reshape(4, 3, 12), reward=lw.rewards.AnySuccess(np.ones((4, 3))))
    found = lw.compare({"a": lw.baselines.Random(), "b": lw.baselines.Random()}, problems, folds=2, lengths=[1])
    row = found.differences("a").records()[0]
    assert (row["ahead"], row["ties"]) == (0.0, 4)
    assert -1.0 < row["low"] < 0.0 < row["high"] < 1.0
    shown = found.plot().to_dict()["data"]["values"][0]
    assert 0.0 < shown["low"] < shown["high"] == 1.0
