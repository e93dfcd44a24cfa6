"""From the files of a data set as published to the form that its reader takes. Files are hostile until checked."""

from __future__ import annotations

import gzip
import html
import json
import re
import zlib
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import loadmat
from scipy.io.matlab import MatReadError

from listwright._internal.arrays import Bools, Floats, Ints
from listwright.errors import InputError

_UNREADABLE = (BadZipFile, MatReadError, zlib.error)
LARGEST = 2**28  # bytes of text to take out of one archive


def _write_lines(path: Path, records: list[Any]) -> None:
    with gzip.open(path, "wt", encoding="utf8") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def convert_questions(raw: Path, folder: Path) -> None:
    for file, name in (("hotpot.json", "hotpotqa200"), ("wikihop_train_preprocess.json", "2wiki500")):
        _write_lines(folder / f"{name}.jsonl.gz", json.loads((raw / file).read_text(encoding="utf8")))


def convert_opinosis(raw: Path, folder: Path) -> None:
    texts = _read_members(raw / "OpinosisDataset1.0_0.zip", r"\.data$|summaries-gold/")
    topics = {Path(name).name.removesuffix(".txt.data"): text for name, text in texts.items() if name.endswith(".data")}
    records = []
    for topic, text in sorted(topics.items()):
        inside = re.compile(rf"summaries-gold/{re.escape(topic)}/[^/]+\.txt$")
        references = [summary for name, summary in sorted(texts.items()) if inside.search(name)]
        sentences = [line.strip() for line in text.splitlines() if line.strip()]
        refs = [{"annotator": str(i), "text": " ".join(t.split())} for i, t in enumerate(references, start=1)]
        docs = [{"doc_id": "reviews", "sentences": sentences}]
        records.append({"id": topic, "split": "", "docs": docs, "refs": refs})
    _write_lines(folder / "opinosis.jsonl.gz", records)


def convert_scisumm(raw: Path, folder: Path) -> None:
    """Write the papers of 2018, and those of ScisummNet that are long enough and not among them."""
    net = "Training-Set-2019/Task2/From-ScisummNet-2019"
    parts = ("Training-Set-2018", "Test-Set-2018", net)
    papers = rf"/data/({'|'.join(parts)})/([^/]+)/(Reference_XML/[^/]*\.xml$|(.*/)?\2\.xml$|summary/)"
    archive = raw / "scisumm-corpus.zip"
    texts = _read_members(archive, rf"{papers}|/data/Test-Set-2018-Gold/Task2/")
    gold = {name: text for name, text in texts.items() if "/Test-Set-2018-Gold/" in name}
    train, test, other = (
        {paper: _paper(paper, files) for paper, files in _papers(texts, part).items()} for part in parts
    )
    for paper, record in test.items():
        named = {name: text for name, text in gold.items() if paper in name.partition("/Task2/")[2]}
        record |= {"split": "test", "refs": _summaries(named)}
        for number, reference in enumerate(record["refs"]):
            reference["annotator"] = f"{reference['kind']}{number}"
    known = train | test
    bare = [paper for paper, record in known.items() if not record["docs"][0]["sentences"] or not record["refs"]]
    if not train or not test or bare:
        raise InputError(f"{archive.name} has no sentences or no summaries of {bare[0] if bare else 'papers of 2018'}.")
    other = {paper: record for paper, record in other.items() if paper not in known and record["refs"]}
    more = [record for record in other.values() if len(record["docs"][0]["sentences"]) >= 20]
    _write_lines(folder / "scisumm2018.jsonl.gz", list(known.values()))
    _write_lines(folder / "scisummnet2019.jsonl.gz", more)


def _papers(texts: Mapping[str, str], part: str) -> dict[str, dict[str, str]]:
    """Return the files of each paper by its id, from names such as "corpus/data/part/C02-1025/summary/a.txt"."""
    papers: dict[str, dict[str, str]] = {}
    for name, text in sorted(texts.items()):
        paper, _, file = name.partition(f"/data/{part}/")[2].partition("/")
        if file:
            papers.setdefault(paper, {})[file] = text
    return {paper: files for paper, files in papers.items() if any(not name.startswith("summary/") for name in files)}


