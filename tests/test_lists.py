"""What an answer says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import listwright as lw


def answer(item_ids: Any = None, **options: Any) -> lw.Lists:
    """Two lists: items 1, 0 of three, and item 0 of one."""
    problems = lw.Problems.from_arrays(
        np.zeros((4, 1)),
        offsets=[0, 3, 4],
        problem_ids=["x", "y"],
        item_ids=item_ids,
        reward=lw.rewards.AnySuccess([0.5, 1, 0, 0.25]),
    )
    return lw.greedy(problems, length=2, **options)


def test_positions_in_order() -> None:
    lists = answer()
    assert lists[0].tolist() == [1, 0]
    assert lists[1].tolist() == [0]
    assert lists[-1].tolist() == [0]
    assert [one.tolist() for one in lists] == [[1, 0], [0]]
    assert len(lists) == 2
    assert lists.lengths.tolist() == [2, 1]


@pytest.mark.parametrize("i", [2, -3])
def test_an_index_too_far_is_named(i: int) -> None:
    with pytest.raises(IndexError, match=f"There are 2 lists. Got index {i}"):
        answer()[i]


def test_a_list_is_found_by_the_id_of_its_problem() -> None:
    lists = answer()
    assert lists.plot("y").to_dict() == lists.plot(1).to_dict()
    with pytest.raises(IndexError, match=r"There are 2 lists\. Got index z"):
        lists.plot("z")
    problems = lw.Problems.from_arrays(np.eye(6).reshape(2, 3, 6), reward=lw.rewards.AnySuccess(np.eye(2, 3)))
    with pytest.raises(IndexError, match=r"There are 2 lists\. Got index x"):
        lw.greedy(problems, length=2).plot("x")
    named = problems._with(problem_ids=np.array(["x", "y"]))
    lists = lw.SCP(2, effort="fast", random_state=0).fit(problems).predict(named)
    assert str(lists.explain("y")) == str(lists.explain(1)) == str(lists.explain(-1))


def test_ids_are_positions_or_names() -> None:
    assert [ids.tolist() for ids in answer().item_ids] == [[1, 0], [0]]
    assert [ids.tolist() for ids in answer(["a", "b", "c", "a"]).item_ids] == [["b", "a"], ["a"]]


def test_gains_add_up_to_values() -> None:
    lists = answer()
    assert lists.gains is not None
    assert [gains.tolist() for gains in lists.gains] == [[1.0, 0.0], [0.25]]
    assert lists.values is not None
    assert lists.values.tolist() == [1.0, 0.25]


def test_without_a_reward_there_are_no_gains() -> None:
    known = answer()
    lists = lw.Lists(known.problems, known.rows, picked_scores=np.array([[3.0, 2.0], [1.0, 0.0]]))
    assert lists.gains is None
    assert lists.values is None
    assert lists.scores is not None
    assert [scores.tolist() for scores in lists.scores] == [[3.0, 2.0], [1.0]]
    assert list(lists.to_dict()) == ["problem", "position", "item", "score"]
    assert "value" not in repr(lists)


def test_the_answer_holds_no_reward() -> None:
    assert answer().problems.reward is None


@pytest.mark.parametrize("backend", [None, "pandas", "polars", "pyarrow"])
def test_frame_has_one_row_a_pick(backend: str | None) -> None:
    import narwhals as nw

    frame = nw.from_native(answer(["a", "b", "c", "a"]).to_frame(backend), eager_only=True)
    assert frame.to_dict(as_series=False) == {
        "problem": ["x", "x", "y"],
        "position": [1, 2, 1],
        "item": ["b", "a", "a"],
        "gain": [1.0, 0.0, 0.25],
    }


def test_frame_without_names_has_positions() -> None:
    assert answer().to_frame("pandas")["item"].tolist() == [1, 0, 0]


def test_equal_by_content() -> None:
    assert answer() == answer()
    assert answer() == answer(method="naive")
    assert answer(["a", "b", "c", "a"]) != answer(["a", "B", "c", "a"])
    assert answer() != "lists"
    shorter = lw.Lists(answer().problems, answer().rows[:, :1])
    assert answer() != shorter
    with pytest.raises(TypeError, match="unhashable"):
        hash(answer())


def test_lists_of_other_problems_are_not_equal() -> None:
    one = lw.Problems.from_arrays(np.zeros((1, 2, 1)), problem_ids=["x"], reward=lw.rewards.AnySuccess([[0, 1]]))
    other = lw.Problems.from_arrays(np.zeros((1, 2, 1)), problem_ids=["y"], reward=lw.rewards.AnySuccess([[0, 1]]))
    both = lw.Problems.concat([one, other])
    assert lw.greedy(one, length=1) != lw.greedy(other, length=1)
    assert lw.greedy(one, length=1) != lw.greedy(both, length=1)


def test_repr_tells_worth_and_bound() -> None:
    assert repr(answer()) == (
        "Lists: 2 lists of 1 to 2 items, mean value 0.625, at least 1 - 1/e = 0.632 of the best list of this length"
    )
