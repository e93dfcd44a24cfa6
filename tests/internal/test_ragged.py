"""Arrays cut by problem."""

from __future__ import annotations

import numpy as np
import pytest

from listwright._internal.arrays import Ragged, is_run, per_problem, pieces

OFFSETS = np.array([0, 2, 2, 5])
TABLE = Ragged(np.array([1, 2, 3, 4, 5]), OFFSETS)


@pytest.mark.parametrize("which", [[0], [1], [2, 0], [0, 1, 2], [2, 2, 0], [1, 1]])
def test_take_is_each_piece_in_turn(which: list[int]) -> None:
    taken = TABLE.take(np.array(which))
    expected = [TABLE.values[OFFSETS[i] : OFFSETS[i + 1]].tolist() for i in which]
    assert [taken.values[taken.offsets[i] : taken.offsets[i + 1]].tolist() for i in range(len(taken))] == expected


def test_pieces_are_indices() -> None:
    assert pieces(OFFSETS, np.array([2, 1, 0])).tolist() == [2, 3, 4, 0, 1]


@pytest.mark.parametrize(("which", "run"), [([], False), ([3], True), ([3, 4], True), ([4, 3], False), ([1, 1], False)])
def test_a_run_goes_up_by_one(which: list[int], run: bool) -> None:
    assert is_run(np.array(which, dtype=int)) is run


def test_neighbours_are_a_view_and_others_a_copy() -> None:
    assert np.shares_memory(TABLE.take(np.array([1, 2])).values, TABLE.values)
    assert not np.shares_memory(TABLE.take(np.array([2, 0])).values, TABLE.values)


def test_concat_undoes_take() -> None:
    again = Ragged.concat([TABLE.take(np.array([0])), TABLE.take(np.array([1, 2]))])
    assert again.values.tolist() == TABLE.values.tolist()
    assert again.offsets.tolist() == OFFSETS.tolist()


def test_rows_of_a_matrix_stay_whole() -> None:
    table = Ragged(np.arange(10).reshape(5, 2), OFFSETS)
    assert table.take(np.array([2, 0])).values.tolist() == [[4, 5], [6, 7], [8, 9], [0, 1], [2, 3]]


def test_per_problem_has_pieces_of_one() -> None:
    assert per_problem(np.array([7, 8, 9])).take(np.array([2, 0])).values.tolist() == [9, 7]