def _paper(paper: str, files: Mapping[str, str]) -> dict[str, Any]:
    """Return the record of a paper; its abstract and its title are no sentences to pick."""
    source = min(files, key=lambda name: (name.startswith("summary/"), not name.startswith("Reference"), name))
    title, section, abstract = "", "", False
    rows: list[tuple[str, str, int]] = []
    # not an XML parser: nothing is expanded or loaded, and a stray "&" does not stop it
    for tag, settings, text in re.findall(r"<(/?[A-Z]+)\b([^<>]*)>([^<]*)", files[source]):
        given = dict(re.findall(r'(\w+)\s*=\s*"([^"]*)"', settings))
        abstract = tag == "ABSTRACT" or (abstract and tag != "/ABSTRACT")
        if tag in ("SECTION", "/SECTION"):
            section = html.unescape(given.get("title", ""))
        if tag == "S" and (sentence := _plain(text)) and re.fullmatch("[0-9]{1,9}", given.get("sid", "")):
            if given["sid"] == "0":
                title = sentence
            elif not abstract:
                rows.append((sentence, section, int(given["sid"])))
    sentences, sections, sids = ([row[i] for row in rows] for i in range(3))
    docs = [{"doc_id": paper, "sentences": sentences, "sections": sections, "sids": sids}]
    summaries = {name: text for name, text in files.items() if name.startswith("summary/")}
    return {"id": paper, "split": "train", "title": title, "docs": docs, "refs": _summaries(summaries)}


