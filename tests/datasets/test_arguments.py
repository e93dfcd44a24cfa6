"""ArgKP debates as JSON lines and as the published tables."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.datasets import Arguments, read_arguments
from listwright.errors import InputError
from listwright.text.readers import ReadingNote

TEXTS = ["Cars pollute the city air", "Cars pollute the air", "Streets, full of noise\nare unsafe", "I like trains"]


def debate(split: str, stance: int, topic: str = "We should ban cars") -> dict[str, Any]:
    return {
        "split": split,
        "topic": topic,
        "stance": stance,
        "arguments": [{"id": f"arg_{stance}_{i}", "text": text} for i, text in enumerate(TEXTS)],
        "key_points": [{"id": f"kp_{stance}_{i}", "text": "A key point"} for i in range(2)],
        "matches": [[f"arg_{stance}_{a}", f"kp_{stance}_{k}"] for a, k in [(0, 0), (1, 0), (2, 1), (2, 0)]],
    }


DEBATES = [debate("train", 1), debate("train", -1), debate("test", 1, "We should ban all cars")]


@pytest.fixture
def arguments(tmp_path: Path) -> Arguments:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, DEBATES)))
    return read_arguments(path)


def write_tables(folder: Path) -> None:
    """The three files of each split, as published."""
    for split in ("train", "test"):
        mine = [record for record in DEBATES if record["split"] == split]
        where = {id(record): [record["topic"], record["stance"]] for record in mine}
        rows = [[a["id"], a["text"], *where[id(r)]] for r in mine for a in r["arguments"]]
        write(folder / f"arguments_{split}.csv", ["arg_id", "argument", "topic", "stance"], rows)
        rows = [[k["id"], k["text"], *where[id(r)]] for r in mine for k in r["key_points"]]
        write(folder / f"key_points_{split}.csv", ["key_point_id", "key_point", "topic", "stance"], rows)
        rows = [[*pair, 1] for r in mine for pair in r["matches"]]
        rows += [[r["arguments"][3]["id"], r["key_points"][0]["id"], 0] for r in mine]
        write(folder / f"labels_{split}.csv", ["arg_id", "key_point_id", "label"], rows)


def write(path: Path, head: list[str], rows: list[list[Any]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def test_problems(arguments: Arguments) -> None:
    problems = arguments.problems
    assert problems.problem_ids.tolist() == [
        "We should ban cars (pro)",
        "We should ban cars (con)",
        "We should ban all cars (pro)",
    ]
    assert arguments.split.tolist() == ["train", "train", "test"]
    best = lw.greedy(problems, length=1)
    assert best.item_ids[0].tolist() == ["arg_1_2"]
    assert best.values is not None
    assert best.values.tolist() == [1, 1, 1]


def test_features_count_similar_arguments(arguments: Arguments) -> None:
    names = arguments.problems.feature_names
    assert names is not None
    cosine = (arguments.problems.vectors[:4] @ arguments.problems.vectors[:4].T).toarray()
    np.fill_diagonal(cosine, 0)
    for threshold in (0.1, 0.3, 0.5):
        like = arguments.problems.features[:4, names.index(f"like_{threshold:g}")]
        np.testing.assert_allclose(np.expm1(like), (cosine > threshold).sum(axis=1), rtol=1e-6)
    assert cosine[0, 1] == cosine.max() > 0.5


def test_published_tables_say_the_same(arguments: Arguments, tmp_path: Path) -> None:
    write_tables(tmp_path)
    other = read_arguments(tmp_path)
    np.testing.assert_array_equal(other.problems.features, arguments.problems.features)
    assert other.problems.problem_ids.tolist() == arguments.problems.problem_ids.tolist()
    assert other.split.tolist() == arguments.split.tolist()
    state = other.problems.reward.start(other.problems)
    assert other.problems.reward.gains(state)[:4].tolist() == [0.5, 0.5, 1, 0]


def test_published_folders_and_line_ends(arguments: Arguments, tmp_path: Path) -> None:
    """Training and test tables lie in two folders, and the tables may come from Windows."""
    write_tables(tmp_path)
    for folder, splits in (("kpm_data", ("train",)), ("test_data", ("test",))):
        (tmp_path / folder).mkdir()
        for split in splits:
            for kind in ("arguments", "key_points", "labels"):
                text = (tmp_path / f"{kind}_{split}.csv").read_bytes().replace(b"\r\n", b"\n")
                (tmp_path / f"{kind}_{split}.csv").unlink()
                (tmp_path / folder / f"{kind}_{split}.csv").write_bytes(
                    b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n") + b"\r\n"
                )
    other = read_arguments(tmp_path)
    assert other.problems.problem_ids.tolist() == arguments.problems.problem_ids.tolist()
    assert other.problems.n_rows == arguments.problems.n_rows
    write(tmp_path / "labels_test.csv", ["arg_id", "key_point_id", "label"], [])
    with pytest.raises(InputError, match=r"must hold one labels_test\.csv\. It has .* and "):
        read_arguments(tmp_path)


def test_debates_without_matches_are_counted_and_topics_may_repeat(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        "\n".join(map(json.dumps, [DEBATES[0], DEBATES[0] | {"split": "dev"}, DEBATES[1] | {"matches": []}]))
    )
    with pytest.warns(ReadingNote, match=r"left out 1 of 3 records: 1 without an argument that matches a key point"):
        arguments = read_arguments(path)
    assert arguments.problems.problem_ids.tolist() == ["We should ban cars (pro)", "We should ban cars (pro) #2"]
    assert arguments.split.tolist() == ["train", "dev"]


def test_a_stance_that_is_missing_is_named(tmp_path: Path) -> None:
    write_tables(tmp_path)
    text = (tmp_path / "arguments_test.csv").read_text()
    (tmp_path / "arguments_test.csv").write_text(text.replace(",1\n", ",\n", 1))
    with pytest.raises(InputError, match=r"The stance of 'arg_1_0' \(test\) must be 1 or -1\. Got ''"):
        read_arguments(tmp_path)


def test_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds none of arguments_train.csv"):
        read_arguments(tmp_path)
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({key: value for key, value in DEBATES[0].items() if key != "matches"}))
    with pytest.raises(InputError, match=r"a.jsonl lacks matches"):
        read_arguments(path)
    path.write_text(json.dumps(DEBATES[0] | {"matches": [["arg_1_0", "kp_9"]]}))
    with pytest.raises(InputError, match="matches arg_1_0 with kp_9, but has no such"):
        read_arguments(path)
    path.write_text(json.dumps(DEBATES[0] | {"matches": []}))
    with pytest.raises(InputError, match=r"No argument in .*a\.jsonl matches a key point\. It has 1 debates"):
        read_arguments(path)
    write_tables(tmp_path)
    (tmp_path / "labels_test.csv").write_text("arg_id,label\n")
    with pytest.raises(InputError, match=r"labels_test.csv lacks key_point_id"):
        read_arguments(tmp_path)
