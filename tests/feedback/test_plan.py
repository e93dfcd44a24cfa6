"""Exploring for a verdict: the planned number of lists, and the test that stops as soon as it may."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from listwright.errors import InputError
from listwright.feedback import plan
from listwright.feedback.planning import SequentialTest, candidate_share, needed_lists
from tests.feedback.off_policy.logs import best, even_log

Array = NDArray[np.float64]


def decided(values: Array, candidate: Array, share: Array | float, units: Array | None = None) -> tuple[int, str]:
    """After how many lists a trial ends that is looked at after every fifth list, and how; "cannot tell" for never."""
    test, shares = SequentialTest(), np.broadcast_to(share, values.shape)
    for i, (value, own, part) in enumerate(zip(values, candidate, shares, strict=True)):
        weight = (own / part - 1.0) / (1.0 - part)
        test.add(np.array([weight]), np.array([value]), unit=i if units is None else int(units[i]))
        if i % 5 == 0 and test.verdict != "cannot tell":
            return i + 1, test.verdict
    return len(values), "cannot tell"


def test_the_plan_foretells_when_the_test_decides() -> None:
    """Settings are drawn: rates, differences and shares."""
    rng, within, right = np.random.default_rng(3), 0, []
    for _ in range(10):
        while True:
            old, share = np.exp(rng.uniform(np.log(0.03), np.log(0.5))), rng.uniform(0.1, 0.5)
            new = old * np.exp(rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 0.9))
            planned = needed_lists(new - old, old * (1 - old), share, 0.95, old)
            if planned is not None and planned < 3000 and new < 0.9:
                break
        times = []
        for _ in range(25):
            candidate = (rng.random(3 * planned) < share).astype(float)
            values = (rng.random(3 * planned) < np.where(candidate, new, old)).astype(float)
            ended, verdict = decided(values, candidate, share)
            times.append(ended)
            right.append(verdict == ("roll out" if new > old else "do not roll out"))
        within += planned / 1.5 <= np.quantile(times, 0.8) <= 1.5 * planned
    assert within >= 8
    assert np.mean(right) >= 0.97


def rare(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array, Array | None]:
    """Hardly any clicks, and a candidate that is hardly shown: many lists of it without one."""
    share = np.full(n, 0.03)
    return (rng.random(n) < 0.02).astype(float), (rng.random(n) < share).astype(float), share, None


def drifting(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array, Array | None]:
    """Clicks come and go with the day, and the share follows what today's lists are worth so far."""
    values = (rng.random(n) < 0.05 + 0.45 * (1 - np.cos(2 * np.pi * np.arange(n) / 1200)) / 2).astype(float)
    share = np.clip(0.02 * np.arange(1, n + 1) / np.maximum(np.cumsum(values) - values, 0.1), 0.02, 0.5)
    return values, (rng.random(n) < share).astype(float), share, None


def loyal(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array, Array | None]:
    """A hundred users who come again and again, stay with their version and differ a lot."""
    users = rng.integers(100, size=n)
    likes, candidate = np.minimum(0.2 * rng.gamma(0.5, 2.0, size=100), 1.0), (rng.random(100) < 0.5).astype(float)
    return (rng.random(n) < likes[users]).astype(float), candidate[users], np.full(n, 0.5), users.astype(float)