def _summaries(files: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the summaries whose file names say of which kind they are."""
    records = []
    for name, text in sorted((Path(path).name, _plain(text)) for path, text in files.items()):
        kind = next((kind for kind in ("abstract", "community", "human") if kind in name), None)
        if kind and text:
            records.append({"annotator": name, "kind": kind, "text": text})
    return records


def _plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^<>]+>", " ", text)).split())


def convert_motion_paths(raw: Path, folder: Path) -> None:
    for source in sorted(raw.iterdir()):
        try:
            np.savez_compressed(folder / f"{source.name.removeprefix('dataset_')}.npz", **_path_library(source))
        except (ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError, *_UNREADABLE) as error:
            raise InputError(f"{source.name} of motion_paths is not in the form of its source: {error!r}.") from error


def _path_library(source: Path) -> dict[str, Any]:
    """Return the arrays of a planning problem, with probed edges, thirty paths that cover much, and their features."""
    graph = _rows(source / "graph.txt")[2:]  # number, from, to, length; counted from 1
    graph.sort(key=lambda row: (int(row[2]), int(row[1])))  # the order of collision results
    edges = np.array([row[1:3] for row in graph], dtype=np.int64) - 1
    lengths = np.array([row[3] for row in graph], dtype=np.float32)
    valid = _matrix(source, "coll_check_results") != 0  # (worlds, edges)
    paths = [np.array(row, dtype=np.int64) - 1 for row in _rows(source / "path_library.dat")]
    numbers = {(start, end): i for i, (start, end) in enumerate(edges.tolist())}
    path_edges = [[numbers[pair] for pair in pairwise(path.tolist())] for path in paths]
    success = np.array(_rows(source / "world_library_assignment.dat", ","), dtype=np.uint8)
    train, test = (_matrix(source, f"{part}_id").ravel().astype(np.int32) - 1 for part in ("train", "test"))
    worlds = np.concatenate((train, test))
    if valid.shape != (len(success), len(edges)) or worlds.min() < 0 or worlds.max() >= len(success):
        raise ValueError("its files have different numbers of worlds or edges")
    if edges.min() < 0 or edges.max() >= 2 * len(edges) or min(map(len, path_edges)) < 2:
        raise ValueError("vertices must be numbered from 1, and paths have two edges or more")
    if not np.array_equal(success, np.stack([valid[:, along].all(axis=1) for along in path_edges], axis=1)):
        raise ValueError("a path must be free in the worlds in which all of its edges are")
    probes = _probe_edges(edges, np.concatenate(path_edges))
    seeds = _cover(success[train], 30)
    features = _path_features(
        edges,
        edges[probes],
        valid[:, probes],
        [paths[i] for i in seeds],
        [lengths[path_edges[i]] for i in seeds],
    )
    return {
        "success": success,
        "train_id": train,
        "test_id": test,
        "edge_valid_packed": np.packbits(valid, axis=1),
        "n_edges": np.array(len(edges), dtype=np.int32),
        "probe_edges": probes.astype(np.int32),
        "seed30": np.array(seeds, dtype=np.int32),
        "seed30_features": features,
    }


def _rows(path: Path, separator: str | None = None) -> list[list[str]]:
    return [line.split(separator) for line in path.read_text(encoding="ascii").splitlines() if line.strip()]


def _matrix(source: Path, name: str) -> NDArray[Any]:
    return np.asarray(loadmat(source / f"{name}.mat", variable_names=[name])[name])


def _probe_edges(edges: Ints, on_paths: Ints) -> Ints:
    """Return a tenth of the edges on no path, at least 60, in one direction each."""
    ends = np.sort(edges, axis=1)
    undirected = ends[:, 0] * (edges.max() + 1) + ends[:, 1]
    first = np.sort(np.unique(undirected, return_index=True)[1])
    free = first[~np.isin(undirected[first], undirected[on_paths])]
    n_probes = min(max(60, len(free) // 10), len(free))
    return np.sort(np.random.default_rng(0).choice(free, n_probes, replace=False))


def _cover(success: NDArray[Any], n_paths: int) -> list[int]:
    """Pick paths by how many worlds each adds; of equal ones, that which is free in most worlds."""
    left, chosen = np.ones(len(success), dtype=bool), list[int]()
    for _ in range(min(n_paths, success.shape[1])):
        score = success[left].sum(axis=0, dtype=np.int64) * (len(success) + 1) + success.sum(axis=0, dtype=np.int64)
        score[chosen] = -1
        chosen.append(int(score.argmax()))
        left &= success[:, chosen[-1]] == 0
    return chosen


def _path_features(
    edges: Ints, probes: Ints, free: Bools, paths: list[Ints], lengths: list[NDArray[np.float32]]
) -> NDArray[np.float16]:
    """Return, by world and path: length, number of edges, how free the probes within 0, 1 and 2 hops of it are."""
    n = int(edges.max()) + 1
    ones = np.ones(2 * len(probes))
    touches = sparse.csr_array((ones, (np.tile(np.arange(len(probes)), 2), probes.T.ravel())), shape=(len(probes), n))
    ends = np.concatenate((edges, edges[:, ::-1], np.repeat(np.arange(n), 2).reshape(n, 2)))
    near = sparse.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    near.data[:] = 1.0  # an edge that is there in both directions counts once
    good, count = free @ touches, touches.sum(axis=0)
    prior = 2.0 * free.mean(axis=1, keepdims=True)
    table = np.empty((len(free), len(paths), 17), dtype=np.float32)
    for i, (path, length) in enumerate(zip(paths, lengths, strict=True)):
        table[:, i, :2] = length.sum(), len(path) - 1
    for column in (2, 7, 12):
        share: Floats = (good + prior) / (count + 2.0)
        for i, path in enumerate(paths):
            along = share[:, path]
            thirds = (part.mean(axis=1) for part in np.array_split(along, 3, axis=1))
            table[:, i, column : column + 5] = np.stack((along.mean(axis=1), along.min(axis=1), *thirds), axis=1)
        good, count = good @ near, count @ near
    return table.astype(np.float16)


def _read_members(path: Path, wanted: str) -> dict[str, str]:
    """Return the texts of a zip archive's members whose names match; nothing is written under their names."""
    texts, left = {}, LARGEST
    try:
        with ZipFile(path) as archive:
            for member in archive.infolist():
                if member.is_dir() or not re.search(wanted, member.filename):
                    continue
                left -= member.file_size
                if left < 0:
                    raise InputError(f"{path.name} holds more than {LARGEST:,} bytes, as of {member.filename}.")
                texts[member.filename] = _decode(archive.read(member))
    except (EOFError, OSError, RuntimeError, *_UNREADABLE) as error:
        raise InputError(f"The archive {path.name} cannot be read: {error}") from None
    return texts


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


CONVERTERS = {
    "motion_paths": convert_motion_paths,
    "multihop_qa": convert_questions,
    "opinosis": convert_opinosis,
    "scisumm": convert_scisumm,
}
