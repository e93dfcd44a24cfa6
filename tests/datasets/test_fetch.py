"""Published data by name: downloaded once from a local server, checked, converted, kept, and read by the readers."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

import listwright as lw
from listwright.datasets import _fetch
from listwright.errors import InputError, MissingExtra

pytest.importorskip("pooch", reason="needs the extra data")
MOVIES = "1::Film (1999)::Drama|War\n2::Other (2001)::Drama\n"
RATINGS = "".join(f"{user}::{movie}::{5 + user}::{1000 * movie + user}\n" for user in (4, 5) for movie in (1, 2))


class Quiet(SimpleHTTPRequestHandler):
    """Counts requests, and prints nothing."""

    def log_message(self, *words: object) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ThreadingHTTPServer]:
    (tmp_path / "site").mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "site"))) as http:
        http.asked = []  # type: ignore[attr-defined]
        http.folder = tmp_path / "site"  # type: ignore[attr-defined]
        thread = Thread(target=http.serve_forever)
        thread.start()
        yield http
        http.shutdown()
        thread.join()


@pytest.fixture
def serve(server, tmp_path, monkeypatch):
    """Puts files on the server as a data set."""
    monkeypatch.delenv("LISTWRIGHT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(_fetch, "_cache", lambda: tmp_path / "cache")
    (tmp_path / "cache").mkdir()

    def put(name: str, files: dict[str, bytes], **settings: object) -> None:
        for file, content in files.items():
            (server.folder / file).write_bytes(content)
        addresses = {file: f"http://127.0.0.1:{server.server_port}/{file}" for file in files}
        known = _fetch.PublishedData("A set.", "MIT", "Ada 2013.", "the local server", addresses, **settings)
        monkeypatch.setitem(_fetch.PUBLISHED, name, known)

    return put


def test_a_set_is_downloaded_once_and_its_licence_printed(serve, server, capsys):
    serve("movietweetings100k", {"ratings.dat": RATINGS.encode(), "movies.dat": MOVIES.encode()})
    folder = lw.datasets.fetch("movietweetings100k")
    assert sorted(path.name for path in folder.iterdir()) == ["movies.dat", "ratings.dat"]
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Licence: MIT\nCite: Ada 2013." in printed.err
    assert lw.datasets.fetch("movietweetings100k") == folder
    assert len(server.asked) == 2
    assert capsys.readouterr().err == ""


def test_readers_take_names(serve):
    serve("movietweetings100k", {"ratings.dat": RATINGS.encode(), "movies.dat": MOVIES.encode()})
    by_name = lw.datasets.read_movies("movietweetings100k", min_ratings=2)
    by_path = lw.datasets.read_movies(_fetch.fetch("movietweetings100k"), min_ratings=2)
    assert len(by_name.problems) == len(by_path.problems) == 2


def test_a_folder_of_your_own_comes_first(serve, server, tmp_path, monkeypatch):
    serve("aslib", {"x": b"1"})
    (tmp_path / "mine" / "aslib" / "IPC2018").mkdir(parents=True)
    monkeypatch.setenv("LISTWRIGHT_DATA", str(tmp_path / "mine"))
    assert lw.datasets.fetch("aslib") == tmp_path / "mine" / "aslib"
    assert _fetch.locate("aslib/IPC2018") == tmp_path / "mine" / "aslib" / "IPC2018"
    assert server.asked == []


def test_a_file_that_changed_is_refused(serve, tmp_path):
    serve("aslib", {"x": b"1"})
    folder = lw.datasets.fetch("aslib")
    (folder / "x").unlink()
    folder.rmdir()
    serve("aslib", {"x": b"2"})
    with pytest.raises(InputError, match="x of aslib is not what it was"):
        lw.datasets.fetch("aslib")
    assert not folder.exists()


def test_a_known_checksum_is_checked_at_the_first_download(serve):
    serve("aslib", {"x": b"1"}, checksums={"x": "0" * 64})
    with pytest.raises(InputError, match="x of aslib is not what it was"):
        lw.datasets.fetch("aslib")


def test_a_source_that_is_gone_is_told(serve, server):
    serve("aslib", {"x": b"1"})
    (server.folder / "x").unlink()
    with pytest.raises(InputError, match="Cannot download x of aslib from http"):
        lw.datasets.fetch("aslib")


def test_questions_become_lines(serve):
    record = {"_id": "a", "question": "Who?", "context": [["T", ["S."]], ["U", ["V."]]], "supporting_facts": [["T", 0]]}
    content = json.dumps([record]).encode()
    files = {"hotpot.json": content, "wikihop_train_preprocess.json": content}
    serve("multihop_qa", files, convert=_fetch._questions, main="hotpotqa200.jsonl.gz")
    assert len(lw.datasets.read_questions("multihop_qa")) == 1
    assert len(lw.datasets.read_questions("multihop_qa/2wiki500.jsonl.gz")) == 1


def test_opinosis_becomes_clusters(serve):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            "topics/screen_kindle.txt.data", "The screen is clear .\n\nCaf\xe9 light is fine .\n".encode("latin-1")
        )
        archive.writestr("summaries-gold/screen_kindle/screen_kindle.1.txt", "Clear screen.\n")
        archive.writestr("summaries-gold/screen_kindle/screen_kindle.2.txt", "A clear\nscreen.\n")
    serve("opinosis", {"OpinosisDataset1.0_0.zip": packed.getvalue()}, convert=_fetch._opinosis)
    with gzip.open(lw.datasets.fetch("opinosis") / "opinosis.jsonl.gz", "rt", encoding="utf8") as lines:
        record = json.loads(lines.read())
    assert record["docs"][0]["sentences"] == ["The screen is clear .", "Caf\xe9 light is fine ."]
    assert [reference["text"] for reference in record["refs"]] == ["Clear screen.", "A clear screen."]


def test_what_cannot_be_downloaded_says_so(serve):
    with pytest.raises(InputError, match="motion_paths is not published in the form that is read here"):
        lw.datasets.fetch("motion_paths")


def test_unknown_names_are_told():
    with pytest.raises(InputError, match="There is no data set 'none'"):
        lw.datasets.fetch("none")


def test_without_pooch_the_extra_is_named(monkeypatch):
    def absent(*words: object, extra: str) -> None:
        raise MissingExtra("Downloads need pooch.", extra=extra)

    monkeypatch.delenv("LISTWRIGHT_DATA", raising=False)
    monkeypatch.setattr(_fetch, "require_extra", absent)
    with pytest.raises(MissingExtra, match=r"listwright\[data\]"):
        lw.datasets.fetch("aslib")


def test_every_set_is_described_and_pinned():
    for name in lw.datasets.list_datasets():
        known = _fetch.PUBLISHED[name]
        assert known.licence in _fetch.describe(name)
        assert known.source.startswith("https://github.com/")
        assert all(
            address.split("/")[5].isalnum() and len(address.split("/")[5]) == 40 for address in known.files.values()
        )


def test_the_command_prints_where_a_set_is(tmp_path, monkeypatch, capsys):
    pytest.importorskip("typer")
    from listwright.cli import main

    (tmp_path / "aslib").mkdir()
    monkeypatch.setenv("LISTWRIGHT_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match="0"):
        main(["data", "aslib"])
    printed = capsys.readouterr().out
    assert "Licence: GPL-3.0" in printed
    assert printed.endswith(f"Folder: {tmp_path / 'aslib'}\n")
    with pytest.raises(SystemExit, match="0"):
        main(["data"])
    assert all(f"{name}: " in capsys.readouterr().out for name in ["argkp"])
