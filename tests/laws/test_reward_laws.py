"""Every reward keeps every law, and what breaks a law is caught and named."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.checks import LawBroken, check_reward
from listwright.rewards import AnySuccess, Coverage, Function, Reward
from tests.laws.reward_examples import EXAMPLES, example


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_reward_keeps_the_laws(name: str) -> None:
    problems = example(name, counts=[3, 1, 5, 8], seed=1)
    check_reward(problems.reward, problems, n_trials=15)


@pytest.mark.parametrize("name", EXAMPLES)
def test_laws_hold_where_there_is_one_candidate(name: str) -> None:
    problems = example(name, counts=[1], seed=2)
    check_reward(problems.reward, problems, n_trials=3)


def test_every_reward_has_an_example() -> None:
    built = {type(build(np.random.default_rng(0), [2])).__name__ for build in EXAMPLES.values()}
    assert built == set(lw.rewards.__all__) - {"Reward", "reward_of"}


def test_the_average_of_references_is_submodular_and_the_best_is_not() -> None:
    candidates = [["a"], ["b"], ["c"]]  # after c, a alone adds nothing to the best reference, and b then adds a half
    references = [[["a", "b"], ["c", "d"]]]
    problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)))
    check_reward(lw.rewards.Rouge(candidates, references), problems)
    best = lw.rewards.Rouge(candidates, references, best=True)
    check_reward(best, problems)

    class SaysItIs(lw.rewards.Rouge):
        submodular = True

    with pytest.raises(LawBroken, match="not submodular"):
        check_reward(SaysItIs(candidates, references, best=True), problems)


def four() -> lw.Problems:
    """Two problems of four items that have names."""
    return lw.Problems.from_arrays(np.zeros((2, 4, 1)), problem_ids=["q17", "q18"], item_ids=["a", "b", "c", "d"])


def broken(reward: Reward, problems: lw.Problems | None = None) -> LawBroken:
    with pytest.raises(LawBroken) as caught:
        check_reward(reward, four() if problems is None else problems)
    return caught.value


FUNCTIONS = {
    "submodular": (
        lambda problem, items: len(set(items)) ** 2 / 16,
        r"Gain of item b rose from 0\.06 to 0\.19 after adding item a to \[\] in problem q17: .* not submodular\.",
    ),
    "monotone": (
        lambda problem, items: 0.5 * bool(items) - 0.1 * (2 in items and len(items) > 1),
        r"Adding item \w to \[\w\] in problem q17 lowers its value by 0\.10: this reward is not monotone\.",
    ),
    "empty": (
        lambda problem, items: 0.3,
        r"An empty list is worth 0\.30 in problem q17: it must be worth 0\.",
    ),
    "bounded": (
        lambda problem, items: 0.6 * len(set(items)),
        r"\[a, b\] is worth 1\.20 in problem q17: this reward does not stay within \[0, 1\]\.",
    ),
}


@pytest.mark.parametrize("law", FUNCTIONS)
def test_a_function_that_breaks_a_law_is_caught(law: str) -> None:
    f, message = FUNCTIONS[law]
    error = broken(Function(f))
    assert error.law == law
    assert re.search(message, str(error))


def test_a_break_that_only_large_problems_have_is_caught() -> None:
    def f(problem: lw.Problems, items: list[int]) -> float:
        return min(len(set(items)), 2) / 4 + 0.5 * (len(set(items)) > 2)

    problems = lw.Problems.from_arrays(np.zeros((1, 12, 1)))
    assert broken(Function(f), problems).law == "submodular"


def test_an_item_in_front_must_not_take_value_away() -> None:
    def first_item_counts(problem: lw.Problems, items: list[int]) -> float:
        return 0.0 if not items else (0.2, 0.8, 0.5, 0.5)[items[0]]

    error = broken(Function(first_item_counts))
    assert error.law == "monotone"
    assert "[b] is worth 0.80 in problem q17, but [a, b] is worth 0.20" in str(error)


class Wrong(AnySuccess):
    """A reward to break in one place."""

    def __init__(self) -> None:
        super().__init__(np.full((2, 4), 0.5))


class AddsInPlace(Wrong):
    def add(self, state: Any, picks: Any) -> Any:
        state.missed[:] = super().add(state, picks).missed
        return state


class ChangesWhatNobodySees(Wrong):
    def add(self, state: Any, picks: Any) -> Any:
        after = super().add(state, picks)
        state.owners[-1] = 0 if state.owners[-1] else 1
        return after._replace(owners=state.owners.copy())


class AddsTwice(Wrong):
    def add(self, state: Any, picks: Any) -> Any:
        return super().add(super().add(state, picks), picks)


class CountsNoPick(Wrong):
    def add(self, state: Any, picks: Any) -> Any:
        after = super().add(state, picks)
        return after._replace(missed=np.where(picks < 0, 0.9 * after.missed, after.missed))


class GainsOfAsAtFirst(Wrong):
    def gains_of(self, state: Any, rows: Any) -> Any:
        return state.success[rows]


class GainsByProblem(Wrong):
    def gains(self, state: Any) -> Any:
        return super().gains(state).reshape(2, 4)


class NeverSliced(Reward):
    """A table by row that does not follow its problems."""

    def __init__(self) -> None:
        self.worth = np.arange(8) / 80

    def start(self, problems: lw.Problems) -> Any:
        return np.zeros(problems.n_rows), np.zeros(len(problems)), problems.owners

    def gains(self, state: Any) -> Any:
        return np.where(state[0] > 0, 0.0, self.worth[: len(state[0])])

    def add(self, state: Any, picks: Any) -> Any:
        rows = picks[picks >= 0]
        taken, values = state[0].copy(), state[1].copy()
        values[picks >= 0] += self.gains(state)[rows]
        taken[rows] = 1
        return taken, values, state[2]

    def value(self, state: Any) -> Any:
        return state[1]


@pytest.mark.parametrize(
    ("reward", "law", "words"),
    [
        (AddsInPlace(), "pure", "add must return a new state"),
        (ChangesWhatNobodySees(), "pure", "add must return a new state"),
        (AddsTwice(), "difference", "gains must be differences of values"),
        (CountsNoPick(), "no pick", "-1 must change nothing"),
        (GainsOfAsAtFirst(), "gains_of", "they must agree"),
        (GainsByProblem(), "shape", r"one number per row (8). Got shape (2, 4)"),
        (NeverSliced(), "slice", "see Reward.take"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Reward) else "",
)
def test_code_that_breaks_a_law_is_caught(reward: Reward, law: str, words: str) -> None:
    error = broken(reward)
    assert error.law == law, str(error)
    assert words in str(error)


def test_a_sum_may_pass_one_and_an_average_of_sums_too() -> None:
    total = Coverage(np.eye(4), normalize=False)
    assert not total.bounded
    assert not lw.rewards.WeightedSum([total]).bounded
    assert not lw.rewards.WeightedProblems(Coverage(np.eye(4)), [1.5]).bounded
    assert lw.rewards.Rouge([["a"]], [["a"]]).bounded
    problems = lw.Problems.from_arrays(np.zeros((1, 4, 1)))
    check_reward(lw.rewards.WeightedSum([total]), problems)


def test_close_numbers_are_told_apart() -> None:
    error = broken(Function(lambda problem, items: min(1.0, len(set(items)) * (0.1 + 1e-6 * len(set(items))))))
    assert "rose from 0.100001 to 0.100003" in str(error)


def test_a_reward_for_other_problems_is_refused() -> None:
    with pytest.raises(lw.errors.InputError, match="one entry per row"):
        check_reward(AnySuccess([[0, 1]]), four())
