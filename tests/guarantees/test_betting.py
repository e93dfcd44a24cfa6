"""Confidence bounds: their rates of error, exact cases, and wrong input."""

import numpy as np
import pytest

from listwright.errors import InputError
from listwright.guarantees import lower_mean, lower_ratio, lower_share
from listwright.guarantees.held_out import certificate_of

DRAWS, DELTA = 400, 0.1


def misses(draw, truth, bound):
    """The share of draws whose bound lies above the truth."""
    rng = np.random.default_rng(0)
    return np.mean([bound(draw(rng)) > truth for _ in range(DRAWS)])


ALLOWED = DELTA + 2 * np.sqrt(DELTA * (1 - DELTA) / DRAWS)


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize(("a", "b"), [(5.0, 2.0), (0.2, 5.0), (9.0, 0.3)])
def test_the_bound_on_a_mean_fails_rarely(n, a, b):
    assert misses(lambda rng: rng.beta(a, b, n), a / (a + b), lambda x: lower_mean(x, DELTA)) <= ALLOWED


@pytest.mark.parametrize("chance", [0.05, 0.5, 0.97])
def test_the_exact_bound_on_a_share_fails_rarely(chance):
    draw = lambda rng: int((rng.random(50) < chance).sum())  # noqa: E731
    assert misses(draw, chance, lambda k: lower_share(k, 50, DELTA)) <= ALLOWED


def test_the_bound_on_a_ratio_fails_rarely():
    def draw(rng):
        best = rng.beta(8.0, 1.0, 60)
        return best * (rng.random(60) < 0.9), best

    assert misses(draw, 0.9, lambda pair: lower_ratio(*pair, DELTA)) <= ALLOWED


def test_the_bound_is_near_the_mean_for_many_values():
    values = np.random.default_rng(0).beta(5, 2, 10_000)
    assert values.mean() - 0.01 < lower_mean(values) < values.mean()


def test_a_share_of_all_or_none_is_known_in_closed_form():
    assert lower_share(20, 20, 0.05) == pytest.approx(0.05 ** (1 / 20))
    assert lower_share(0, 20, 0.05) == 0.0


def test_values_of_zero_support_nothing():
    assert lower_mean(np.zeros(50)) == pytest.approx(0.0, abs=1e-12)


def test_scaling_the_values_scales_what_is_known_of_large_ones():
    assert lower_mean(np.full(100, 7.0)) <= 7.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lower_mean([]), "at least one value"),
        (lambda: lower_mean([0.5, -0.1]), "0 or more. Got -0.1"),
        (lambda: lower_mean([0.5, np.nan]), "finite"),
        (lambda: lower_ratio([0.5], [1.5]), "from 0 to 1. Got 1.5"),
        (lambda: lower_mean([0.5], delta=0.0), "delta must be between 0 and 1"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_certificate_says_three_things_in_words():
    ones = np.ones(100)
    found = certificate_of(ones, ones, {"sorting": 0.5 * ones}, delta=0.05, binary=True, length=3)
    assert str(found).startswith("On problems like these 100, with 95 % confidence: lists are worth at least 0.97; at ")
    assert "% of what greedy gets when it knows the reward" in str(found)
    assert f"at least {np.floor(100 * found.ahead_of['sorting']) / 100:.2f} more than sorting" in str(found)
    assert found.share_of_best == pytest.approx((1 - 1 / np.e) * found.share_of_greedy)


def test_many_rivals_share_the_probability_of_error():
    rng = np.random.default_rng(0)
    values, rival = rng.beta(5, 2, 200), rng.beta(2, 2, 200)
    one = certificate_of(values, np.ones(200), {"a": rival}, delta=0.05, binary=False).ahead_of["a"]
    two = certificate_of(values, np.ones(200), {"a": rival, "b": rival}, delta=0.05, binary=False).ahead_of["a"]
    assert two < one


def test_values_past_one_are_certified_alone():
    values = np.random.default_rng(0).random(100) * 3
    found = certificate_of(values, values, {"sorting": values / 2}, delta=0.05, binary=False)
    assert (found.share_of_greedy, found.ahead_of) == (None, {})
    assert 0 < found.value < values.mean()
    assert "Nothing is claimed against greedy" in str(found)
