"""TREC run files, in and out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.tables import Judgements, qrels_reward, read_run, run_lists, write_run


def two_queries() -> lw.Problems:
    return lw.Problems.from_arrays(
        np.zeros((2, 3, 1)), problem_ids=["7", "9"], item_ids=[["a", "b", "c"], ["a", "d", "e"]]
    )


def test_lists_come_back_from_their_own_run_file(tmp_path: Path) -> None:
    problems = two_queries()
    lists = lw.Lists(problems, np.array([[2, 0, 1], [4, 5, -1]]))
    write_run(lists, tmp_path / "mine.run", tag="mine")
    assert (tmp_path / "mine.run").read_text().splitlines()[3] == "9 Q0 d 1 2 mine"
    np.testing.assert_array_equal(run_lists(tmp_path / "mine.run", problems, length=3).rows, lists.rows)


def test_a_run_is_ranked_by_score_and_ties_stay_in_order(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("7 Q0 a 1 0.5 x\n7 Q0 b 2 0.9 x\n\n7 Q0 c 3 0.5 x\n")
    assert read_run(tmp_path / "run") == {"7": [("b", 0.9), ("a", 0.5), ("c", 0.5)]}


def test_documents_outside_leave_a_gap_and_missing_queries_an_empty_list() -> None:
    lists = run_lists({"9": [("e", 3.0), ("z", 2.0), ("a", 1.0)]}, two_queries(), length=3)
    np.testing.assert_array_equal(lists.rows, [[-1, -1, -1], [5, -1, 3]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("7 Q0 a 1 0.5\n", "line 1: expected query Q0 document rank score tag. Got 5 fields"),
        ("7 Q0 a 1 high x\n", "line 1: the score must be a number. Got 'high'"),
        ("7 Q0 a 1 nan x\n", "line 1: the score must be a number"),
        ("7 Q0 a 1 2 x\n7 Q0 a 2 1 x\n", "ranks document a of query 7 twice"),
    ],
)
def test_bad_runs_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "run").write_text(text)
    with pytest.raises(InputError, match=message):
        read_run(tmp_path / "run")


def test_names_with_spaces_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    problems = lw.Problems.from_arrays(np.zeros((1, 1, 1)), item_ids=["two words"])
    lists = lw.Lists(problems, np.array([[0]]))
    with pytest.raises(InputError, match="cannot have spaces"):
        write_run(lists, tmp_path / "run")
    with pytest.raises(InputError, match="tag must be one word"):
        write_run(lists, tmp_path / "run", tag="my run")
    assert not (tmp_path / "run").exists()


def test_problems_without_item_ids_have_no_documents() -> None:
    with pytest.raises(InputError, match="no item ids"):
        run_lists({"0": [("a", 1.0)]}, lw.Problems.from_arrays(np.zeros((1, 2, 1))))


def test_judgements_outside_the_candidates_make_the_ideal() -> None:
    answers = {("7", "a"): ["1"], ("7", "elsewhere"): ["1", "2"], ("9", "d"): ["1"]}
    problems = two_queries()
    problems = problems.with_reward(qrels_reward(Judgements(answers, frozenset("79")), problems, alpha=0.5))
    lists = lw.Lists(problems, np.array([[0, 1], [3, 4]]))
    ideal = 2 + 0.5 / np.log2(3)
    found = lw.evaluation.alpha_ndcg(lists, problems, ideal="judged")
    np.testing.assert_allclose(found, [1 / ideal, 1 / np.log2(3)])
    np.testing.assert_allclose(lw.evaluation.subtopic_recall(lists, problems), [1 / 2, 1])
