"""Published data by name: downloaded once from a local server, checked, converted, kept, and read by the readers."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import socket
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, pairwise, product
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

import listwright as lw
from listwright.datasets import _convert, _fetch
from listwright.datasets._convert import CONVERTERS
from listwright.errors import InputError, MissingExtra
from listwright.text.corpora import read_clusters

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
        thread = Thread(target=http.serve_forever, args=(0.01,))
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
            (server.folder / file).parent.mkdir(parents=True, exist_ok=True)
            (server.folder / file).write_bytes(content)
        home = f"http://127.0.0.1:{server.server_port}/"
        known = _fetch.PublishedData("A set.", "MIT", "Ada 2013.", "the local server", home, list(files), **settings)
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
    with pytest.raises(InputError, match="x of aslib has changed"):
        lw.datasets.fetch("aslib")
    assert not folder.exists()


def test_recorded_checksums_may_come_from_another_machine(serve, server, tmp_path, capsys):
    serve("aslib", {"x": b"1"})
    address = f"http://127.0.0.1:{server.server_port}/x"
    record = tmp_path / "cache" / "checksums" / "aslib.json"
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({address: "0" * 64}))
    with pytest.raises(InputError, match=rf"x of aslib has changed.* differs from 0{{64}}, which {record} has"):
        lw.datasets.fetch("aslib")
    record.write_text(json.dumps({address: sha256(b"1").hexdigest()}))
    assert lw.datasets.fetch("aslib").is_dir()
    assert "Recorded" not in capsys.readouterr().err
    record.write_text("[1]")
    shutil.rmtree(tmp_path / "cache" / "aslib")
    with pytest.raises(InputError, match="does not hold checksums"):
        lw.datasets.fetch("aslib")


def test_the_first_download_records_what_nobody_published(serve, tmp_path, capsys):
    serve("aslib", {"x": b"1", "y/z": b"2"})
    folder = lw.datasets.fetch("aslib")
    record = tmp_path / "cache" / "checksums" / "aslib.json"
    assert sorted(json.loads(record.read_text()).values()) == sorted(sha256(text).hexdigest() for text in (b"1", b"2"))
    assert f"has no checksums to compare with: recorded the SHA-256 of 2 files in {record}" in capsys.readouterr().err
    shutil.rmtree(folder)
    lw.datasets.fetch("aslib")
    assert "recorded" not in capsys.readouterr().err


class Cut(SimpleHTTPRequestHandler):
    """Promises more bytes than it sends."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"half of it")

    def log_message(self, *words: object) -> None:
        """Print nothing."""


def test_half_a_download_is_none(serve, server, tmp_path):
    serve("aslib", {"x": b"1"})
    server.RequestHandlerClass = Cut
    with pytest.raises(InputError, match=r"Cannot download x of aslib .*Try again, or name a folder .*LISTWRIGHT_DATA"):
        lw.datasets.fetch("aslib")
    assert left_in(tmp_path) == []


def test_a_broken_network_is_told(serve, server, tmp_path):
    serve("aslib", {"x": b"1"})
    with socket.socket() as free:  # a port on which nobody listens
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}/"
    _fetch.PUBLISHED["aslib"] = replace(_fetch.PUBLISHED["aslib"], base=nobody)
    with pytest.raises(InputError, match="Cannot download x of aslib from http"):
        lw.datasets.fetch("aslib")
    assert left_in(tmp_path) == []


class Elsewhere(SimpleHTTPRequestHandler):
    """Sends everybody to the address that the server holds, except for requests of /real/x."""

    def do_GET(self) -> None:
        if self.path == "/real/x":
            self.send_response(200)
            self.send_header("Content-Length", "1")
            self.end_headers()
            self.wfile.write(b"1")
            return
        self.send_response(302)
        self.send_header("Location", self.server.target)  # type: ignore[attr-defined]
        self.end_headers()

    def log_message(self, *words: object) -> None:
        """Print nothing."""


