"""Attempts to make `certify` print a false sentence: data of an adversary, drawn many times, and the rate of misses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.evaluation.values import list_values
from listwright.rewards import AnySuccess, Coverage, Function, Total

DELTA, DRAWS, HELD, POPULATION, ITEMS = 0.1, 60, 60, 3000, 6
LIMIT = DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / DRAWS)


def world(seed: int, n: int, reward: Callable[[np.random.Generator, np.ndarray], Any], **given: Any) -> lw.Problems:
    rng = np.random.default_rng(seed)
    x = rng.random((n, ITEMS, 3)).astype(np.float32)
    return lw.Problems.from_arrays(x, reward=reward(rng, x), **given)


def any_success(rng: np.random.Generator, x: np.ndarray) -> Any:
    return AnySuccess(rng.random(x.shape[:2]) < 0.6 * x[..., 0] * x[..., 1])


def huge(rng: np.random.Generator, x: np.ndarray) -> Any:
    return Total(x[..., 0] * np.where(rng.random((len(x), 1)) < 0.01, 100.0, 1.0))


def topics(rng: np.random.Generator, x: np.ndarray) -> Any:
    return Coverage((rng.random((*x.shape[:2], 5)) < 0.4 * x[..., :1]).reshape(-1, 5))


@pytest.mark.parametrize("reward", [any_success, huge, topics])
@pytest.mark.parametrize("order", ["by value", "against the rival"])
def test_the_sentence_is_false_in_at_most_delta_of_the_draws(reward, order) -> None:
    model = lw.SCP(2, effort="fast", random_state=0).fit(world(0, 100, reward))
    rival = lw.baselines.Random(2, random_state=0).fit(world(0, 100, reward))
    whole = world(1, POPULATION, reward)
    values, theirs = (list_values(one.predict(whole), whole) for one in (model, rival))
    best = list_values(lw.greedy(whole, 2), whole)
    key = {"by value": -values, "against the rival": theirs - values}[order]
    rng, false = np.random.default_rng(2), 0
    for _ in range(DRAWS):
        rows = rng.choice(POPULATION, HELD, replace=False)
        made = model.certify(whole[rows[np.argsort(key[rows])]], DELTA, rivals={"random": rival})
        false += made.value > values.mean() or (made.share_of_greedy or 0.0) > values.sum() / best.sum()
        false += made.ahead_of.get("random", -1.0) > (values - theirs).mean()
    assert false / DRAWS <= LIMIT


def synergy(rows: Any) -> float:
    """Items are worth little alone and much together: not submodular."""
    return (0.0, 0.1, 1.0)[min(len(rows), 2)]


def spoiled(rows: Any) -> float:
    """A second item spoils the list: not monotone."""
    return (0.0, 0.9, 0.2)[min(len(rows), 2)]


@pytest.mark.parametrize("function", [synergy, spoiled])
def test_nothing_is_said_of_the_best_lists_where_a_law_is_broken(function) -> None:
    problems = world(0, 120, lambda _, __: Function(lambda _, rows: function(rows)))
    made = lw.SCP(2, effort="fast", random_state=0).fit(problems[:60]).certify(problems[60:])
    assert made.share_of_best is None
    assert "Nothing is claimed against the best lists" in str(made)


@pytest.mark.parametrize("seed", range(5))
def test_what_chose_the_policy_is_refused(seed) -> None:
    problems = world(seed, 150, any_success)
    chosen = lw.SCP(2, features=lw.features.Candidate(), keep="best", random_state=0).fit(problems)
    for i in range(100, 150):
        with pytest.raises(InputError, match=r"1 of these 1 problems were (learned from|used to choose)"):
            chosen.certify(problems[i : i + 1])
    with pytest.raises(InputError, match="30 of these 30 problems were used to choose the policy"):
        chosen.fit(problems[:120], validation=problems[120:]).certify(problems[120:])


@pytest.mark.parametrize("seed", range(5))
def test_training_problems_without_context_are_refused(seed) -> None:
    success = np.random.default_rng(seed).random((20, 50)) < 0.05
    items = np.tile(np.arange(50), 20)
    problems = lw.Problems.from_arrays(np.zeros((20, 50, 0)), reward=AnySuccess(success), catalogue=items)
    with pytest.raises(InputError, match="20 of these 20 problems were learned from"):
        lw.ContextFreeSCP(2, random_state=0).fit(problems).certify(problems)


@pytest.mark.parametrize("shift", [1e-6, -1e-6])
def test_training_problems_that_were_moved_a_little_are_refused(shift) -> None:
    moved = world(0, 100, any_success)
    model = lw.SCP(2, effort="fast", random_state=0).fit(moved)
    near = lw.Problems.from_arrays(
        (moved.features + np.float32(shift)).reshape(100, ITEMS, 3), reward=moved.reward, problem_ids=range(500, 600)
    )
    with pytest.raises(InputError, match="nearly equal problems that were learned from"):
        model.certify(near)


def test_copies_under_new_ids_are_pointed_out() -> None:
    rng = np.random.default_rng(3)
    x = rng.random((108, ITEMS, 3)).astype(np.float32)
    success = rng.random((108, ITEMS)) < 0.6 * x[..., 0]
    whole = lw.Problems.from_arrays(x, reward=AnySuccess(success))
    model = lw.SCP(2, effort="fast", random_state=0).fit(whole[:100])
    rows = np.repeat(np.arange(100, 108), 25)
    copies = lw.Problems.from_arrays(
        x[rows],
        reward=AnySuccess(success[rows]),
        problem_ids=[f"new {i}" for i in range(200)],
    )
    assert "192 of these problems equal others" in str(model.certify(copies))
    named = model.certify(copies, cluster=rows)
    assert "equal others" not in str(named)
    assert named.n_groups == 8


def test_many_problems_are_certified_under_a_budget() -> None:
    sizes = np.random.default_rng(0).integers(1, 4, (400, ITEMS)).astype(float)
    problems = world(0, 400, topics, sizes=sizes)
    made = lw.SCP(budget=4.0, effort="fast", random_state=0).fit(problems[:100]).certify(problems[100:])
    assert made.n == 300
    assert 0.4 < made.share_of_best <= 1
