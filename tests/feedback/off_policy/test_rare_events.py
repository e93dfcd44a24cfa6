"""Estimates where clicks are rare, on logs that were not drawn evenly, and by position bias.

`open_bandit.json` holds counts of the Open Bandit Dataset (Saito et al. 2021, CC BY 4.0): by item, how often the sample
of campaign "all" that comes with the Python package obp 0.4.1 shows it and how often it was clicked.
"""

from __future__ import annotations

import json
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest

import listwright as lw
from listwright.evaluation.intervals import format_interval, rare_interval
from listwright.feedback import EvidenceWarning, Log, compare, evaluate
from tests.feedback.off_policy.logs import best, even_log

COUNTS = json.loads((Path(__file__).parent / "open_bandit.json").read_text())
OPEN_BANDIT = COUNTS["random"]


def open_bandit(n: int) -> Log:
    """One item of 80 per list, drawn evenly: every fifth of the 10,000 rows, with the counts of single items kept."""
    shown = np.repeat(np.arange(80), OPEN_BANDIT["shown"])
    clicks = np.concatenate(
        [np.arange(k) < c for k, c in zip(OPEN_BANDIT["shown"], OPEN_BANDIT["clicks"], strict=True)]
    )
    some = np.random.default_rng(0).permutation(len(shown))[:n]
    problems = lw.Problems.from_arrays(np.zeros((n, 80, 0)), catalogue=np.arange(80))
    log, ids = Log(), [str(i) for i in range(n)]
    rows = problems.offsets[:-1, None] + shown[some, None]
    log.append(lw.Lists(problems, rows), propensities=np.full((n, 1), 1 / 80), list_ids=ids)
    log.feedback(ids, clicks[some, None].astype(float))
    return log


def always(item: int):
    return lambda problems: lw.Lists(problems, problems.offsets[:-1, None] + item)


def test_no_clicks_in_a_hundred_impressions_are_no_verdict() -> None:
    items = [item for item in range(80) if OPEN_BANDIT["clicks"][item] == 0][:3]
    found = compare(open_bandit(4000), {"old": "logged"} | {str(item): always(item) for item in items})
    for item in items:
        one = found.differences[str(item)]
        assert one.verdict == "cannot tell"
        assert one.events == 0
        assert one.low < 0 < one.high
        assert "and 0 clicks speak for" in one.advice
        # zero clicks in so many impressions allow a rate of three in as many
        assert found.estimates[str(item)].high > 2.5 / found.estimates[str(item)].effective_size
    assert "0.00" in str(found.estimates["old"])


def test_single_items_are_worth_what_the_other_log_of_open_bandit_says() -> None:
    """Thompson sampling's log has few clicks of each item, too: two honest intervals overlap."""
    items, agree, pooled = range(0, 80, 7), 0, 0
    found = compare(open_bandit(5000), {"old": "logged"} | {str(item): always(item) for item in items})
    for item in items:
        shown, clicks = COUNTS["bts"]["shown"][item], float(COUNTS["bts"]["clicks"][item])
        low, high = rare_interval(clicks, clicks, 1.0, 0.95)
        one = found.estimates[str(item)]
        agree += one.low <= high / shown and low / shown <= one.high
        pooled += one.low <= sum(OPEN_BANDIT["clicks"]) / sum(OPEN_BANDIT["shown"]) <= one.high
        assert found.differences[str(item)].verdict == "cannot tell"
    assert agree == len(items)
    assert pooled >= 0.9 * len(items)


def test_the_interval_of_a_count_is_the_mid_p_interval() -> None:
    low, high = rare_interval(0.0, 0.0, 1.0, 0.95)
    assert (low, high) == (0.0, pytest.approx(-np.log(0.05)))
    low, high = rare_interval(10.0, 10.0, 1.0, 0.95)  # by the tables: 5.084 and 17.82
    assert (low, high) == (pytest.approx(5.084, abs=0.01), pytest.approx(17.82, abs=0.01))


def test_decimals_follow_the_width() -> None:
    assert format_interval(0.004, 0.0012, 0.0093) == "0.0040 (0.0012 to 0.0093)"
    assert format_interval(1.5, 1.2, 1.8, "+") == "+1.500 (+1.200 to +1.800)"