def test_redirects_are_followed(serve, server):
    serve("aslib", {"x": b""})
    server.RequestHandlerClass, server.target = Elsewhere, "/real/x"
    assert (lw.datasets.fetch("aslib") / "x").read_bytes() == b"1"


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("ftp://a/b", "No connection adapters were found for 'ftp://a/b'"),
        ("http://[bad", "Invalid IPv6 URL"),
        ("http://a..b/", "Failed to parse: 'a..b', label empty or too long"),
        ("/again", "Exceeded 30 redirects"),
        ("http://no-such-host.invalid/", "[A-Z][a-z ]+"),  # in the words of the system
    ],
)
def test_a_redirect_to_nowhere_is_one_sentence(serve, server, tmp_path, target, reason):
    serve("aslib", {"x": b"1"})
    server.RequestHandlerClass, server.target = Elsewhere, target
    with pytest.raises(InputError, match=rf"^Cannot download x of aslib from http://[\d.:]+/x: {reason}\. Try again, "):
        lw.datasets.fetch("aslib")
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("page", [b"<!DOCTYPE html><html>", b"\n <HTML lang='en'>Please log in", b"<!doctype\nhtml>"])
def test_the_page_of_a_network_that_asks_for_a_login_is_no_data(serve, tmp_path, page):
    serve("aslib", {"x": b"1", "y": page})
    with pytest.raises(InputError, match=r"/y answered with a web page, not with y of aslib"):
        lw.datasets.fetch("aslib")
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("given", ["missing", "a file"])
def test_a_folder_of_data_that_is_not_there_is_an_error_and_no_download(serve, server, tmp_path, monkeypatch, given):
    serve("aslib", {"x": b"1"})
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("LISTWRIGHT_DATA", str(tmp_path / given))
    with pytest.raises(InputError, match=rf"LISTWRIGHT_DATA names {tmp_path / given}, which is not a folder"):
        lw.datasets.fetch("aslib")
    assert server.asked == []


def test_a_cache_that_cannot_be_written_is_told(serve, monkeypatch, tmp_path):
    serve("aslib", {"x": b"1"})
    (tmp_path / "a file").write_text("")
    monkeypatch.setattr(_fetch, "_cache", lambda: tmp_path / "a file" / "cache")
    with pytest.raises(InputError, match=r"Cannot keep aslib in .*a file/cache: .*XDG_CACHE_HOME"):
        lw.datasets.fetch("aslib")


def test_several_may_fetch_at_once(serve, tmp_path):
    serve("aslib", {f"{i}.txt": bytes([i]) * 100 for i in range(5)})
    serve("movietweetings100k", {"ratings.dat": RATINGS.encode(), "movies.dat": MOVIES.encode()})
    names = ["aslib", "movietweetings100k"] * 4
    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(lw.datasets.fetch, names))
    assert folders == [tmp_path / "cache" / name for name in names]
    assert sorted(path.name for path in folders[0].iterdir()) == [f"{i}.txt" for i in range(5)]
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == ["aslib", "checksums", "movietweetings100k"]
    assert len(json.loads((tmp_path / "cache" / "checksums" / "aslib.json").read_text())) == 5


def left_in(tmp_path: Path) -> list[str]:
    """Files and folders that a download that failed leaves in the cache: it must not record checksums either."""
    return [path.name for path in (tmp_path / "cache").rglob("*") if path.name != "checksums"]


def test_a_source_that_is_gone_is_told(serve, server):
    serve("aslib", {"x": b"1"})
    (server.folder / "x").unlink()
    with pytest.raises(InputError, match="Cannot download x of aslib from http"):
        lw.datasets.fetch("aslib")


def test_questions_become_lines(serve):
    record = {"_id": "a", "question": "Who?", "context": [["T", ["S."]], ["U", ["V."]]], "supporting_facts": [["T", 0]]}
    content = json.dumps([record]).encode()
    files = {"hotpot.json": content, "wikihop_train_preprocess.json": content}
    serve("multihop_qa", files, main="hotpotqa200.jsonl.gz")
    assert len(lw.datasets.read_questions("multihop_qa")) == 1
    assert len(lw.datasets.read_questions("multihop_qa/2wiki500.jsonl.gz")) == 1


