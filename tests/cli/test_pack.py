"""listwright pack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from listwright.cli import main

PASSAGES = ["Rain fell.", "Ridley Scott was born in South Shields.", "Alien is a film by Ridley Scott."]
RECORD = {"id": "q1", "question": "Where was the director of Alien born?", "passages": PASSAGES, "good": [0, 1, 1]}


def write(path: Path, *records: Any) -> str:
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf8")
    return str(path)


def run(*arguments: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 0


def test_packs_each_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "q.jsonl", RECORD, RECORD | {"id": "q2"})
    run("pack", file, "--budget", "15", "--tokens", "words", "-o", str(tmp_path / "out.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == ["q1", "q2"]
    assert sorted(lines[0]["positions"]) == [1, 2]
    assert lines[0]["tokens"] == 14
    assert len(lines[0]["reasons"]) == 2
    run("pack", file, "--budget", "2", "--stop")
    empty = json.loads(capsys.readouterr().out.splitlines()[0])
    assert empty["positions"] == []
    assert "too long for the budget" in empty["notes"][0]
    run("pack", file, "--length", "1")
    assert len(json.loads(capsys.readouterr().out.splitlines()[0])["texts"]) == 1


def test_trains_a_packer(tmp_path: Path) -> None:
    file = write(tmp_path / "q.jsonl", *[RECORD | {"id": str(i)} for i in range(5)])
    run("pack", file, "--train", "--label", "good", "-o", str(tmp_path / "packer.listwright"))
    run("pack", file, "--model", str(tmp_path / "packer.listwright"), "-o", str(tmp_path / "out.jsonl"))
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 5


def test_a_file_without_questions_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("", "\n \n"):
        (tmp_path / "none.jsonl").write_text(text)
        with pytest.raises(SystemExit) as stopped:
            main(["pack", str(tmp_path / "none.jsonl")])
        assert stopped.value.code == 1
        assert capsys.readouterr().err == f"Error: {tmp_path / 'none.jsonl'} is empty. Remove it or put text in it.\n"


def test_line_separators_within_a_text_end_no_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = json.dumps(RECORD | {"passages": ["Rain\u2028fell.", *PASSAGES]}, ensure_ascii=False)
    (tmp_path / "q.jsonl").write_text(f"{text}\r\n", encoding="utf8")
    run("pack", str(tmp_path / "q.jsonl"), "--length", "1")
    assert len(json.loads(capsys.readouterr().out)["texts"]) == 1


@pytest.mark.parametrize(
    ("record", "options", "message"),
    [
        ({"id": 1}, [], "none of the keys query, question"),
        (RECORD, ["--budget", "-1"], "Line 1: budget must be above 0"),
        (RECORD, ["--passages", "gone"], "Line 1 has no 'gone'"),
        (RECORD, ["--train", "--label", "good"], "Say where to write"),
        ([1], [], "must hold a JSON object"),
    ],
)
def test_wrong_input_is_told_in_one_message(
    record: Any, options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["pack", write(tmp_path / "q.jsonl", record), *options])
    assert stopped.value.code == 1
    assert message in capsys.readouterr().err


def test_limits_nested_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [
        "Rain fell on the town.",
        "Ridley Scott was born in 1937.",
        "Alien is by Ridley Scott.",
        "The sea is wide.",
    ]
    passages = [{"text": text, "source": ["site", i % 2]} for i, text in enumerate(texts)]
    (tmp_path / "q.jsonl").write_text(json.dumps({"query": "Who directed Alien?", "passages": passages}) + "\n")
    for limits, count in ((["2"], 4), (["3", "2"], 3), (["4", "1"], 2), (["site=0:1", "2"], 1), (["1:2", "2"], 2)):
        run("pack", str(tmp_path / "q.jsonl"), *(word for limit in limits for word in ("--per-source", limit)))
        assert len(json.loads(capsys.readouterr().out)["positions"]) == count
    passages = [passage | {"source": "ab"[i % 2]} for i, passage in enumerate(passages)]
    (tmp_path / "q.jsonl").write_text(json.dumps({"query": "Who directed Alien?", "passages": passages}) + "\n")
    for quotas, least, most in (("a=2:2,b=0", (2, 0), (2, 0)), ("b=2:", (0, 2), (2, 2)), ("1:1", (1, 1), (1, 1))):
        run("pack", str(tmp_path / "q.jsonl"), "--per-source", quotas, "--length", "3")
        sources = [passages[i]["source"] for i in json.loads(capsys.readouterr().out)["positions"]]
        assert all(low <= sources.count(s) <= high for s, low, high in zip("ab", least, most, strict=True))


def test_lists_beside_the_passages_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = {"query": "Wer?", "passages": ["the sea", "a house", "the wind"], "scores": [0.1, 0.9, 0.5]}
    run("pack", write(tmp_path / "q.jsonl", record), "--stop")
    packed = json.loads(capsys.readouterr().out)
    assert packed["positions"][0] == 1
    assert packed["tokens_saved"] > 0
    with pytest.raises(SystemExit):
        main(["pack", write(tmp_path / "bad.jsonl", record | {"scores": [1]})])
    assert "Line 1: scores must be finite, one per passage (3)" in capsys.readouterr().err
