"""TREC Web data from a folder of one's own making, and what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.evaluation import alpha_ndcg


def record(name: str, **changes: Any) -> dict[str, Any]:
    """A query with three documents, of which two cover a subtopic each; a third subtopic is nowhere among them."""
    return {
        "query": name,
        "text": "jaguar",
        "fold": 1,
        "suggestions": ["jaguar car", "jaguar cat"],
        "documents": ["clueweb09-en0000-1-1", "clueweb09-enwp01-1-1", "clueweb09-en0099-1-1"],
        "indri": [-3.0, -4.0, -5.0],
        "bm25": [1.0, 1.0, None],
        "bm25_suggestions": [[3.0, 1.0, 0.0], [1.0, 2.0, 0.0]],
        "subtopics": 3,
        "covers": [[0], [2], []],
        "ideal_dcg": [2.0, 2.6, 2.6],
        "published": {"theirs": [1, -1, 0]},
    } | changes


def folder_with(tmp_path: Path, *records: dict[str, Any]) -> Path:
    with gzip.open(tmp_path / "queries.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(map(json.dumps, records)))
    return tmp_path


def test_problems_and_published_rankings(tmp_path: Path) -> None:
    bare = record("9", suggestions=[], bm25_suggestions=[])
    web = lw.datasets.read_trec_web(folder_with(tmp_path, record("7"), bare))
    problems = web.problems
    assert problems.feature_names == ("indri", "bm25", "suggestions", "rank", "wikipedia", "category b")
    np.testing.assert_array_equal(problems.features[:3, 4:], [[0, 1], [1, 1], [0, 0]])
    np.testing.assert_allclose(problems.aspects["suggestions"][:3], [[1, 0.5], [1 / 3, 1], [0, 0]], atol=1e-6)
    np.testing.assert_allclose(problems.aspects["own words"][:3], [[1, 0], [0, 1], [0, 0]], atol=1e-6)
    np.testing.assert_allclose(problems.aspects["suggestions"][3:, 0], [1, 1, 0])  # the query stands in for suggestions
    assert web.texts == ("jaguar", "jaguar")
    np.testing.assert_array_equal(web.published["theirs"].rows, [[1, -1, 0], [4, -1, 3]])
    dcg = 1 + 1 / 2  # ranks 1 and 3
    np.testing.assert_allclose(alpha_ndcg(web.published["theirs"], problems, ideal="judged"), dcg / 2.6)
    np.testing.assert_allclose(lw.evaluation.subtopic_recall(web.published["theirs"], problems), 2 / 3)


def test_marks_line_ends_and_blank_lines(tmp_path: Path) -> None:
    lines = [json.dumps(record(name)).encode() for name in ("7", "9")]
    (tmp_path / "queries.jsonl").write_bytes(b"\xef\xbb\xbf" + b"\r\n\r\n".join(lines) + b"\r\n\r\n")
    problems = lw.datasets.read_trec_web(tmp_path).problems
    assert problems.problem_ids.tolist() == ["7", "9"]
    assert len(problems.features) == 6


def test_more_columns_come_from_the_arrays_beside(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, record("7"), record("9"))
    table = np.column_stack([np.arange(6.0), np.repeat([1.0, 2.0], 3)])
    np.savez(folder / "trec_web.npz", offsets=[0, 3, 6], features=table, feature_names=["own", "of the query"])
    problems = lw.datasets.read_trec_web(folder).problems
    assert problems.feature_names == ("own",)
    np.testing.assert_array_equal(problems.context, [[1.0], [2.0]])
    np.savez(folder / "trec_web.npz", offsets=[0, 2, 6], features=table, feature_names=["own", "of the query"])
    with pytest.raises(InputError, match="is for other queries"):
        lw.datasets.read_trec_web(folder)


def test_a_policy_learns_from_them(tmp_path: Path) -> None:
    problems = lw.datasets.read_trec_web(folder_with(tmp_path, *(record(str(i)) for i in range(10)))).problems
    model = lw.SCP(length=2, effort="fast", random_state=0).fit(problems)
    assert set(model.predict(problems.without_reward())[0]) == {0, 1}


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], "is empty"),
        ([{"query": "7"}], "Query 7 of .* lacks text"),
        ([record("7", covers=[[0]])], "Query 7 of .* has 3 documents, but 1 of covers"),
        ([record("7", bm25_suggestions=[[1.0]])], r"but 1 of bm25_suggestions\[0\]"),
        ([record("7", published={"theirs": [5]})], "theirs ranks document 5"),
        ([record("7", documents=["a", "b", "c"])], "Query 7 of .*: document 'a' has no id of ClueWeb09, such as clue"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, records: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        lw.datasets.read_trec_web(folder_with(tmp_path, *records))


def test_a_folder_without_queries(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"needs queries.jsonl.gz or queries.jsonl"):
        lw.datasets.read_trec_web(tmp_path)