def packed(files: dict[str, str | bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf8") as file:
        return [json.loads(line) for line in file]


def test_opinosis_becomes_clusters(serve):
    files = {
        "topics/screen_kindle.txt.data": "The screen is clear .\n\nCaf\xe9 light is fine .\n".encode("latin-1"),
        "summaries-gold/screen_kindle/screen_kindle.1.txt": "Clear screen.\n",
        "summaries-gold/screen_kindle/screen_kindle.2.txt": "A clear\nscreen.\n",
    }
    serve("opinosis", {"OpinosisDataset1.0_0.zip": packed(files)})
    (record,) = lines(lw.datasets.fetch("opinosis") / "opinosis.jsonl.gz")
    assert record["docs"][0]["sentences"] == ["The screen is clear .", "Caf\xe9 light is fine ."]
    assert [reference["text"] for reference in record["refs"]] == ["Clear screen.", "A clear screen."]


PAPER = """<PAPER>
<S sid ="0">On lists</S>
\t<ABSTRACT>
\t\t<S sid ="1" ssid = "1">We pick.</S>
\t</ABSTRACT>
\t<SECTION title="Introduction. " number = "1">
\t\t\t<S sid ="2" ssid = "1">A list is  &lt;short&gt;, says AT&amp;T &#8212; or &amp;quot;long&amp;quot;.</S>
\t\t\t<S sid ="3" ssid = "2"></S>
\t</SECTION>
\t<S sid ="4">{last}</S>
</PAPER>
"""
TRAIN, TEST, NET = (
    "c-1/data/Training-Set-2018",
    "c-1/data/Test-Set-2018",
    "c-1/data/Training-Set-2019/Task2/From-ScisummNet-2019",
)


def corpus(**changes: str) -> dict[str, str | bytes]:
    """An archive as published: file names, folders and encodings vary from paper to paper."""
    long = "<PAPER>" + "".join(f'<S sid="{i}">Sentence {i}.</S>' for i in range(21)) + "</PAPER>"
    return {
        "c-1/README.md": "A corpus",
        f"{TRAIN}/C01-1/Reference_XML/C01-1.xml": PAPER.format(last="The end."),
        f"{TRAIN}/C01-1/Citance_XML/C99-9.xml": PAPER.format(last="Another paper."),
        f"{TRAIN}/C01-1/summary/C01-1.human.summary.txt": "It picks a caf\xe9.".encode("latin-1"),
        f"{TRAIN}/C01-1/summary/C01-1.combined.summary.txt": "Not used.",
        f"{TRAIN}/C01-1/summary/C01-1.community.xml": '<COMMUNITY>\n<S sid ="2">One.</S><S sid ="3">Two &apos;s.</S>',
        f"{TRAIN}/C01-1/summary/C01-1.abstract": "",
        f"{TRAIN}/W02-2/W02-2/W02-2.xml": PAPER.format(last="In a folder of its own."),
        f"{TRAIN}/W02-2/summary/W02-2_abstract.txt": '<S sid="1">We pick.</S\n<S sid="2">Well.</S>',
        f"{TEST}/P03-3/Reference_XML/P03-3.xml": PAPER.format(last="Tested."),
        f"{TEST}-Gold/Task1/P03-3_ada.csv": "no summary",
        f"{TEST}-Gold/Task2/P03-3_ada.human.txt": "Ada says.",
        f"{TEST}-Gold/Task2/P03-3_bob.human.txt": "Bob says.",
        f"{TEST}-Gold/Task2/P03-3.abstract": "We pick.",
        f"{NET}/A04-4/Reference_XML/A04-4.xml": long,
        f"{NET}/A04-4/summary/A04-4.scisummnet_human.txt": "Long.",
        f"{NET}/P03-3/Reference_XML/P03-3.xml": long,
        f"{NET}/A05-5/Reference_XML/A05-5.xml": PAPER.format(last="Too short."),
        f"{NET}/A05-5/summary/A05-5.scisummnet_human.txt": "Short.",
        f"{NET}/A06-6/Reference_XML/A06-6.xml": long,  # without a summary
        **changes,
    }


def test_papers_become_clusters(serve):
    serve("scisumm", {"scisumm-corpus.zip": packed(corpus())})
    folder = lw.datasets.fetch("scisumm")
    first, second, third = lines(folder / "scisumm2018.jsonl.gz")
    assert first["title"] == "On lists"
    assert first["docs"] == [
        {
            "doc_id": "C01-1",
            "sentences": ["A list is <short>, says AT&T \u2014 or &quot;long&quot;.", "The end."],
            "sections": ["Introduction. ", ""],
            "sids": [2, 4],
        }
    ]
    assert [(reference["annotator"], reference["kind"], reference["text"]) for reference in first["refs"]] == [
        ("C01-1.community.xml", "community", "One. Two 's."),
        ("C01-1.human.summary.txt", "human", "It picks a caf\xe9."),
    ]
    assert second["docs"][0]["sentences"][-1] == "In a folder of its own."
    assert second["refs"][0]["text"] == "We pick.</S Well."
    assert [(reference["annotator"], reference["text"]) for reference in third["refs"]] == [
        ("abstract0", "We pick."),
        ("human1", "Ada says."),
        ("human2", "Bob says."),
    ]
    assert [record["split"] for record in (first, second, third)] == ["train", "train", "test"]
    (other,) = lines(folder / "scisummnet2019.jsonl.gz")
    assert (other["id"], len(other["docs"][0]["sentences"]), len(other["refs"])) == ("A04-4", 20, 1)
    assert [cluster.split for cluster in read_clusters(folder)] == ["train", "train", "test"]


def test_entities_are_not_expanded(serve):
    laughs = '<!DOCTYPE PAPER [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
    paper = laughs + PAPER.format(last="Laugh &b; at &c;.")
    content = packed(corpus(**{f"{TRAIN}/C01-1/Reference_XML/C01-1.xml": paper}))
    serve("scisumm", {"scisumm-corpus.zip": content})
    record = lines(lw.datasets.fetch("scisumm") / "scisumm2018.jsonl.gz")[0]
    assert record["docs"][0]["sentences"][-1] == "Laugh &b; at &c;."


def damaged() -> bytes:
    content = packed({f"{TRAIN}/C01-1/Reference_XML/C01-1.xml": PAPER * 20})
    return content[:120] + bytes(20) + content[140:]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no archive", "scisumm-corpus.zip cannot be read"),
        (damaged(), "scisumm-corpus.zip cannot be read"),
        (packed({"c-1/README.md": "nothing else"}), "no sentences or no summaries of papers of 2018"),
        (packed(corpus(**{f"{TRAIN}/C01-1/Reference_XML/C01-1.xml": "<PAPER><S sid="})), "no summaries of C01-1"),
        (packed(corpus(**{f"{TRAIN}/C01-1/Reference_XML/C01-1.xml": '<S sid="9e9">a</S>'})), "no summaries of C01-1"),
        (packed(corpus(**{f"{TEST}/P06-6/Reference_XML/P06-6.xml": PAPER})), "no summaries of P06-6"),
        (packed(corpus(**{f"{NET}/A07-7/summary/bomb": " " * 50_000})), "more than 40,000 bytes, as of .*/bomb"),
    ],
)
def test_bad_archives_are_told_and_leave_nothing(serve, tmp_path, monkeypatch, content, message):
    monkeypatch.setattr(_convert, "LARGEST", 40_000)
    serve("scisumm", {"scisumm-corpus.zip": content})
    with pytest.raises(InputError, match=message):
        lw.datasets.fetch("scisumm")
    assert left_in(tmp_path) == []


