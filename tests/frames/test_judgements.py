"""TREC diversity judgements as a reward."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.tables import qrels_reward, read_qrels

QRELS = "101 1 doc-a 1\n101 2 doc-a 0\n101 2 doc-b 2\n101 1\tdoc-b 1\n\n102 1 doc-a -2\n102 1 doc-c 1\n"
TABLE = pa.table({"problem": [101, 102, 101, 102], "item": ["doc-a", "doc-a", "doc-b", "doc-x"], "x": [1, 2, 3, 4]})


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "qrels.txt"
    path.write_text(QRELS)
    return path


def test_judgements_above_0_cover_their_subtopic(qrels: Path) -> None:
    problems = lw.Problems.from_frame(TABLE, reward=f"qrels:{qrels}")
    expected = lw.rewards.Coverage([[1, 0], [1, 1], [0, 0], [0, 0]])
    by_hand = lw.Problems.from_frame(TABLE).with_reward(expected)
    np.testing.assert_array_equal(
        problems.reward.gains(problems.reward.start(problems)),
        expected.bind(by_hand.offsets).gains(expected.start(by_hand)),
    )


def test_the_same_reward_for_problems_that_are_there_already(qrels: Path) -> None:
    problems = lw.Problems.from_frame(TABLE)
    lists = lw.greedy(problems.with_reward(qrels_reward(read_qrels(qrels), problems)), length=1)
    assert lists.item_ids[0].tolist() == ["doc-b"]
    assert lists.values is not None
    assert lists.values.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty. It must have lines of: query subtopic document judgement"),
        ("101 1 doc-a\n", "line 1: expected query, subtopic, document and judgement. Got 3 fields"),
        ("101 1 doc-a 1\n101 1 doc-b x\n", "line 2: the judgement must be a number. Got 'x'"),
        ("101 1 doc-a nan\n", "line 1: the judgement must be a number. Got 'nan'"),
        ("101 1 doc-a 1\n", "has no line for query 102"),
    ],
)
def test_errors_name_the_line(qrels: Path, text: str, message: str) -> None:
    qrels.write_text(text)
    with pytest.raises(InputError, match=message):
        lw.Problems.from_frame(TABLE, reward=f"qrels:{qrels}")


def test_items_need_ids(qrels: Path) -> None:
    with pytest.raises(InputError, match="no item ids"):
        lw.Problems.from_frame(TABLE.drop_columns("item"), reward=f"qrels:{qrels}")