def plackett_luce(n: int, worth: np.ndarray, strength: np.ndarray) -> tuple[Log, dict[tuple[int, ...], float]]:
    """Two of four items, drawn one after the other in proportion to their strength; each click depends on its slot."""
    chance = {
        pair: strength[pair[0]] / strength.sum() * strength[pair[1]] / (strength.sum() - strength[pair[0]])
        for pair in permutations(range(4), 2)
    }
    rng = np.random.default_rng(0)
    pairs = np.array(list(chance))[rng.choice(len(chance), size=n, p=list(chance.values()))]
    problems = lw.Problems.from_arrays(np.tile(np.eye(4), (n, 1, 1)))
    first = strength[pairs[:, 0]] / strength.sum()
    second = strength[pairs[:, 1]] / (strength.sum() - strength[pairs[:, 0]])
    log, ids = Log(), [str(i) for i in range(n)]
    log.append(
        lw.Lists(problems, problems.offsets[:-1, None] + pairs), propensities=np.stack([first, second], 1), list_ids=ids
    )
    log.feedback(ids, (rng.random((n, 2)) < worth[np.arange(2), pairs]).astype(float))
    return log, chance


def test_the_pseudo_inverse_is_right_under_logging_that_is_not_even() -> None:
    worth = np.array([[0.1, 0.2, 0.5, 0.9], [0.6, 0.3, 0.1, 0.8]])
    log, _ = plackett_luce(6000, worth, np.array([4.0, 2.0, 1.0, 1.0]))
    for items in ((3, 0), (1, 2), (2, 3)):
        truth = worth[0, items[0]] + worth[1, items[1]]
        told = evaluate(log, lambda problems, items=items: lw.Lists(problems, problems.offsets[:-1, None] + items))
        for name in ("pseudo_inverse", "adaptive", "shrinkage_dr", "switch"):
            one = told.estimates[name]
            assert one.low <= truth <= one.high, (name, items)
            assert one.value == pytest.approx(truth, abs=0.12)


def test_weights_that_do_not_average_one_are_no_evidence() -> None:
    """A log of impressions alone, with the propensities of a larger set of candidates."""
    log, n = Log(), 400
    problems = lw.Problems.from_arrays(np.random.default_rng(0).random((n, 3, 2)))
    ids = [str(i) for i in range(n)]
    rows = problems.offsets[:-1, None] + np.arange(3)
    log.append(lw.Lists(problems, rows), propensities=np.full((n, 3), 0.05), list_ids=ids)
    log.feedback(ids, np.random.default_rng(1).random((n, 3)) < 0.1)
    with pytest.warns(EvidenceWarning, match="average 20.00 in place of 1. Log all candidates"):
        told = evaluate(log, lambda problems: lw.Lists(problems, problems.offsets[:-1, None] + np.arange(3)))
    assert str(told.slate_ips) == "no evidence"
    assert np.isnan(told.switch.low)


@pytest.mark.filterwarnings("ignore::listwright.feedback.EvidenceWarning")
def test_intervals_by_position_bias_hold_the_truth() -> None:
    looks = np.array([1.0, 0.5, 0.25])
    largest = np.sort(np.random.default_rng(9).random((200_000, 4)), axis=1)[:, :0:-1]
    truth, covered = float((0.8 * largest * looks).sum(axis=1).mean()), 0
    for seed in range(8):
        log = even_log(800, length=3, looks=looks, seed=seed)
        one = evaluate(log, lambda problems: best(problems, 3), propensity="examination").examination
        assert one is not None
        covered += one.low <= truth <= one.high
    assert covered >= 7