def test_members_with_odd_paths_are_not_written(serve, tmp_path):
    odd = {f"../../../{TRAIN}/C08-8/summary/x.human.txt": "out", "/etc/C09-9.xml": "out", f"{TRAIN}/../summary/": ""}
    serve("scisumm", {"scisumm-corpus.zip": packed(corpus() | odd)})
    folder = lw.datasets.fetch("scisumm")
    assert sorted(path.name for path in folder.iterdir()) == ["scisumm2018.jsonl.gz", "scisummnet2019.jsonl.gz"]
    assert len(lines(folder / "scisumm2018.jsonl.gz")) == 3
    assert not list(tmp_path.rglob("*.human.txt"))


def planning_problem(**changes: bytes) -> dict[str, bytes]:
    """A drawn planning problem as published: a ring of twelve vertices with chords, paths from vertex 1 to vertex 7."""
    rng = np.random.default_rng(0)
    pairs = [(a, (a + step) % 12) for step in (1, 2, 3, 5) for a in range(12)]
    edges = sorted({(b, a) for a, b in pairs} | set(pairs), key=lambda pair: pair[::-1])
    valid = rng.random((40, len(edges))) < 0.7
    paths = [[0, 1, 2, 4, 6], [0, 2, 5, 6], [0, 11, 9, 6], [0, 3, 6], [0, 10, 9, 8, 6]]
    number = {pair: i for i, pair in enumerate(edges)}
    success = np.stack([valid[:, [number[p] for p in pairwise(path)]].all(axis=1) for path in paths], axis=1)
    graph = [f"{i} {a + 1} {b + 1} {0.25 * (1 + i % 3):f}" for i, (a, b) in enumerate(edges, start=1)]
    files = {
        "graph.txt": "\n".join(["NumVertices: 12", f"NumEdges: {len(edges)}", *graph, ""]).encode(),
        "path_library.dat": "".join(" ".join(str(v + 1) for v in path) + " \n" for path in paths).encode(),
        "world_library_assignment.dat": "".join(",".join(map(str, row)) + "\n" for row in success.astype(int)).encode(),
        "coll_check_results.mat": matrix("coll_check_results", valid),
        "train_id.mat": matrix("train_id", np.arange(1.0, 31.0)),
        "test_id.mat": matrix("test_id", np.arange(40.0, 30.0, -1)),
    }
    return {f"dataset_2d_1/{name}": content for name, content in (files | changes).items()}


