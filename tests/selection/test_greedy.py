"""Greedy lists: what they are, what they are worth, and which bound holds."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from tests.laws.reward_examples import EXAMPLES, example

SUBMODULAR = [name for name in EXAMPLES if name != "rouge, best reference"]
COUNTS = [7, 1, 12, 4, 9]
LIMITS: list[dict[str, Any]] = [{"length": 4}, {"length": 20}, {"budget": 5.0}, {"length": 3, "budget": 4.0}]


def sized(name: str, seed: int, counts: list[int] = COUNTS) -> lw.Problems:
    """An example with sizes from a coarse grid, so that gains per size tie too."""
    sizes = np.random.default_rng(seed).integers(1, 5, size=sum(counts)) / 2
    return example(name, counts, seed, sizes=sizes)


def value_of(problems: lw.Problems, positions: tuple[int, ...]) -> Any:
    """What the same positions are worth in every problem."""
    state = problems.reward.start(problems)
    for position in positions:
        state = problems.reward.add(state, problems.offsets[:-1] + position)
    return problems.reward.value(state)


@pytest.mark.parametrize("limit", LIMITS, ids=str)
@pytest.mark.parametrize("name", EXAMPLES)
def test_lazy_equals_naive(name: str, limit: dict[str, Any]) -> None:
    for seed in range(4):
        problems = sized(name, seed)
        lazy, naive = lw.greedy(problems, **limit), lw.greedy(problems, **limit, method="naive")
        np.testing.assert_array_equal(lazy.rows, naive.rows)
        np.testing.assert_array_equal(lazy.picked_gains, naive.picked_gains)


def test_lazy_measures_fewer_rows_than_naive() -> None:
    measured = {"lazy": 0, "naive": 0}

    class Counting(lw.rewards.Coverage):
        def gains_of(self, state: Any, rows: Any) -> Any:
            measured[method] += len(rows)
            return super().gains_of(state, rows)

    covers = np.random.default_rng(0).random((200, 50)) < 0.1
    problems = lw.Problems.from_arrays(np.zeros((1, 200, 1)), reward=Counting(covers))
    for method in measured:
        lw.greedy(problems, length=20, method=method)
    assert measured["lazy"] < measured["naive"] / 2


@pytest.mark.parametrize("method", ["lazy", "naive"])
def test_ties_go_to_the_lowest_row(method: str) -> None:
    problems = lw.Problems.from_arrays(np.zeros((2, 5, 1)), reward=lw.rewards.Coverage(np.eye(10)), sizes=np.ones(10))
    assert [one.tolist() for one in lw.greedy(problems, length=3, method=method)] == [[0, 1, 2], [0, 1, 2]]
    assert [one.tolist() for one in lw.greedy(problems, budget=3, method=method)] == [[0, 1, 2], [0, 1, 2]]


@pytest.mark.parametrize("name", EXAMPLES)
def test_lists_keep_their_promises(name: str) -> None:
    problems = sized(name, seed=5)
    lists = lw.greedy(problems, length=6)
    assert lists.lengths.tolist() == np.minimum(problems.counts, 6).tolist()
    assert all(len(set(items.tolist())) == len(items) for items in lists)
    state = problems.reward.start(problems)
    for step in lists.rows.T:
        state = problems.reward.add(state, step)
    np.testing.assert_allclose(lists.values, problems.reward.value(state), atol=1e-12)


@pytest.mark.parametrize("name", SUBMODULAR)
def test_gains_never_rise_along_a_list(name: str) -> None:
    lists = lw.greedy(sized(name, seed=6), length=9)
    assert lists.gains is not None
    assert all((np.diff(gains) <= 0).all() for gains in lists.gains)


@pytest.mark.parametrize("name", SUBMODULAR)
def test_with_a_budget_gains_per_size_never_rise_and_sizes_fit(name: str) -> None:
    problems = sized(name, seed=7)
    lists = lw.greedy(problems, budget=4.0)
    assert lists.gains is not None
    assert problems.sizes is not None
    for i, gains in enumerate(lists.gains):
        sizes = problems.sizes[problems.offsets[i] + lists[i]]
        assert sizes.sum() <= 4.0
        assert (np.diff(gains / sizes) <= 1e-12).all()


@pytest.mark.parametrize("method", ["lazy", "naive", "stochastic"])
def test_a_long_list_is_all_there_is(method: str) -> None:
    problems = example("log det", [3, 1])
    lists = lw.greedy(problems, length=10, method=method, random_state=0)
    assert [sorted(one.tolist()) for one in lists] == [[0, 1, 2], [0]]


def test_at_least_63_percent_of_the_best_list_of_500_problems() -> None:
    tried = 0
    for seed, name in enumerate(SUBMODULAR):
        problems = example(name, [6] * 26, seed)
        best = np.max([value_of(problems, items) for items in combinations(range(6), 3)], axis=0)
        values = lw.greedy(problems, length=3).values
        assert values is not None
        assert (values >= (1 - 1 / math.e) * best - 1e-12).all()
        assert (values <= best + 1e-12).all()
        tried += len(problems)
    assert tried >= 500


@pytest.mark.parametrize("name", SUBMODULAR)
def test_within_a_budget_at_least_0427_of_the_best(name: str) -> None:
    problems = sized(name, seed=8, counts=[6] * 26)
    assert problems.sizes is not None
    sizes, best = problems.sizes.reshape(26, 6), np.zeros(26)
    for n in range(1, 7):
        for items in combinations(range(6), n):
            best = np.where(sizes[:, items].sum(axis=1) <= 3.0, np.maximum(best, value_of(problems, items)), best)
    lists = lw.greedy(problems, budget=3.0)
    assert lists.ratio == 0.427
    assert lists.values is not None
    assert (lists.values >= 0.427 * best - 1e-12).all()
    assert (lists.values <= best + 1e-12).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_long_facility_list_holds_no_item_twice(dtype: Any) -> None:
    """Near the end all gains are tiny or 0, where a lazy queue may hand out the same item again."""
    points = np.random.default_rng(0).normal(size=(400, 8))
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    similarity = (squared.max() - squared).astype(dtype)
    problems = lw.Problems.from_arrays(np.zeros((1, 400, 1)), reward=lw.rewards.FacilityLocation(similarity))
    lazy = lw.greedy(problems, length=320)
    assert len(set(lazy[0].tolist())) == 320
    assert lazy.gains is not None
    assert (np.diff(lazy.gains[0]) <= 0).all()
    np.testing.assert_array_equal(lazy.rows, lw.greedy(problems, length=320, method="naive").rows)


def small_budget(sizes: list[float], success: list[float], **limits: Any) -> lw.Lists:
    reward = lw.rewards.Coverage(np.eye(len(sizes)), np.array(success), normalize=False)
    problems = lw.Problems.from_arrays(np.zeros((1, len(sizes), 1)), sizes=sizes, reward=reward)
    return lw.greedy(problems, **limits)


def test_what_does_not_fit_is_skipped_and_not_the_end() -> None:
    assert small_budget([2.0, 2.0, 1.0], [10, 9, 1], budget=3)[0].tolist() == [0, 2]


def test_the_best_single_item_is_returned_where_it_is_worth_more() -> None:
    lists = small_budget([1.0, 10.0], [2, 10], budget=10)
    assert lists[0].tolist() == [1]
    assert lists.values is not None
    assert lists.values.tolist() == [10.0]


def test_a_budget_that_nothing_fits_gives_empty_lists() -> None:
    lists = small_budget([2.0, 3.0], [1, 1], budget=1)
    assert lists[0].tolist() == []
    assert lists.values is not None
    assert lists.values.tolist() == [0.0]
    assert lists.to_dict()["item"].tolist() == []
    assert repr(lists).startswith("Lists: 1 list of 0 items, mean value 0.000")


def test_a_budget_for_each_problem() -> None:
    problems = lw.Problems.from_arrays(
        np.zeros((3, 3, 1)), sizes=np.ones(9), reward=lw.rewards.Coverage(np.tile(np.eye(3), (3, 1)))
    )
    assert lw.greedy(problems, budget=[2, 1, 0.5]).lengths.tolist() == [2, 1, 0]
    assert lw.greedy(problems, budget=[2, 3, 3], length=2).lengths.tolist() == [2, 2, 2]
    assert lw.greedy(problems, budget=2).lengths.tolist() == [2, 2, 2]


def test_sizes_alone_are_no_budget() -> None:
    assert small_budget([5.0, 1.0], [3, 2], length=2)[0].tolist() == [0, 1]


def test_stochastic_is_the_same_for_the_same_seed() -> None:
    problems = sized("log det", seed=1, counts=[40] * 5)
    one, again, other = (
        lw.greedy(problems, length=10, method="stochastic", epsilon=0.5, random_state=seed) for seed in (1, 1, 2)
    )
    assert one == again
    assert one != other
    assert all(len(set(items.tolist())) == 10 for items in one)


def test_stochastic_with_a_sample_of_all_equals_naive() -> None:
    problems = sized("log det", seed=1)
    everything = lw.greedy(problems, length=3, method="stochastic", epsilon=1e-9, random_state=0)
    assert everything == lw.greedy(problems, length=3, method="naive")


def test_stochastic_keeps_its_bound_on_average() -> None:
    problems = example("log det", [8] * 30, seed=3)
    best = np.max([value_of(problems, items) for items in combinations(range(8), 3)], axis=0)
    values = [
        lw.greedy(problems, length=3, method="stochastic", epsilon=0.2, random_state=seed).values for seed in range(20)
    ]
    assert (np.mean(np.stack(values), axis=0) >= (1 - 1 / math.e - 0.2) * best).all()  # type: ignore[arg-type]


def test_stochastic_with_a_budget_fits() -> None:
    problems = sized("log det", seed=2)
    lists = lw.greedy(problems, budget=2.0, method="stochastic", random_state=0)
    assert problems.sizes is not None
    assert all(problems.sizes[rows[rows >= 0]].sum() <= 2.0 for rows in lists.rows)
    assert lists.ratio is None


@pytest.mark.parametrize(
    ("options", "ratio", "words"),
    [
        ({"length": 2}, 1 - 1 / math.e, "at least 1 - 1/e = 0.632 of the best list of this length"),
        ({"length": 2, "method": "naive"}, 1 - 1 / math.e, "at least 1 - 1/e = 0.632"),
        ({"length": 2, "method": "stochastic", "epsilon": 0.1}, 0.9 - 1 / math.e, "in expectation"),
        ({"budget": 2}, 0.427, "at least 0.427 of the best list within the budget"),
        ({"budget": 2, "length": 2}, None, "no bound is proved"),
        ({"budget": 2, "method": "stochastic"}, None, "no bound is proved"),
    ],
)
def test_the_bound_that_holds_is_told(options: dict[str, Any], ratio: float | None, words: str) -> None:
    lists = lw.greedy(sized("log det", seed=1), **options, random_state=0)
    assert lists.ratio == (None if ratio is None else pytest.approx(ratio))
    assert lists.bound is not None
    assert words in lists.bound
    assert words in repr(lists)


def test_no_bound_without_submodularity() -> None:
    lists = lw.greedy(example("rouge, best reference", [4]), length=2)
    assert lists.ratio is None
    assert lists.bound == "no bound: this reward is not submodular"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "greedy needs a length or a budget. Got neither."),
        ({"length": 0}, "length must be at least 1. Got 0."),
        ({"length": 1.5}, "length must be a whole number of at least 1. Got 1.5."),
        ({"budget": 0}, "budget must be above 0"),
        ({"budget": float("nan")}, "budget must be above 0"),
        ({"budget": [1.0]}, r"one per problem \(5\)"),
        ({"budget": "much"}, "budget must be an array of numbers"),
        ({"length": 2, "method": "eager"}, "method must be one of lazy, naive, stochastic. Got 'eager'."),
        ({"length": 2, "method": "stochastic", "epsilon": 0}, "epsilon must be between 0 and 1. Got 0."),
        ({"length": 2, "method": "stochastic", "random_state": "x"}, "random_state must be"),
    ],
)
def test_errors_say_what_was_got(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        lw.greedy(sized("log det", seed=1), **options)


@pytest.mark.parametrize("name", ["coverage", "facility location", "facility location, sparse"])
def test_stochastic_is_not_offered_where_lazy_is_compiled(name: str) -> None:
    with pytest.raises(InputError, match=r'method="stochastic" is not offered for .* Use method="lazy"'):
        lw.greedy(sized(name, seed=1), length=2, method="stochastic", random_state=0)


def test_greedy_needs_a_reward_and_a_budget_needs_sizes() -> None:
    problems = example("coverage", [3, 4])
    with pytest.raises(InputError, match="greedy needs a reward, but these problems have none"):
        lw.greedy(problems.without_reward(), length=2)
    with pytest.raises(InputError, match="A budget needs sizes"):
        lw.greedy(problems, budget=2)
