"""TREC diversity judgements with runs or given candidates."""

from __future__ import annotations

from pathlib import Path

import pytest

import listwright as lw
from listwright.datasets import read_trec_diversity
from listwright.errors import InputError

QRELS = """1 1 doc-a 1
1 2 doc-a 0
1 2 doc-b 2
1 3 doc-c 1
1 1 doc-x 1
2 0 doc-a -2
3 1 doc-b 1
"""
RUN = """1 Q0 doc-a 1 9.0 mine
1 Q0 doc-b 2 8.0 mine
1 Q0 doc-d 3 5.0 mine
2 Q0 doc-a 1 3.0 mine
3 Q0 doc-b 1 3.0 mine
"""
OTHER = "1 Q0 doc-c 1 0.5 other\n1 Q0 doc-a 2 0.4 other\n"


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "mine").write_text(RUN)
    (tmp_path / "other").write_text(OTHER)
    return tmp_path / "qrels"


def test_candidates_given(qrels: Path) -> None:
    vectors = {"doc-b": [1.0, 2.0], "doc-new": [0.0, 0.0], "doc-a": [3.0, 1.0]}
    problems = read_trec_diversity(qrels, candidates={"1": vectors, "2": vectors})
    assert problems.problem_ids.tolist() == ["1"]
    assert problems.features.tolist() == [[1, 2], [0, 0], [3, 1]]
    state = problems.reward.start(problems)
    assert problems.reward.gains(state).tolist() == [0.5, 0, 0.5]


def test_candidates_from_runs(qrels: Path) -> None:
    problems = read_trec_diversity(qrels, runs=[qrels.parent / "mine", qrels.parent / "other"])
    assert problems.problem_ids.tolist() == ["1", "3"]
    assert problems.item_ids is not None
    assert problems.item_ids.tolist() == ["doc-a", "doc-b", "doc-d", "doc-c", "doc-b"]
    assert problems.feature_names == ("mine rank", "mine score", "other rank", "other score")
    assert problems.features[0].tolist() == pytest.approx([60 / 61, 1, 60 / 62, 0])
    assert problems.features[1].tolist() == pytest.approx([60 / 62, 0.75, 0, 0])
    best = lw.greedy(problems, length=3)
    assert sorted(best.item_ids[0].tolist()) == ["doc-a", "doc-b", "doc-c"]
    short = read_trec_diversity(qrels, runs=[qrels.parent / "mine"], depth=1)
    assert short.counts.tolist() == [1, 1]


def test_marks_line_ends_and_blank_lines(qrels: Path) -> None:
    run = qrels.parent / "mine"
    plain = read_trec_diversity(qrels, runs=[run])
    for path in (qrels, run):
        path.write_bytes(b"\xef\xbb\xbf\r\n" + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    problems = read_trec_diversity(qrels, runs=[run])
    assert problems.problem_ids.tolist() == plain.problem_ids.tolist()
    assert problems.item_ids is not None
    assert plain.item_ids is not None
    assert problems.item_ids.tolist() == plain.item_ids.tolist()
    assert problems.features.tolist() == plain.features.tolist()


def test_bad_files_are_named(qrels: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="either candidates with features, or runs"):
        read_trec_diversity(qrels)
    with pytest.raises(InputError, match="A file of judgements is not there"):
        read_trec_diversity(tmp_path / "nothing", candidates={"1": {"doc-a": [1.0]}})
    with pytest.raises(InputError, match="judges no candidate of any query"):
        read_trec_diversity(qrels, candidates={"2": {"doc-a": [1.0]}})
    with pytest.raises(InputError, match="as many features as the others"):
        read_trec_diversity(qrels, candidates={"1": {"doc-a": [1.0], "doc-b": [1.0, 2.0]}})
    (tmp_path / "mine").write_text("1 Q0 doc-a 1 high mine\n")
    with pytest.raises(InputError, match=r"mine, line 1: the score must be a number"):
        read_trec_diversity(qrels, runs=[tmp_path / "mine"])
