"""Exploring for a verdict: the planned number of lists, and the test that stops as soon as it may."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from listwright.errors import InputError
from listwright.feedback import plan
from listwright.feedback.planning import SequentialTest, SlotTest, candidate_share, needed_lists
from tests.feedback.off_policy.logs import best, even_log

SETTINGS = [(0.2, 0.3, 0.5), (0.5, 0.42, 0.3), (0.1, 0.16, 0.2), (0.05, 0.09, 0.5), (0.3, 0.4, 0.1)]


def stopping_times(old: float, new: float, share: float, planned: int, most: int, runs: int = 40) -> np.ndarray:
    """After how many lists the simulated visitors of each run have decided; `most` for none."""
    rng, times = np.random.default_rng(0), np.full(runs, most)
    for run in range(runs):
        test = SequentialTest(planned)
        to_candidate = rng.random(most) < share
        clicked = rng.random(most) < np.where(to_candidate, new, old)
        for i in range(most):
            test.add(bool(to_candidate[i]), float(clicked[i]))
            if i % 10 == 0 and test.verdict != "cannot tell":
                assert (test.verdict == "roll out") == (new > old) or old == new
                times[run] = i + 1
                break
    return times


def test_the_plan_foretells_when_the_test_decides() -> None:
    within = 0
    for old, new, share in SETTINGS:
        planned = needed_lists(new - old, old * (1 - old), share, 0.95, old)
        assert planned is not None
        seen = np.quantile(stopping_times(old, new, share, planned, 3 * planned), 0.8)
        within += planned / 1.5 <= seen <= 1.5 * planned
    assert within >= 0.8 * len(SETTINGS)


def test_two_alike_are_seldom_told_apart_however_often_one_looks() -> None:
    times = stopping_times(0.3, 0.3, 0.5, 500, 1500, runs=60)
    assert (times < 1500).mean() <= 0.05


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
        drawn, test = (1 - share) * today[way] + share * candidate[way], SlotTest()
        test.add_slots(candidate[way] / drawn, gains[way])
        mean += drawn.prod() * test.sums[1]
    slope = (worth(share + 1e-5) - worth(share - 1e-5)) / 2e-5
    assert mean == pytest.approx((1 - share) * slope, abs=1e-6)


def slot_times(old: float, new: float, share: float, planned: int, most: int, runs: int) -> np.ndarray:
    """After how many lists of two slots a trial by slots has decided: the candidate changes the first one."""
    rng, times = np.random.default_rng(0), np.full(runs, most)
    for run in range(runs):
        test, swapped = SlotTest(planned), rng.random(most) < share
        clicks = rng.random((most, 2)) < np.column_stack([np.where(swapped, new, old), np.full(most, old)])
        for i in range(most):
            first = 1 / share if swapped[i] else 0.0
            test.add_slots(np.array([first, 1.0]), clicks[i].astype(float))
            if i % 20 == 0 and test.verdict != "cannot tell":
                assert (test.verdict == "roll out") == (new > old) or old == new
                times[run] = i + 1
                break
    return times


def test_the_plan_foretells_when_a_trial_by_slots_decides() -> None:
    for old, new, share in [(0.2, 0.35, 0.5), (0.4, 0.2, 0.2)]:
        planned = needed_lists(new - old, 2 * old * (1 - old), share, 0.95, old)  # both slots speak of the first
        assert planned is not None
        seen = np.quantile(slot_times(old, new, share, planned, 3 * planned, 25), 0.8)
        assert planned / 1.5 <= seen <= 1.5 * planned
    assert (slot_times(0.3, 0.3, 0.4, 500, 1000, 40) < 1000).mean() <= 0.05


def test_later_feedback_replaces_what_was_known_of_a_list() -> None:
    once, twice, ratios = SlotTest(), SlotTest(), np.array([2.0, 0.5])
    once.add_slots(ratios, np.array([1.0, 1.0]))
    twice.add_slots(ratios, np.array([0.0, 1.0]))
    twice.add_slots(ratios, np.array([1.0, 1.0]), np.array([0.0, 1.0]))
    assert twice.counts == once.counts == [1.0, 1.0]
    assert twice.sums[0] == once.sums[0] == 2.0
    assert np.array_equal(twice.later, once.later)


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