def matrix(name: str, values: Any) -> bytes:
    content = io.BytesIO()
    savemat(content, {name: values}, do_compression=True)
    return content.getvalue()


def test_planning_problems_become_libraries_of_paths(serve):
    serve("motion_paths", planning_problem())
    train, test = lw.datasets.read_motion_paths("motion_paths/2d_1.npz", context="probes")
    with np.load(lw.datasets.fetch("motion_paths") / "2d_1.npz") as arrays:
        made = dict(arrays)
    assert made["test_id"].tolist() == list(range(39, 29, -1))
    assert set(train.problem_ids.tolist()) <= set(range(30))
    assert train.n_features == 17
    assert test.context is not None
    # greedy: no other path adds more worlds than the one that was picked
    success, left = made["success"][:30].astype(bool), np.ones(30, dtype=bool)
    for i, path in enumerate(made["seed30"]):
        gains = success[left].sum(axis=0)
        assert gains[path] == gains[made["seed30"][i:]].max()
        left &= ~success[:, path]
    # probes lie on no path, in either direction, and each edge is probed once
    edges = np.loadtxt(io.BytesIO(planning_problem()["dataset_2d_1/graph.txt"]), skiprows=2)[:, 1:3].astype(int) - 1
    probed = [frozenset(pair) for pair in edges[made["probe_edges"]].tolist()]
    assert len(set(probed)) == len(probed)
    library = planning_problem()["dataset_2d_1/path_library.dat"].decode().splitlines()
    paths = [[int(v) - 1 for v in line.split()] for line in library]
    assert not {frozenset(pair) for path in paths for pair in pairwise(path)} & set(probed)
    # the first columns, worked out by hand: a vertex's share of free probes, drawn towards the mean of the world
    free = np.unpackbits(made["edge_valid_packed"], axis=1)[:, made["probe_edges"]]
    for world, (place, path) in product((0, 33), enumerate(made["seed30"])):
        ends = [[free[world, k] for k, pair in enumerate(probed) if v in pair] for v in paths[path]]
        shares = [(sum(at) + 2 * free[world].mean()) / (len(at) + 2) for at in ends]
        row = made["seed30_features"][world, place]
        assert row[1] == len(paths[path]) - 1
        assert row[2:5] == pytest.approx([np.mean(shares), min(shares), np.array_split(shares, 3)[0].mean()], rel=1e-3)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("graph.txt", b"<graph>"),
        ("graph.txt", b"NumVertices: 2\nNumEdges: 1\n1 1 nan 0.5\n"),
        ("graph.txt", b"NumVertices: 2\nNumEdges: 1\n1 1 1000000000000000 0.5\n"),
        ("path_library.dat", b"1 2 x\n"),
        ("path_library.dat", b"\n"),
        ("path_library.dat", b"1 2 9999\n"),
        ("path_library.dat", b"1 2\n"),
        ("path_library.dat", b"1 2 99999999999999999999999\n"),
        ("world_library_assignment.dat", b"0,1\n1\n"),
        ("world_library_assignment.dat", b"1,1,1,1,1\n" * 40),
        ("coll_check_results.mat", b"MATLAB 5.0 MAT-file"),
        ("coll_check_results.mat", matrix("coll_check_results", np.zeros((40, 3)))),
        ("coll_check_results.mat", matrix("other", np.zeros((40, 96)))),
        ("train_id.mat", matrix("train_id", np.arange(0.0, 30.0))),
        ("test_id.mat", matrix("test_id", np.arange(31.0, 42.0))),
        ("test_id.mat", matrix("test_id", np.array(["a", "b"], dtype=object))),
    ],
    ids=count(),  # the content has the time at which it was made
)
def test_bad_planning_problems_are_told_and_leave_nothing(serve, tmp_path, file, content):
    serve("motion_paths", planning_problem(**{file: content}))
    with pytest.raises(InputError, match="2d_1 of motion_paths is not in the form of its source"):
        lw.datasets.fetch("motion_paths")
    assert left_in(tmp_path) == []


