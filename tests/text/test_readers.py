"""Clusters from folders and JSON lines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from listwright.errors import InputError
from listwright.text.clusters import Cluster
from listwright.text.readers import EncodingNote, ReadingNote, read_cluster_folder, read_cluster_folders, read_jsonl


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "storm"
    write(root / "b.txt", "Wind rose. Roofs flew off.")
    write(root / "a.txt", "\ufeffA storm came.\n\nIt was strong.")
    write(root / "title.txt", "The\nstorm\n")
    write(root / ".hidden", b"\0")
    write(root / "references" / "1.txt", "Storm.\n")
    return root


def test_a_folder_is_a_cluster(folder: Path) -> None:
    assert read_cluster_folder(folder, need_references=True) == Cluster(
        id="storm",
        sentences=("A storm came.", "It was strong.", "Wind rose.", "Roofs flew off."),
        documents=(0, 0, 1, 1),
        positions=(0, 1, 0, 1),
        references=("Storm.",),
        title="The storm",
        document_names=("a.txt", "b.txt"),
    )


def test_folders_are_read_by_name_and_references_may_be_missing(folder: Path) -> None:
    write(folder.parent / "rain" / "x.txt", "It rained.")
    assert [cluster.id for cluster in read_cluster_folders(folder.parent)] == ["rain", "storm"]
    with pytest.raises(InputError, match=r"'rain' in .*rain has no references"):
        read_cluster_folders(folder.parent, need_references=True)


@pytest.mark.parametrize("raw", [b"Caf\xe9 \x93open\x94.", b"Caf\xe9 \x81open."])
def test_other_encodings_are_read_with_a_note(tmp_path: Path, raw: bytes) -> None:
    write(tmp_path / "a.txt", raw)
    with pytest.warns(EncodingNote, match=r"a\.txt is not UTF-8"):
        assert read_cluster_folder(tmp_path).sentences[0].startswith("Café ")


def test_utf_16_is_read_by_its_mark(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "Très bien.".encode("utf-16"))
    assert read_cluster_folder(tmp_path).sentences == ("Très bien.",)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "  \n", r"a\.txt is empty"),
        ("a.txt", b"\x89PNG\0\0", r"a\.txt is not a text file"),
        ("a.txt.gz", b"not gzip", r"Cannot read .*a\.txt\.gz"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    write(tmp_path / name, content)
    with pytest.raises(InputError, match=message):
        read_cluster_folder(tmp_path)


def test_empty_and_missing_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no documents"):
        read_cluster_folder(tmp_path)
    with pytest.raises(InputError, match="holds no folders"):
        read_cluster_folders(tmp_path)
    with pytest.raises(InputError, match="nowhere is not a folder"):
        read_cluster_folder(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"Cannot read .*nowhere\.jsonl"):
        read_jsonl(tmp_path / "nowhere.jsonl")


RECORD = {
    "id": "c1",
    "split": "train",
    "title": "Rain",
    "docs": [
        {"doc_id": "d1", "sentences": ["It rained.", " ", "Rivers\u2028rose."], "sections": ["1", "1", "2"]},
        {"doc_id": "d2", "sentences": ["Rain fell."], "sections": ["1"]},
    ],
    "refs": [{"kind": "human", "text": "Rain."}, {"kind": "community", "text": "Much."}, {"text": "Wet."}],
}


@pytest.mark.parametrize("packed", [False, True])
def test_json_lines_give_clusters(tmp_path: Path, packed: bool) -> None:
    line = (json.dumps(RECORD, ensure_ascii=False) + "\n\n").encode()
    path = write(tmp_path / ("c.jsonl.gz" if packed else "c.jsonl"), gzip.compress(line) if packed else line)
    (cluster,) = read_jsonl(path, need_references=True)
    assert cluster.sentences == ("It rained.", "Rivers\u2028rose.", "Rain fell.")
    assert (cluster.documents, cluster.positions, cluster.sections) == ((0, 0, 1), (0, 2, 0), ("1", "2", "1"))
    assert (cluster.references, cluster.title, cluster.split) == (("Rain.", "Wet."), "Rain", "train")
    assert read_jsonl(path, reference_kinds=["community"])[0].references == ("Much.", "Wet.")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"line 2 is not JSON"),
        ("[1]", "line 2 needs an object with 'id' and a list of 'docs'"),
        ('{"id": "x", "docs": {"a": 1}}', "line 2 needs an object with 'id' and a list of 'docs'"),
        ('{"id": "x", "docs": [{"sentences": ["a"]}, 3]}', "line 2 does not have the fields"),
        ('{"id": "x", "docs": [{"sentences": ["a"]}], "refs": [{}]}', "line 2 does not have the fields"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "c.jsonl", json.dumps(RECORD) + "\n" + line)
    with pytest.raises(InputError, match=message):
        read_jsonl(path)


@pytest.mark.parametrize(
    "line", ['{"id": "x"}', '{"docs": [{"text": "a"}]}', '{"docs": [{"sentences": [" "]}]}', '{"docs": null}']
)
def test_records_without_sentences_are_counted(tmp_path: Path, line: str) -> None:
    path = write(tmp_path / "c.jsonl", json.dumps(RECORD) + "\n" + line)
    with pytest.warns(ReadingNote, match=r"c\.jsonl: left out 1 of 2 records: 1 without sentences"):
        assert [cluster.id for cluster in read_jsonl(path)] == ["c1"]
    with pytest.raises(InputError, match=r"holds no clusters with sentences\. It has 1 records"):
        read_jsonl(write(tmp_path / "d.jsonl", line))


def test_ids_are_made_distinct(tmp_path: Path) -> None:
    bare = {"docs": [{"sentences": ["It rained."]}], "title": None}
    lines = [RECORD, RECORD, bare, bare | {"id": 7}]
    path = write(tmp_path / "c.jsonl", "\r\n\r\n".join(map(json.dumps, lines)).encode("utf-8-sig"))
    assert [cluster.id for cluster in read_jsonl(path)] == ["c1", "c1 #2", "3", "7"]


def test_missing_references_name_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", json.dumps({**RECORD, "refs": []}))
    with pytest.raises(InputError, match=r"'c1' in .*c\.jsonl has no references"):
        read_jsonl(path, need_references=True)


def test_a_cluster_checks_its_lengths() -> None:
    with pytest.raises(InputError, match="2 sentences but 1 positions"):
        Cluster(id="x", sentences=("a", "b"), documents=(0, 0), positions=(0,))