def ordered(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array, Array | None]:
    """All clicks come first."""
    values = (np.arange(n) < n // 3).astype(float)
    return values, (rng.random(n) < 0.2).astype(float), np.full(n, 0.2), None


@pytest.mark.parametrize("world", [rare, drifting, loyal, ordered])
def test_two_alike_are_seldom_told_apart_however_often_one_looks(world) -> None:
    rng, runs = np.random.default_rng(0), 60
    wrong = sum(decided(*world(rng, 1500))[1] != "cannot tell" for _ in range(runs))
    assert wrong <= 0.05 * runs


def test_a_plan_keeps_to_the_loss_budget() -> None:
    found = plan(even_log(1500), best, loss_budget=0.05)
    assert found.loss <= 0.05 + 1e-9
    assert found.difference == pytest.approx(0.32, abs=0.06)
    assert found.n_lists is not None
    assert 200 < found.n_lists < 5000
    assert "Show the candidate in" in str(found)
    assert "no number of lists" in str(plan(even_log(300), best, difference=0.0))
    assert candidate_share(0.02, 0.001) == 0.5
    with pytest.raises(InputError, match="loss_budget must be above 0"):
        plan(even_log(50), best, loss_budget=0.0)


def slot_world(seed: int) -> tuple[dict, dict, dict]:
    """By list of three of four items, given the items before: the chances under two policies, and the gains."""
    rng = np.random.default_rng(seed)
    prefixes = [way for size in range(3) for way in permutations(range(4), size)]
    scores = {way: rng.gamma(1.0, size=(2, 4)) for way in prefixes}
    gain = {way: rng.random() for size in (1, 2, 3) for way in permutations(range(4), size)}

    def along(shown: tuple[int, ...], which: int) -> np.ndarray:
        left = [[j for j in range(4) if j not in shown[:k]] for k in range(3)]
        return np.array(
            [scores[shown[:k]][which, shown[k]] / scores[shown[:k]][which, left[k]].sum() for k in range(3)]
        )

    lists = list(permutations(range(4), 3))
    gains = {shown: np.array([gain[shown[: k + 1]] for k in range(3)]) for shown in lists}
    return {shown: along(shown, 0) for shown in lists}, {shown: along(shown, 1) for shown in lists}, gains


def test_by_all_lists_of_a_small_world_slots_tell_what_more_of_the_candidate_would_earn() -> None:
    today, candidate, gains = slot_world(0)

    def worth(share: float) -> float:
        return sum(((1 - share) * today[way] + share * candidate[way]).prod() * gains[way].sum() for way in gains)

    share, mean = 0.3, 0.0
    for way in gains:
        drawn, test = (1 - share) * today[way] + share * candidate[way], SequentialTest()
        test.add((candidate[way] / drawn - 1.0) / (1.0 - share), gains[way])
        mean += drawn.prod() * test.sums.sum()
    slope = (worth(share + 1e-5) - worth(share - 1e-5)) / 2e-5
    assert mean == pytest.approx(slope, abs=1e-6)


def slot_times(old: float, new: float, share: float, most: int, runs: int) -> Array:
    """After how many lists of two slots a trial by slots has decided: the candidate changes the first one."""
    rng, times = np.random.default_rng(0), np.full(runs, most)
    for run in range(runs):
        test, swapped = SequentialTest(), rng.random(most) < share
        clicks = rng.random((most, 2)) < np.column_stack([np.where(swapped, new, old), np.full(most, old)])
        for i in range(most):
            ratios = np.array([1 / share if swapped[i] else 0.0, 1.0])
            test.add((ratios - 1.0) / (1.0 - share), clicks[i].astype(float), unit=i)
            if i % 20 == 0 and test.verdict != "cannot tell":
                assert (test.verdict == "roll out") == (new > old) or old == new
                times[run] = i + 1
                break
    return times


def test_the_plan_foretells_when_a_trial_by_slots_decides() -> None:
    for old, new, share in [(0.2, 0.35, 0.5), (0.4, 0.2, 0.2)]:
        planned = needed_lists(new - old, 2 * old * (1 - old), share, 0.95, old)  # both slots speak of the first
        assert planned is not None
        seen = np.quantile(slot_times(old, new, share, 3 * planned, 25), 0.8)
        assert planned / 1.5 <= seen <= 1.5 * planned
    assert (slot_times(0.3, 0.3, 0.4, 1000, 40) < 1000).mean() <= 0.05


def test_later_feedback_replaces_what_was_known_of_a_list() -> None:
    once, twice, weights = SequentialTest(), SequentialTest(), np.array([2.0, 0.5])
    once.add(weights, np.array([1.0, 1.0]))
    twice.add(weights, np.array([0.0, 1.0]))
    twice.add(weights, np.array([1.0, 1.0]), np.array([0.0, 1.0]))
    assert (twice.n_lists, twice.seen) == (once.n_lists, once.seen) == (1, 1)
    np.testing.assert_array_equal(twice.later, once.later)
    assert twice.sums.sum() == once.sums.sum() == 4.5


def test_lists_shown_before_a_trial_tell_only_what_is_usual() -> None:
    test = SequentialTest()
    for i in range(500):
        test.add(None, np.array([1.0]), unit=i)
    assert (test.seen, test.n_lists, test.verdict) == (500, 0, "cannot tell")


def test_a_plan_by_slots_counts_the_slots_that_change() -> None:
    log = even_log(1500)
    lists, slots = (plan(log, best, loss_budget=0.5, by=by) for by in ("lists", "slots"))
    assert slots.share == lists.share
    assert "of the slots" in str(slots)
    assert lists.n_lists is not None
    assert slots.n_lists is not None
    assert slots.n_lists > lists.n_lists  # the log is drawn evenly: nearly every slot changes
    with pytest.raises(InputError, match="by must be lists or slots"):
        plan(log, best, by="items")


@pytest.mark.parametrize("by", ["lists", "slots"])
def test_plans_that_cannot_be_made_say_so(by: str) -> None:
    log = even_log(300)
    for options in ({"loss_budget": 1e-300}, {"loss_budget": 1e-12}, {"difference": 1e-8}):
        found = plan(log, best, by=by, **options)
        assert found.n_lists is None
        assert "No number of lists can be given" in str(found)
    assert plan(log, best, by=by, loss_budget=1e9).share == 0.5
    for wrong in (np.nan, np.inf):
        with pytest.raises(InputError, match="difference must be a number"):
            plan(log, best, by=by, difference=wrong)
        with pytest.raises(InputError, match="loss_budget must be above 0"):
            plan(log, best, by=by, loss_budget=wrong)
    with pytest.raises(InputError, match="at least two lists"):
        plan(even_log(1), best, by=by)
