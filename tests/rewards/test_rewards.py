"""Rewards: what they take, what they refuse, and the cases at the edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import listwright as lw
from listwright import rewards as rw
from listwright.errors import InputError
from tests.laws.reward_examples import EXAMPLES, example

OFFSETS = [0, 2, 5]


def bound(reward: rw.Reward, offsets: Any = OFFSETS) -> lw.Problems:
    return lw.Problems.from_arrays(np.zeros((offsets[-1], 1)), offsets=offsets, reward=reward)


def worth(reward: rw.Reward, *picks: list[int], offsets: Any = OFFSETS) -> list[float]:
    """Values after the picks, one list of rows per step."""
    problems = bound(reward, offsets)
    state = problems.reward.start(problems)
    for step in picks:
        state = problems.reward.add(state, np.array(step))
    return problems.reward.value(state).tolist()


def gains(problems: lw.Problems) -> list[float]:
    return problems.reward.gains(problems.reward.start(problems)).tolist()


EYE = np.eye(5)
BAD: list[tuple[rw.Reward, str]] = [
    (rw.AnySuccess([0, 1, 2, 0, 0]), "success must be between 0 and 1. Got 2.0 for item 0 of problem number 1"),
    (rw.AnySuccess([0, np.nan, 0, 0, 0]), "Got nan for item 1 of problem number 0"),
    (rw.AnySuccess(np.zeros((2, 2))), r"one entry per row \(5\). Got shape \(2, 2\)"),
    (rw.AnySuccess("yes"), "success must be an array of numbers"),
    (rw.Coverage(0.5 * EYE), "Coverage takes 0/1 entries"),
    (rw.Coverage(np.eye(4)), r"one row per candidate \(5\). Got shape \(4, 4\)"),
    (rw.Coverage(sparse.eye_array(4)), r"one row per candidate \(5\)"),
    (rw.Coverage(EYE, [1, 2]), r"weights must have one entry per topic \(5\)"),
    (rw.Coverage(EYE, np.ones((3, 5))), r"weights must have one entry per topic \(5\), or one row per problem"),
    (rw.Coverage(EYE, [1, 1, -1, 1, 1]), "weights must be 0 or more. Got -1.0"),
    (rw.ProbabilisticCoverage(2 * EYE), "p must be between 0 and 1. Got 2.0 for item 0 of problem number 0"),
    (rw.ProbabilisticCoverage(np.full((5, 1), np.nan)), "Got nan"),
    (rw.ConcaveCoverage(-EYE), "covers must be 0 or more. Got -1.0"),
    (rw.ConcaveCoverage(EYE, "square"), "shape must be one of sqrt, log, cap. Got 'square'"),
    (rw.ConcaveCoverage(EYE, "sqrt", caps=1), "caps go with shape='cap'. Got shape='sqrt'"),
    (rw.ConcaveCoverage(EYE, "cap", caps=[1, 2]), "caps must have one entry per topic"),
    (rw.FacilityLocation(EYE), r"one matrix per problem \(2\). Got 1"),
    (rw.FacilityLocation([np.eye(2), np.eye(2)]), "similarity of problem number 1 must be 3 x 3"),
    (rw.FacilityLocation([np.eye(2), np.full((3, 3), np.inf)]), "items 0 and 0 of problem number 1 is inf"),
    (rw.FacilityLocation([np.eye(2), np.diag([0, np.inf, -np.inf])]), "items 1 and 1 of problem number 1 is inf"),
    (rw.FacilityLocation(sparse.csr_array(np.ones((5, 5)))), "stay within problems, but problem number 0"),
    (rw.FacilityLocation(sparse.eye_array(4, format="csr")), "similarity must be 5 x 5"),
    (rw.FacilityLocation(sparse.csr_array(np.diag([1, 1, 1, np.nan, 1]))), "Got nan for item 1 of problem number 1"),
    (rw.LogDet(np.zeros((4, 2))), r"one row per candidate \(5\)"),
    (rw.LogDet(EYE, scale=0), "scale must be above 0. Got 0"),
    (rw.LogDet(np.diag([1, 1, 1, np.nan, 1])), "item 1 of problem number 1 is not"),
    (rw.Rouge([["a"]] * 4, [["a"]] * 2), r"one token list per row \(5\). Got 4"),
    (rw.Rouge([["a"]] * 5, [["a"]]), r"one entry per problem \(2\). Got 1"),
    (rw.Rouge(["a text"] * 5, [["a"]] * 2), "candidates must be lists of tokens"),
    (rw.Rouge([["a"]] * 5, ["a text", ["a"]]), "References of problem number 0 must be tokens"),
    (rw.Rouge([["a"]] * 5, [["a"], []]), "Problem number 1 has no reference with any token"),
    (rw.Rouge([["a"]] * 5, [["a"], [[]]]), "Problem number 1 has no reference with any token"),
    (rw.Rouge([["a"]] * 5, [["a"]] * 2, n=0), "n must be at least 1. Got 0"),
    (rw.WeightedSum([]), r"one weight per reward \(0\)"),
    (rw.WeightedSum([rw.AnySuccess(np.zeros(5))], [1, 2]), r"one weight per reward \(1\)"),
    (rw.WeightedSum([rw.AnySuccess(np.zeros(5))], [-1]), "0 or more, and not all 0"),
    (rw.WeightedSum([rw.AnySuccess(np.zeros(4))]), r"one entry per row \(5\)"),
]


@pytest.mark.parametrize(("reward", "message"), BAD, ids=[f"{type(r).__name__}: {m[:30]}" for r, m in BAD])
def test_bad_input_is_named(reward: rw.Reward, message: str) -> None:
    with pytest.raises(InputError, match=message):
        bound(reward)


def test_a_sparse_cell_given_twice_is_one_cell() -> None:
    def twice(value: float) -> Any:
        return sparse.csr_array((np.full(2, value), [0, 0], [0, 2, 2]), shape=(2, 1))

    assert worth(rw.ProbabilisticCoverage(twice(0.25)), [0], offsets=[0, 2]) == [0.5]
    with pytest.raises(InputError, match=r"p must be between 0 and 1. Got 1.2"):
        bound(rw.ProbabilisticCoverage(twice(0.6)), [0, 2])
    square = sparse.csr_array((np.full(2, 0.25), [0, 0], [0, 2, 2]), shape=(2, 2))
    assert worth(rw.FacilityLocation(square, normalize=False), [0], offsets=[0, 2]) == [0.5]
    assert square.nnz == 2  # what the user gave stays as it was


def test_a_number_that_overflows_float32_sums_is_still_a_number() -> None:
    block = np.full((2, 2), 3e38, dtype=np.float32)
    assert worth(rw.FacilityLocation(block), [0], offsets=[0, 2]) == [1.0]


@pytest.mark.parametrize("name", EXAMPLES)
def test_rewards_follow_selections_and_come_together_again(name: str) -> None:
    problems = example(name, [3, 1, 4, 2])
    parts = [problems[[2, 0]], problems[[3]], problems[[1]]]
    rows = [4, 5, 6, 7, 0, 1, 2, 8, 9, 3]
    assert gains(lw.Problems.concat(parts)) == [gains(problems)[row] for row in rows]
    assert gains(lw.Problems.concat([problems])) == gains(problems)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "function"])
def test_a_reward_made_for_other_problems_does_not_fit(name: str) -> None:
    reward = example(name, [3, 2]).reward
    with pytest.raises(InputError, match=r"is for 3 candidates in problem number 0. Got 2"):
        bound(reward)
    with pytest.raises(InputError, match=r"is for 2 problems. Got 1"):
        bound(reward, [0, 5])


def test_rewards_that_differ_are_not_joined() -> None:
    def one(reward: rw.Reward, name: str) -> lw.Problems:
        return lw.Problems.from_arrays(np.zeros((1, 2, 1)), reward=reward, problem_ids=[name])

    pairs: list[tuple[rw.Reward, rw.Reward]] = [
        (rw.Coverage(np.eye(2)), rw.Coverage(np.eye(2), normalize=False)),
        (rw.FacilityLocation(np.eye(2)), rw.FacilityLocation(sparse.eye_array(2, format="csr"))),
        (rw.LogDet(np.eye(2)), rw.LogDet(np.ones((2, 3)))),
        (rw.WeightedSum([rw.LogDet(np.eye(2))] * 2, [1, 2]), rw.WeightedSum([rw.LogDet(np.eye(2))] * 2, [2, 1])),
        (rw.WeightedSum([rw.LogDet(np.eye(2))]), rw.LogDet(np.eye(2))),
        (rw.Function(lambda problem, items: 0.0), rw.Function(lambda problem, items: 0.5)),
    ]
    for a, b in pairs:
        with pytest.raises(InputError, match="join"):
            lw.Problems.concat([one(a, "a"), one(b, "b")])


def test_arrays_may_come_by_problem() -> None:
    offsets = [0, 2, 4]
    cube = np.random.default_rng(0).integers(2, size=(2, 2, 3)).astype(float)
    flat = cube.reshape(4, 3)
    for by_problem, by_row in [
        (rw.AnySuccess(cube[:, :, 0]), rw.AnySuccess(flat[:, 0])),
        (rw.Coverage(cube), rw.Coverage(flat)),
        (rw.LogDet(cube), rw.LogDet(flat)),
        (rw.ProbabilisticCoverage(cube), rw.ProbabilisticCoverage(flat)),
    ]:
        assert gains(bound(by_problem, offsets)) == gains(bound(by_row, offsets))
    with pytest.raises(InputError, match="one row per candidate"):
        bound(rw.Coverage(cube), [0, 1, 4])  # the rows are as many, but they belong to other problems


def test_similarity_comes_in_three_ways() -> None:
    blocks = [np.array([[1.0, 0.5], [0.2, 1.0]]), np.array([[1.0, 0.3, 0.0], [0.0, 1.0, 0.1], [0.5, 0.5, 1.0]])]
    dense = gains(bound(rw.FacilityLocation(blocks)))
    assert gains(
        bound(rw.FacilityLocation(sparse.block_diag([sparse.csr_array(block) for block in blocks], format="csr")))
    ) == pytest.approx(dense)
    assert gains(bound(rw.FacilityLocation(blocks[0]), [0, 2])) == dense[:2]
    assert gains(bound(rw.FacilityLocation(blocks[0].tolist()), [0, 2])) == dense[:2]


def test_topics_belong_to_their_problem() -> None:
    covers = [[1, 0], [0, 1], [1, 0], [1, 0], [0, 1]]
    assert worth(rw.Coverage(covers), [0, -1]) == [0.5, 0.0]
    weights = [[3, 1], [1, 1]]
    assert worth(rw.Coverage(covers, weights), [0, 2]) == [0.75, 0.5]
    caps = [[1, 1], [0.5, 1]]
    assert worth(rw.ConcaveCoverage(covers, "cap", caps, normalize=False), [0, 2]) == [1.0, 0.5]


REPEATS = {
    "AnySuccess": (rw.AnySuccess([0.5, 0]), 0.5, 0.75),
    "Coverage": (rw.Coverage([[1, 0], [0, 1]]), 0.5, 0.5),
    "ProbabilisticCoverage": (rw.ProbabilisticCoverage([[0.5], [0.5]]), 0.5, 0.75),
    "ConcaveCoverage": (rw.ConcaveCoverage([[1.0], [8.0]]), 1 / 3, 2**0.5 / 3),
    "ConcaveCoverage, held at 1": (rw.ConcaveCoverage([[4.0], [1.0]]), 0.8**0.5, 1.0),
    "FacilityLocation": (rw.FacilityLocation([[1.0, 0.0], [0.0, 1.0]]), 0.5, 0.5),
    "LogDet": (rw.LogDet([[1.0], [0.0]], normalize=False), np.log(2), np.log(3)),
    "LogDet, held at 1": (rw.LogDet([[1.0], [0.0]]), 1.0, 1.0),
    "Rouge": (rw.Rouge([["a"], ["b"]], [["a", "a", "b", "c"]]), 0.25, 0.5),
}


@pytest.mark.parametrize("name", REPEATS)
def test_a_repeat_is_worth_what_the_reward_says(name: str) -> None:
    reward, once, twice = REPEATS[name]
    assert worth(reward, [0], offsets=[0, 2]) == pytest.approx([once])
    assert worth(reward, [0], [0], offsets=[0, 2]) == pytest.approx([twice])


NOTHING = [
    rw.AnySuccess(np.zeros(5)),
    rw.Coverage(np.zeros((5, 3))),
    rw.Coverage(np.zeros((5, 0))),
    rw.Coverage(np.ones((5, 2)), weights=[0, 0]),
    rw.ProbabilisticCoverage(sparse.csr_array((5, 3))),
    rw.ConcaveCoverage(np.zeros((5, 3)), "log"),
    rw.ConcaveCoverage(np.ones((5, 1)), "cap", caps=0),
    rw.FacilityLocation([-np.ones((2, 2)), np.zeros((3, 3))]),
    rw.FacilityLocation(sparse.csr_array((5, 5))),
    rw.LogDet(np.zeros((5, 2))),
    rw.LogDet(np.zeros((5, 0))),
    rw.Rouge([[]] * 5, [["a"], ["b"]]),
    rw.Rouge([["a"]] * 5, [["a"], ["b"]], n=4),
]


@pytest.mark.parametrize("reward", NOTHING, ids=lambda reward: repr(reward))
def test_where_there_is_nothing_to_earn_everything_is_worth_0(reward: rw.Reward) -> None:
    assert gains(bound(reward)) == [0.0] * 5
    assert worth(reward, [0, 3], [1, 3]) == [0.0, 0.0]


@pytest.mark.parametrize("name", [name for name in EXAMPLES if example(name, [2]).reward.bounded])
def test_all_candidates_together_are_worth_at_most_1(name: str) -> None:
    problems = example(name, [4, 4, 1], seed=3)
    lists = lw.greedy(problems, length=4)
    assert lists.values is not None
    assert (lists.values <= 1 + 1e-12).all()


@pytest.mark.parametrize(
    "name", ["coverage", "coverage, weights", "concave coverage, sqrt", "facility location", "log det"]
)
def test_all_candidates_together_are_worth_1(name: str) -> None:
    lists = lw.greedy(example(name, [4, 6], seed=3), length=6)
    assert lists.values is not None
    assert lists.values == pytest.approx([1.0, 1.0])


def test_n_grams_stay_within_an_item() -> None:
    reward = rw.Rouge([["a", "b"], ["c", "d"]], [["a", "b", "c", "d"]], n=2)
    assert worth(reward, [0], [1], offsets=[0, 2]) == pytest.approx([2 / 3])


def test_a_reward_that_belongs_nowhere_says_so() -> None:
    with pytest.raises(InputError, match="is not attached to problems yet"):
        rw.AnySuccess([0, 1]).take(np.array([0]))


def test_a_function_sees_one_problem_and_positions() -> None:
    seen = []

    def f(problem: lw.Problems, items: list[int]) -> float:
        seen.append((problem.problem_ids[0], len(problem), problem.reward, tuple(items)))
        return len(set(items)) / 3

    assert worth(rw.Function(f), [1, -1], [-1, 4]) == pytest.approx([1 / 3, 1 / 3])
    assert (0, 1, None, (1,)) in seen
    assert (1, 1, None, (2,)) in seen
    assert len(seen) == len(set(seen))  # nothing is measured twice


def test_a_function_must_give_numbers() -> None:
    problems = bound(rw.Function(lambda problem, items: float("nan") if items else 0.0))
    with pytest.raises(InputError, match=r"gave nan for items \[0\] of problem 0"):
        gains(problems)


def test_problems_without_a_reward_say_who_needs_it() -> None:
    with pytest.raises(InputError, match="fit needs a reward, but these problems have none"):
        rw.reward_of(lw.Problems.from_arrays(np.zeros((1, 2, 1))))


@pytest.mark.parametrize(
    ("reward", "text"),
    [
        (rw.AnySuccess([0]), "AnySuccess()"),
        (rw.ConcaveCoverage([[1]], "log"), "ConcaveCoverage(shape='log', normalize=True)"),
        (rw.Rouge([], []), "Rouge(n=1, stem=False, best=False)"),
        (rw.WeightedSum([rw.AnySuccess([0])], [2]), "WeightedSum([AnySuccess()], weights=[2])"),
        (rw.Function(max), "Function(max)"),
    ],
)
def test_repr_tells_the_options(reward: rw.Reward, text: str) -> None:
    assert repr(reward) == text
