"""Lists drawn from a distribution over items, and the best fixed list."""

from __future__ import annotations

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.evaluation.values import list_values
from tests.problem_tools import problems_of_kinds, recurring_problems, sized_problems


def test_context_free_lists_are_drawn_with_replacement_from_the_distribution() -> None:
    problems = recurring_problems(400)
    model = lw.ContextFreeSCP(4, random_state=0).fit(problems)
    lists = model.predict(problems)
    assert any(len(set(items)) < 4 for items in lists)
    shares = np.bincount(np.concatenate(list(lists)), minlength=8) / (4 * 400)
    np.testing.assert_allclose(shares, model.probabilities_, atol=0.05)
    assert model.probabilities_.sum() == pytest.approx(1)


def test_the_best_fixed_list_beats_the_draws_where_items_complement_each_other() -> None:
    # In every state one of four items succeeds; two pairs cover the states.
    rng = np.random.default_rng(0)
    best = rng.choice(4, size=500, p=[0.45, 0.45, 0.05, 0.05])
    problems = lw.Problems.from_arrays(np.zeros((500, 4, 1)), reward=lw.rewards.AnySuccess(np.eye(4)[best]))
    model = lw.ContextFreeSCP(2, random_state=0).fit(problems)
    fixed = model.predict(problems, best_list=True)
    assert {*fixed[0]} == {0, 1}
    assert all((items == fixed[0]).all() for items in fixed)
    assert list_values(fixed, problems).mean() > model.score(problems)
    assert model.predict(problems, best_list=True, length=1).lengths.max() == 1


def test_the_best_fixed_list_keeps_to_a_budget() -> None:
    problems = sized_problems(catalogue=np.arange(8))
    model = lw.ContextFreeSCP(4, random_state=0).fit(problems)
    free = model.predict(problems, best_list=True)
    lists = model.predict(problems, best_list=True, budget=3.0)
    assert (lists.lengths < free.lengths).any()
    for whole, rows in zip(free.rows, lists.rows, strict=True):
        room, fit = 3.0, []
        for row in whole[whole >= 0]:
            if problems.sizes[row] <= room:
                room -= problems.sizes[row]
                fit.append(row)
        assert rows[rows >= 0].tolist() == fit
    assert (model.predict(problems, best_list=True, length=1, budget=100.0).lengths == 1).all()
    with pytest.raises(InputError, match="budget must be above 0"):
        model.predict(problems, best_list=True, budget=-1)


def test_the_best_fixed_list_leaves_out_what_a_problem_does_not_offer() -> None:
    problems = recurring_problems()
    model = lw.ContextFreeSCP(2, random_state=0).fit(problems)
    wanted = model.best_list_
    offered = np.setdiff1d(np.arange(8), wanted[:1])
    partial = lw.Problems.from_arrays(np.zeros((1, 7, 4)), catalogue=offered)
    got = model.predict(partial, best_list=True)
    assert offered[got[0]].tolist() == wanted[1:].tolist()


def test_the_kept_distribution_is_the_one_shown() -> None:
    model = lw.ContextFreeSCP(2, keep="best", random_state=0).fit(recurring_problems(100))
    np.testing.assert_array_equal(model.probabilities_, model.policy_.probabilities)


def test_without_a_catalogue_the_position_is_the_item() -> None:
    model = lw.ContextFreeSCP(2, random_state=0).fit(problems_of_kinds())
    assert len(model.probabilities_) == 8
    ragged = lw.Problems.from_arrays(np.zeros((5, 1)), offsets=[0, 2, 5], reward=lw.rewards.AnySuccess(np.ones(5)))
    with pytest.raises(InputError, match="need a catalogue"):
        lw.ContextFreeSCP(2).fit(ragged)