def test_what_cannot_be_downloaded_says_what_is_missing(serve):
    with pytest.raises(InputError, match=r"trec_web cannot be downloaded.*bm25_scores.pkl of XuChen0427/FairDiverse"):
        lw.datasets.fetch("trec_web")


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
    with pytest.raises(InputError, match="trec_web cannot be downloaded"):  # installing pooch would not help
        lw.datasets.fetch("trec_web")


def test_every_set_is_described_and_pinned():
    for name in lw.datasets.list_datasets():
        known = _fetch.PUBLISHED[name]
        assert known.licence in known.describe(name)
        assert known.source.startswith("https://github.com/")
        assert all(re.search("/[0-9a-f]{40}(/|$)", address) for address in known.addresses().values())
        assert bool(known.files) != bool(known.missing)
    assert set(CONVERTERS) <= set(_fetch.PUBLISHED)
    assert len(_fetch.PUBLISHED["motion_paths"].addresses()) == 30
    assert list(_fetch.PUBLISHED["argkp"].addresses())[3] == "kpm_data/key_points_dev.csv"


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
    printed = capsys.readouterr().out
    assert [name for name in lw.datasets.list_datasets() if f"{name}: " not in printed] == []
    assert printed.count("Licence: ") == printed.count("Cite: ") == len(lw.datasets.list_datasets())
    for words in (["data", "--json"], ["data", "aslib", "--json"]):
        with pytest.raises(SystemExit, match="0"):
            main(words)
        printed = json.loads(capsys.readouterr().out)
        record = printed.get("aslib", printed)
        assert record["licence"] == "GPL-3.0"
        assert record["citation"].startswith("Bischl et al.")
