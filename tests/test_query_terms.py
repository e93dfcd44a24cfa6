"""QueryTerms of problems, and what they let a policy see."""

from __future__ import annotations

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.features import UncoveredTerms
from listwright.features.auto import auto_features

WEIGHTS = [[1.0, 3.0], [2.0]]
COVERED = [[[0], [0, 1]], [[1]], [], [[0]], [[]]]


@pytest.fixture
def problems() -> lw.Problems:
    query_terms = lw.QueryTerms.from_lists(WEIGHTS, COVERED)
    return lw.Problems.from_arrays(np.zeros((5, 1)), offsets=[0, 3, 5], query_terms=query_terms)


def columns_after(problems: lw.Problems, *picks: list[int]) -> np.ndarray:
    feature = UncoveredTerms().fit(problems)
    seen = feature.start(problems)
    for pick in picks:
        seen = feature.add(seen, np.array(pick))
    return feature.columns(seen)


def test_shares_of_the_query_terms(problems: lw.Problems) -> None:
    empty = columns_after(problems)
    assert empty[:, 0].tolist() == [1, 0.75, 0, 1, 0]  # what the whole candidate would meet
    assert empty[:, 1].tolist() == [1, 0.75, 0, 1, 0]  # what its best part would
    assert empty[:, 3].tolist() == [1] * 5
    after = columns_after(problems, [1, -1])
    assert after[:3].tolist() == [[0.25, 0.25, 1, 0.25], [0, 0, 0.75, 0.25], [0, 0, 0.75, 0.25]]
    np.testing.assert_array_equal(after[3:], empty[3:])


def test_no_single_part_may_meet_all_that_the_whole_does() -> None:
    query_terms = lw.QueryTerms.from_lists([[1.0, 1.0]], [[[0], [1]]])
    problems = lw.Problems.from_arrays([[0.0]], offsets=[0, 1], query_terms=query_terms)
    assert columns_after(problems)[0].tolist() == [1, 0.5, 1, 1]


def test_needs_follow_a_selection_and_a_join(problems: lw.Problems) -> None:
    swapped = problems[[1, 0]]
    np.testing.assert_array_equal(columns_after(swapped), columns_after(problems)[[3, 4, 0, 1, 2]])
    again = lw.Problems.concat([problems[0], problems[1]])
    assert again.query_terms is not None
    assert problems.query_terms is not None
    for field in ("weights", "wholes", "parts", "starts"):
        np.testing.assert_array_equal(getattr(again.query_terms, field), getattr(problems.query_terms, field))
    with pytest.raises(InputError, match="with and without query_terms"):
        lw.Problems.concat([problems, lw.Problems.from_arrays([[0.0]], offsets=[0, 1])])


def test_auto_features_look_at_query_terms(problems: lw.Problems) -> None:
    assert [type(part).__name__ for part in auto_features(problems).parts] == [
        "Candidate",
        "Position",
        "UncoveredTerms",
    ]
    assert "query terms" in repr(problems)


def test_a_model_that_saw_needs_asks_for_them(problems: lw.Problems) -> None:
    rewarded = problems.with_reward(lw.rewards.AnySuccess([1, 0, 0, 1, 0]))
    model = lw.SCP(length=1, effort="fast").fit(rewarded)
    assert [list(items) for items in model.predict(problems)] == [[0], [0]]
    with pytest.raises(InputError, match="the model was trained on problems with query terms"):
        model.predict(lw.Problems.from_arrays(np.zeros((2, 1)), offsets=[0, 2]))


@pytest.mark.parametrize(
    ("weights", "covered", "message"),
    [
        ([[1.0] * 65], [[]], "up to 64 query terms"),
        ([[-1.0]], [[]], "up to 64 query terms"),
        ([[np.nan]], [[]], "up to 64 query terms"),
        ([[1.0]], [[[64]]], "numbered from 0 to 63"),
    ],
)
def test_needs_that_cannot_be(weights: list[list[float]], covered: list[list[list[int]]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        lw.QueryTerms.from_lists(weights, covered)


def test_needs_of_other_rows_are_refused() -> None:
    query_terms = lw.QueryTerms.from_lists(WEIGHTS, COVERED)
    with pytest.raises(InputError, match=r"query_terms must be of 1 problems and 5 candidates\. Got 2 and 5"):
        lw.Problems.from_arrays(np.zeros((5, 1)), offsets=[0, 5], query_terms=query_terms)
    with pytest.raises(InputError, match="UncoveredTerms needs problems with query terms"):
        UncoveredTerms().fit(lw.Problems.from_arrays(np.zeros((5, 1)), offsets=[0, 5]))
