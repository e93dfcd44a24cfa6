"""Chances of exploration: exact, and the same in the compiled walk as in the plain one."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import listwright as lw
from listwright._kernels.draw import draw_one, segment_chances, uniforms
from listwright.features import Rows
from listwright.feedback.drawing import Exploring, Playing
from listwright.feedback.explore import Epsilon, Exploration, InverseGap, Own, Softmax
from listwright.feedback.recommendations import draw_keys
from listwright.policies import ItemDistribution, Linear, PolicyDistribution, RandomPolicy, Sequence
from listwright.policies.mixture import PolicyMixture
from listwright.walk.lists import walk
from tests.problem_tools import small_problems

EXPLORATIONS = [InverseGap(2.0), Epsilon(0.3), Softmax(0.2)]


def problems(n: int = 6, items: int = 7, *, catalogue: bool = False) -> lw.Problems:
    rng = np.random.default_rng(0)
    known = {"catalogue": np.arange(items), "context": rng.random((n, 2))} if catalogue else {}
    return small_problems(n, items, reward=None, sizes=rng.uniform(1, 3, n * items), **known)


def played(found: lw.Problems, learned: float = 9.0) -> tuple[Playing, lw.features.Features]:
    reward = lw.rewards.AnySuccess(found.features[:, 0] > 0.6)
    model = lw.SCP(3, effort="fast", random_state=0).fit(found.with_reward(reward))
    return Playing(model.policy_, learned=learned), model.training_.features


def test_inverse_gaps_by_hand() -> None:
    kind, strength = InverseGap(3.0).kernel_arguments(4.0)
    chances, best = segment_chances(kind, strength, np.array([0.1, 0.5, -np.inf, 0.4]), np.array([0, 4]))
    gamma = 3.0 * np.sqrt(4.0 * 3)
    behind = [1 / (3 + gamma * 0.4), 1 / (3 + gamma * 0.1)]
    np.testing.assert_allclose(chances, [behind[0], 1 - sum(behind), 0.0, behind[1]])
    assert best.tolist() == [1]


def test_nothing_learned_means_even_odds() -> None:
    chances, _ = segment_chances(*InverseGap().kernel_arguments(0.0), np.array([5.0, -1.0, 0.0, 1.0]), np.array([0, 4]))
    np.testing.assert_allclose(chances, 0.25)


@pytest.mark.parametrize("exploration", EXPLORATIONS)
@pytest.mark.parametrize("one_slot", [False, True])
@pytest.mark.parametrize("catalogue", [False, True])
@pytest.mark.parametrize("budget", [None, 4.0])
def test_compiled_walk_draws_what_the_plain_one_draws(
    exploration: Exploration, one_slot: bool, catalogue: bool, budget: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = problems(40, catalogue=catalogue)
    playing, features = played(found)
    budgets = None if budget is None else np.full(len(found), budget)
    numbers = uniforms(draw_keys(3, [str(i) for i in range(40)]), 4)
    options = {"numbers": numbers, "budgets": budgets, "one_slot": one_slot}
    rows, scores, chances = playing.draw(found, features, exploration, **options)
    monkeypatch.setattr("listwright.feedback.drawing.compiled_walk", lambda *_: None)
    plain_rows, plain_scores, plain_chances = playing.draw(found, features, exploration, **options)
    assert np.array_equal(rows, plain_rows)
    np.testing.assert_allclose(chances, plain_chances, rtol=1e-4)
    np.testing.assert_allclose(scores, plain_scores, rtol=1e-4, atol=1e-5)
    assert not budget or (rows < 0).any()


def list_chance(found: lw.Problems, rows: tuple[int, ...], exploration: Exploration, one_slot: bool) -> float:
    playing, features = played(found)
    given = np.array([rows])
    exploring = Exploring(playing.policy, exploration, learned=9.0, length=len(rows), one_slot=one_slot, given=given)
    steps = walk(found, features, exploring, length=len(rows), rng=np.random.default_rng(0))
    return float(np.prod([step.scores[step.picks[0]] for step in steps]))


@pytest.mark.parametrize("exploration", EXPLORATIONS)
@pytest.mark.parametrize("one_slot", [False, True])
def test_chances_of_all_lists_add_up_to_one(exploration: Exploration, one_slot: bool) -> None:
    found = problems(1, 5)
    chances = [list_chance(found, rows, exploration, one_slot) for rows in permutations(range(5), 3)]
    assert sum(chances) == pytest.approx(1.0)
    assert one_slot == any(chance == 0.0 for chance in chances)  # lists that leave the best row twice


def test_draws_come_up_as_often_as_their_chances_say() -> None:
    found = problems(1, 5)
    playing, features = played(found)
    many = lw.Problems.concat([found] * 4000)
    numbers = uniforms(draw_keys(0, [str(i) for i in range(4000)]), 2)
    rows, _, chances = playing.draw(many, features, Epsilon(0.5), numbers=numbers, budgets=None, one_slot=True)
    lists, counts = np.unique(rows - many.offsets[:-1, None], axis=0, return_counts=True)
    drawn = [tuple(one) for one in (rows - many.offsets[:-1, None]).tolist()]
    told = dict(zip(drawn, chances.prod(axis=1), strict=True))
    for one, count in zip(lists.tolist(), counts, strict=True):
        assert count / 4000 == pytest.approx(told[tuple(one)], abs=4 * np.sqrt(told[tuple(one)] / 4000))


def test_uniforms_are_even_and_depend_on_their_key_alone() -> None:
    numbers = uniforms(draw_keys(1, [str(i) for i in range(5000)]), 2)
    assert np.array_equal(numbers[17:18], uniforms(draw_keys(1, ["17"]), 2))
    np.testing.assert_allclose(numbers.mean(axis=0), 0.5, atol=0.02)
    assert abs(np.corrcoef(numbers.T)[0, 1]) < 0.05
    assert not np.array_equal(numbers[:1], uniforms(draw_keys(2, ["0"]), 2))


def test_rounding_never_draws_a_row_without_a_chance() -> None:
    assert draw_one(np.array([0.0, 0.5, 0.5 - 1e-12, 0.0]), 1.0 - 1e-16) == 2
    assert draw_one(np.zeros(3), 0.5) == -1


def rows_of(table: list[list[float]], items: list[int] | None = None) -> Rows:
    values = np.array(table, dtype=np.float32)
    crossed = None
    if items is not None:
        crossed = lw.features.Crossed(np.array(items), max(items) + 1, np.ones((1, 1), dtype=np.float32))
    return Rows(values, np.zeros(len(values), dtype=np.int64), np.array([0, len(values)]), crossed)


def test_own_chances_of_policies_that_draw() -> None:
    rows, options = rows_of([[1.0], [2.0], [3.0]], [0, 1, 2]), np.array([True, True, False])
    items = ItemDistribution(np.array([0.1, 0.3, 0.6]))
    up, down = Linear(np.array([1.0])), Linear(np.array([-1.0]))
    np.testing.assert_allclose(items.chances(rows, options, 0), [0.25, 0.75, 0.0])
    np.testing.assert_allclose(up.chances(rows, options, 0), [0.0, 1.0, 0.0])
    mixed = PolicyDistribution((up, down, RandomPolicy()), np.array([0.5, 0.3, 0.2]))
    np.testing.assert_allclose(mixed.chances(rows, options, 0), [0.4, 0.6, 0.0])
    np.testing.assert_allclose(Sequence((up, down)).chances(rows, options, 7), [1.0, 0.0, 0.0])
    nothing = ItemDistribution(np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(nothing.chances(rows, options, 0), [1.0, 0.0, 0.0])
    with pytest.raises(lw.errors.InputError, match="not known exactly"):
        Own().chances(PolicyMixture((up,)), rows, options, 0, 0.0)


@pytest.mark.parametrize("exploration", [InverseGap(0.0), Epsilon(1.5), Epsilon(float("nan")), Softmax(0.0)])
def test_bad_strengths(exploration: Exploration) -> None:
    with pytest.raises(lw.errors.InputError, match="Got"):
        lw.OnlineSCP(2, explore=exploration).recommend(problems())