@pytest.mark.filterwarnings("ignore::listwright.feedback.EvidenceWarning")
def test_estimates_over_all_lists_of_a_small_world_are_exact() -> None:
    """Every list of Plackett-Luce as often as it is drawn, with outcomes as they are expected."""
    strength, worth = np.array([4.0, 2.0, 1.0, 1.0]), np.array([[0.1, 0.2, 0.5, 0.9], [0.6, 0.3, 0.1, 0.8]])
    pairs = np.array(list(permutations(range(4), 2)))
    first, second = strength[pairs[:, 0]] / 8, strength[pairs[:, 1]] / (8 - strength[pairs[:, 0]])
    times = np.rint(672 * first * second).astype(int)
    np.testing.assert_allclose(times, 672 * first * second)
    which = np.repeat(np.arange(12), times)
    problems, ids = lw.Problems.from_arrays(np.tile(np.eye(4), (672, 1, 1))), [str(i) for i in range(672)]
    log, rows = Log(), problems.offsets[:-1, None] + pairs[which]
    log.append(lw.Lists(problems, rows), propensities=np.stack([first, second], axis=1)[which], list_ids=ids)
    log.feedback(ids, worth[np.arange(2), pairs[which]])
    for items, truth in (((0, 1), 0.400), ((3, 0), 1.500), ((2, 3), 1.300)):
        told = evaluate(log, lambda problems, items=items: lw.Lists(problems, problems.offsets[:-1, None] + items))
        for name in (
            "slate_ips",
            "self_normalised",
            "per_position_ips",
            "pseudo_inverse",
            "per_position_dr",
            "cascade_dr",
        ):
            assert told.estimates[name].value == pytest.approx(truth, rel=1e-3), (name, items)


@pytest.mark.filterwarnings("ignore::listwright.feedback.EvidenceWarning")
def test_the_pseudo_inverse_is_exact_where_slots_are_drawn_independently() -> None:
    """Each slot has three items of its own. What an item brings is clicked on anywhere: only lists tell what it is."""
    first, second = np.array([0.5, 0.25, 0.25]), np.array([0.25, 0.125, 0.625])
    worth = np.array([[0.1, 0.3, 0.6], [0.4, 0.2, 0.3]])
    pairs = np.array(list(product(range(3), range(3))))
    which = np.repeat(np.arange(9), np.rint(320 * first[pairs[:, 0]] * second[pairs[:, 1]]).astype(int))
    n, ids = len(which), [str(i) for i in range(len(which))]
    problems = lw.Problems.from_arrays(np.tile(np.eye(6), (n, 1, 1)))
    rows = problems.offsets[:-1, None] + pairs[which] + [0, 3]
    chances, value = np.stack([first[pairs[which, 0]], second[pairs[which, 1]]], axis=1), worth[0, pairs[which, 0]]
    log, value = Log(), value + worth[1, pairs[which, 1]]
    log.append(lw.Lists(problems, rows), propensities=chances, list_ids=ids)
    log.feedback(ids, np.stack([value, np.zeros(n)], axis=1))
    for items in product(range(3), range(3)):
        told = evaluate(log, lambda some, at=items: lw.Lists(some, some.offsets[:-1, None] + np.array(at) + [0, 3]))
        assert told.pseudo_inverse.value == pytest.approx(worth[[0, 1], items].sum(), abs=0.01), items


@pytest.mark.filterwarnings("ignore::listwright.feedback.EvidenceWarning")
@pytest.mark.parametrize(("n", "length", "given"), [(1500, 5, False), (6000, 2, True)])
def test_an_assumption_about_clicks_has_an_interval_only_where_the_log_can_check_it(n, length, given) -> None:
    """Whether there is any click depends on all slots; single slots say too much."""
    appeal = np.linspace(0.05, 0.34, 10)
    truth, covered = 1.0 - float(np.prod(1.0 - appeal[-length:])), 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        shown = rng.permuted(np.tile(np.arange(10), (n, 1)), axis=1)[:, :length]
        problems = lw.Problems.from_arrays(np.zeros((n, 10, 0)), catalogue=np.arange(10))
        log, ids, start = Log(), [str(i) for i in range(n)], problems.offsets[:-1, None]
        chances = np.tile(1.0 / (10 - np.arange(length)), (n, 1))
        log.append(lw.Lists(problems, start + shown), propensities=chances, list_ids=ids)
        log.feedback(ids, (rng.random((n, length)) < appeal[shown]).astype(float))
        best_items = np.arange(10)[: -length - 1 : -1]
        told = evaluate(
            log, lambda some, items=best_items: lw.Lists(some, some.offsets[:-1, None] + items), value="any"
        )
        for name in ("adaptive", "pseudo_inverse"):
            estimate = told.estimates[name]
            covered += bool(np.isnan(estimate.low)) if not given else estimate.low <= truth <= estimate.high
    assert covered >= 18
