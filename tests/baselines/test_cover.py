"""Static lists and covers of alike problems, against their definitions written out slowly."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.baselines import ForestCover, NearestCover, StaticList
from listwright.baselines.weighted_cover import FoldCover, SuccessCover, static_order
from listwright.errors import InputError
from tests.laws.reward_examples import EXAMPLES, example

REWARDS = [name for name in EXAMPLES if "function" not in name and "mixture" not in name] + ["mixture", "function"]
COUNTS = [5, 4, 6, 3, 5, 6, 2, 6]
ITEMS = 6


def made(name: str, seed: int = 0) -> lw.Problems:
    """Problems that each offer some of a catalogue of six, in any order."""
    rng = np.random.default_rng(seed)
    items = np.concatenate([rng.permutation(ITEMS)[:count] for count in COUNTS])
    items[np.argmax(np.repeat(np.arange(8), COUNTS) == 5) :][:6] = np.arange(6)  # one problem offers all
    sizes = rng.integers(1, 4, len(items)) / 2
    return example(name, COUNTS, seed, catalogue=items, context=rng.random((8, 2)), sizes=sizes)


def value(problem: lw.Problems, items: list[int]) -> float:
    """What a list of items is worth in one problem, leaving out what it does not offer."""
    assert problem.catalogue is not None
    state = problem.reward.start(problem)
    for item in items:
        row = np.flatnonzero(problem.catalogue == item)
        if len(row):
            state = problem.reward.add(state, row)
    return float(problem.reward.value(state)[0])


class Slow:
    """Values of lists in each training problem, remembered."""

    def __init__(self, train: lw.Problems) -> None:
        self.problems = list(train)
        self.value = cache(lambda i, items: value(self.problems[i], list(items)))

    def gain(self, weights: Any, items: list[int], item: int) -> float:
        used = [(i, weight) for i, weight in enumerate(weights) if weight]
        total = sum(w * (self.value(i, (*items, item)) - self.value(i, tuple(items))) for i, w in used)
        return round(float(total), 9)


def slow_order(train: Slow) -> list[int]:
    """Greedy by the summed gain; once nothing gains, by the gain alone."""
    ones = np.ones(len(train.problems))
    order: list[int] = []
    while len(order) < ITEMS:
        left = [item for item in range(ITEMS) if item not in order]
        gains = [train.gain(ones, order, item) for item in left]
        if max(gains) <= 0:
            return order + sorted(left, key=lambda item: -train.gain(ones, [], item))
        order.append(left[int(np.argmax(gains))])
    return order


def slow_cover(train: Slow, weights: Any, problem: lw.Problems, length: int, room: float) -> list[int]:
    """Greedy by the weighted gain over training problems, ties by the static order; positions within the problem."""
    assert problem.catalogue is not None
    assert problem.sizes is not None
    offered, order = problem.catalogue.tolist(), slow_order(train)
    items: list[int] = []
    while len(items) < length:
        left = [i for i in order if i in offered and i not in items and problem.sizes[offered.index(i)] <= room]
        if not left:
            break
        items.append(max(left, key=lambda item: train.gain(weights, items, item)))  # the first among equals
        room -= float(problem.sizes[offered.index(items[-1])])
    return [offered.index(item) for item in items]


def nearest(train: lw.Problems, problem: lw.Problems, k: int) -> Any:
    assert train.context is not None
    assert problem.context is not None
    spread = train.context.std(axis=0)
    gaps = (((train.context - problem.context[0]) / spread) ** 2).sum(axis=1)
    weights = np.zeros(len(train))
    weights[np.argsort(gaps)[:k]] = 1
    return weights


@pytest.mark.parametrize("name", REWARDS)
def test_static_list_is_greedy_on_the_mean_reward(name: str) -> None:
    for seed in range(3):
        train = made(name, seed)
        model = StaticList(length=3).fit(train)
        assert model.order_.tolist() == slow_order(Slow(train))
        lists = model.predict(train, allow_short=True)
        for i, one in enumerate(train):
            assert one.catalogue is not None
            wanted = [item for item in model.order_.tolist() if item in one.catalogue][:3]
            assert one.catalogue[lists[i]].tolist() == wanted


@pytest.mark.parametrize("name", REWARDS)
def test_nearest_cover_is_greedy_on_the_neighbours(name: str) -> None:
    train, asked = made(name, 0), made(name, 1)
    model = NearestCover(3, length=4).fit(train)
    lists = model.predict(asked, allow_short=True)
    in_budget, slow = model.predict(asked, budget=2.5), Slow(train)
    for i, one in enumerate(asked):
        weights = nearest(train, one, 3)
        assert lists[i].tolist() == slow_cover(slow, weights, one, 4, np.inf)
        assert in_budget[i].tolist() == slow_cover(slow, weights, one, 9, 2.5)


@pytest.mark.parametrize("name", ["any success, labels", "any success, probabilities", "coverage", "log det"])
def test_forest_cover_is_greedy_on_shared_leaves(name: str) -> None:
    train, asked = made(name, 0), made(name, 1)
    model = ForestCover(15, length=4, back_off=0.2, random_state=0).fit(train)
    lists = model.predict(asked, allow_short=True)
    tables = [model.scale_.apply(part.context).astype(float) for part in (train, asked)]
    theirs, mine = (model.forest_.trees_.apply(table) for table in tables)
    for i, one in enumerate(asked):
        weights = np.zeros(8)
        for tree in range(15):
            here = theirs[:, tree] == mine[i, tree]
            weights[here] += 1 / here.sum() / 15
        assert lists[i].tolist() == slow_cover(Slow(train), weights + 0.2 / 8, one, 4, np.inf)


@pytest.mark.parametrize("name", ["any success, labels", "any success, probabilities"])
def test_both_covers_agree_on_any_success(name: str) -> None:
    problems = made(name)
    weights = np.random.default_rng(0).integers(0, 3, (5, 8)).astype(float)
    weights[:, 0] = 1
    fast, slow = SuccessCover.of(problems), FoldCover(problems)
    states = fast.start(weights), slow.start(weights)
    for items in ([0, 1, -1, 3, 4], [2, 2, 2, -1, 5]):
        np.testing.assert_allclose(fast.gains(states[0]), slow.gains(states[1]), atol=1e-12)
        states = fast.add(states[0], np.array(items)), slow.add(states[1], np.array(items))
    np.testing.assert_allclose(fast.gains(states[0]), slow.gains(states[1]), atol=1e-12)
    np.testing.assert_array_equal(static_order(fast), static_order(slow))


def test_the_paper_case_prefers_what_is_new() -> None:
    """The second item is the one that solves what the first does not, not the second best alone."""
    success = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1]])
    problems = lw.Problems.from_arrays(np.zeros((4, 3, 1)), reward=lw.rewards.AnySuccess(success))
    model = StaticList(length=2).fit(problems)
    assert model.predict(problems)[0].tolist() == [0, 2]
    assert model.score(problems) == 1.0


def test_neighbours_without_gain_leave_it_to_the_static_order() -> None:
    """All neighbours are solved by item 1; after it, the static order goes on."""
    context = np.array([[0.0]] * 3 + [[9.0]] * 5)
    success = np.array([[0, 1, 0, 0]] * 3 + [[0, 0, 0, 1]] * 3 + [[0, 0, 1, 0]] * 2)
    problems = lw.Problems.from_arrays(np.zeros((8, 4, 1)), context=context, reward=lw.rewards.AnySuccess(success))
    model = NearestCover(2, length=4).fit(problems)
    assert model.order_.tolist() == [1, 3, 2, 0]
    assert model.predict(problems)[0].tolist() == [1, 3, 2, 0]
    assert model.predict(problems)[7].tolist() == [3, 1, 2, 0]


def test_without_context_the_whole_catalogue_is_compared() -> None:
    rng = np.random.default_rng(0)
    features = rng.random((60, 3, 2))
    success = np.stack([features[:, 2, 1] < 0.5, features[:, 2, 1] >= 0.5, features[:, 0, 0] > 2], axis=1)
    problems = lw.Problems.from_arrays(features, catalogue=np.arange(3), reward=lw.rewards.AnySuccess(success))
    for model in (NearestCover(5, length=1), ForestCover(50, length=1, random_state=0)):
        assert model.fit(problems[:45]).score(problems[45:]) > 0.7
    shuffled = lw.Problems.from_arrays(features[:, ::-1], catalogue=[2, 1, 0])
    plain = NearestCover(5, length=1).fit(problems)
    np.testing.assert_array_equal(2 - plain.predict(shuffled).rows[:, 0] % 3, plain.predict(problems).rows[:, 0] % 3)
    partial = lw.Problems.from_arrays(features[:, :2], catalogue=[0, 1])
    with pytest.raises(InputError, match="no features that describe them as a whole"):
        plain.predict(partial)


def test_large_batches_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    train, asked = made("any success, labels", 0), made("any success, labels", 1)
    for model in (NearestCover(3, length=2), ForestCover(5, length=2, random_state=0)):
        whole = model.fit(train).predict(asked, budget=2.0).rows
        monkeypatch.setattr("listwright.baselines.weighted_cover.CELLS", 100)
        np.testing.assert_array_equal(model.predict(asked, budget=2.0).rows, whole)
        monkeypatch.undo()


def test_items_past_the_greedy_part_go_by_their_own_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("listwright.baselines.weighted_cover.ORDERED", 1)
    success = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1]])
    problems = lw.Problems.from_arrays(np.zeros((4, 3, 1)), reward=lw.rewards.AnySuccess(success))
    assert StaticList(length=2).fit(problems).order_.tolist() == [0, 1, 2]


def test_more_neighbours_than_problems_is_the_static_list() -> None:
    problems = made("any success, labels")
    static = StaticList(length=2).fit(problems).predict(problems)
    assert NearestCover(99, length=2).fit(problems).predict(problems[5])[0][0] == static[5][0]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NearestCover(0), "n_neighbors must be at least 1. Got 0"),
        (ForestCover(0), "n_estimators must be at least 1. Got 0"),
        (ForestCover(min_samples_leaf=0), "min_samples_leaf must be at least 1. Got 0"),
        (ForestCover(back_off=-1), "back_off must be 0 or more. Got -1"),
    ],
    ids=str,
)
def test_bad_parameters(model: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit(made("any success, labels"))
