"""ArgKP: choose arguments of a debate that cover its key points (Bar-Haim et al. 2020; the 2021 shared task)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import Floats32, Ints, starts_of
from listwright._internal.tokens import FUNCTION_WORDS, tokens, word_number
from listwright.datasets._reading import read_csv, read_records, require, require_path
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards import Coverage
from listwright.text.readers import distinct, note_skipped
from listwright.text.vectors import Rows, cosine_similarity, lexrank, term_counts, unit_vectors

VECTOR_COLUMNS = 1 << 18  # words are hashed into as many columns, so that vectors of two files fit together
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5)
NAMES = ("log_words", "short", "content_share", "topic_cosine", "mean_cosine", "degree", "best_cosine", "lexrank",
         *(f"like_{threshold:g}" for threshold in THRESHOLDS))  # fmt: skip
SPLITS = ("train", "dev", "test")
_FILES = {
    "arguments": ("arg_id", "argument", "topic", "stance"),
    "key_points": ("key_point_id", "topic", "stance"),
    "labels": ("arg_id", "key_point_id", "label"),
}


@dataclass(frozen=True, eq=False)
class Arguments:
    """Debates as problems, with the split of the source."""

    problems: Problems  # one problem per topic and stance; candidates are arguments
    split: NDArray[np.str_]  # "train", "dev" or "test", by problem; `problems[split == "train"]` selects a part


class _Debate(NamedTuple):
    split: str  # the part of the source, and the topic in words
    topic: str
    stance: int  # 1 for, -1 against
    arguments: dict[str, str]  # id and text
    key_points: dict[str, int]  # id and number
    matches: list[tuple[str, str]]  # ids of an argument and a key point that it makes


def read_arguments(path: str | Path) -> Arguments:
    """Read the ArgKP data as problems: which arguments together cover the key points of a debate?

    A problem is a topic and a stance. Its candidates are the arguments; the reward is the share of key points that the
    list covers, each of the same weight. Features are an argument's length, its similarity to the topic, and how many
    other arguments it resembles: for each threshold the logarithm of 1 + the number of cosines above it. Words are
    weighted within each debate; vectors are tf-idf.

    Parameters
    ----------
    path : str or Path
        JSON lines, also compressed, with `split`, `topic`, `stance`, `arguments`, `key_points` and `matches`; or a
        folder of the files as published (`arguments_train.csv`, `key_points_train.csv`, `labels_train.csv`, and the
        same for dev and test), which may lie in folders below it (`kpm_data`, `test_data`).

    Returns
    -------
    Arguments
        The problems and their splits. Debates in which no argument matches a key point are left out, with a
        `ReadingNote` that counts them.

    See Also
    --------
    listwright.rewards.Coverage : The reward.
    """
    path = require_path(path, "The ArgKP data")
    splits = [split for split in SPLITS if path.is_dir() and any(path.rglob(f"arguments_{split}.csv"))]
    if path.is_dir() and not splits:
        raise InputError(f"{path} holds none of {', '.join(f'arguments_{split}.csv' for split in SPLITS)}.")
    records = [record for split in splits for record in _records(path, split)] or read_records(path)
    read = [_from_record(record, path) for record in records]
    debates = [debate for debate in read if debate.matches]
    if not debates:
        raise InputError(f"No argument in {path} matches a key point. It has {len(read)} debates.")
    note_skipped(path, len(read), {"without an argument that matches a key point": len(read) - len(debates)})
    counts = np.array([len(debate.arguments) for debate in debates])
    columns, sizes, vectors = zip(*(_features(debate) for debate in debates), strict=True)
    problems = Problems.from_arrays(
        np.concatenate(columns),
        offsets=starts_of(counts),
        sizes=np.concatenate(sizes),
        problem_ids=distinct(f"{debate.topic} ({'pro' if debate.stance > 0 else 'con'})" for debate in debates),
        item_ids=[name for debate in debates for name in debate.arguments],
        feature_names=NAMES,
        vectors=sparse.vstack(vectors, format="csr"),
        reward=_coverage(debates),
    )
    return Arguments(problems, np.array([debate.split for debate in debates]))


def _coverage(debates: list[_Debate]) -> Coverage:
    """Return the reward: which key points, numbered within their debate, each argument matches."""
    cells, start = list[tuple[int, int]](), 0
    for debate in debates:
        row_of = {name: start + row for row, name in enumerate(debate.arguments)}
        cells += {(row_of[argument], debate.key_points[point]) for argument, point in debate.matches}
        start += len(row_of)
    rows, points = np.array(sorted(cells), dtype=np.int64).reshape(-1, 2).T
    shape = (start, max(len(debate.key_points) for debate in debates))
    return Coverage(sparse.csr_array((np.ones(len(rows)), (rows, points)), shape=shape))


def _features(debate: _Debate) -> tuple[Floats32, Ints, Rows]:
    """Return feature rows, sizes and hashed tf-idf, with words weighted by how rare they are in the debate."""
    texts = [tokens(text) for text in debate.arguments.values()]
    counts, names = term_counts([*texts, tokens(debate.topic)])
    own, frequency = counts[:-1], np.bincount(counts[:-1].indices, minlength=len(names))
    idf = sparse.diags_array(np.log((len(texts) + 1) / (frequency + 0.5)))  # as in `listwright.text.vectors.tf_idf`
    unit, query = unit_vectors(own @ idf), unit_vectors(counts[-1:] @ idf)
    cosine = cosine_similarity(unit)
    np.fill_diagonal(cosine, 0.0)
    words, central = own.sum(axis=1), lexrank(cosine)
    total = sparse.csr_array(cosine).sum(axis=1).astype(np.float64)
    content = own @ np.array([word not in FUNCTION_WORDS for word in names], dtype=np.float64)
    columns = [
        np.log1p(words),
        words < 8,
        content / np.maximum(words, 1.0),
        cosine_similarity(unit, query)[:, 0],
        total / max(len(texts) - 1, 1),
        total / max(total.max(), 1e-9),
        cosine.max(axis=1),
        central / central.max(),
        *(np.log1p((cosine > threshold).sum(axis=1)) for threshold in THRESHOLDS),
    ]
    # Hashed columns agree between files, so that their problems can be joined.
    hashes = np.array([word_number(word) % VECTOR_COLUMNS for word in names], dtype=np.int64)
    vectors = sparse.csr_array((unit.data, hashes[unit.indices], unit.indptr), (len(texts), VECTOR_COLUMNS))
    vectors.sum_duplicates()
    return np.stack(columns, axis=1).astype(np.float32), np.maximum(words, 1).astype(np.int64), vectors


def _from_record(record: dict[str, Any], path: Path) -> _Debate:
    require(record, ("split", "topic", "stance", "arguments", "key_points", "matches"), f"A line of {path}")
    arguments = {argument["id"]: argument["text"] for argument in record["arguments"]}
    numbers = {point["id"]: number for number, point in enumerate(record["key_points"])}
    for argument, point in record["matches"]:
        if argument not in arguments or point not in numbers:
            raise InputError(
                f"{record['topic']!r} matches {argument} with {point}, but has no such argument or key point."
            )
    matches = [(argument, point) for argument, point in record["matches"]]
    return _Debate(record["split"], record["topic"], int(record["stance"]), arguments, numbers, matches)


def _records(folder: Path, split: str) -> list[dict[str, Any]]:
    """Return the debates of three tables, in the form of the JSON lines."""
    tables = {kind: _table(folder, f"{kind}_{split}.csv", columns) for kind, columns in _FILES.items()}
    records: dict[tuple[str, str], dict[str, Any]] = {}
    for row in tables["arguments"]:
        if row["stance"] not in ("1", "-1"):
            raise InputError(f"The stance of {row['arg_id']!r} ({split}) must be 1 or -1. Got {row['stance']!r}.")
        side = {"topic": row["topic"], "stance": row["stance"]}
        empty: dict[str, Any] = {"split": split, **side, "arguments": [], "key_points": [], "matches": []}
        record = records.setdefault((row["topic"], row["stance"]), empty)
        record["arguments"].append({"id": row["arg_id"], "text": row["argument"]})
    side_of = {argument["id"]: side for side, record in records.items() for argument in record["arguments"]}
    for row in tables["key_points"]:
        if (row["topic"], row["stance"]) in records:
            records[row["topic"], row["stance"]]["key_points"].append({"id": row["key_point_id"]})
    for row in tables["labels"]:
        if row["label"] in ("1", "1.0") and row["arg_id"] in side_of:
            records[side_of[row["arg_id"]]]["matches"].append((row["arg_id"], row["key_point_id"]))
    return list(records.values())


def _table(folder: Path, name: str, columns: tuple[str, ...]) -> list[dict[str, str]]:
    files = sorted(folder.rglob(name))
    if len(files) != 1:
        raise InputError(f"{folder} must hold one {name}. It has {' and '.join(map(str, files)) or 'none'}.")
    return read_csv(files[0], columns)
