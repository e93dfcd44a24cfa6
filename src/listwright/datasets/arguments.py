"""ArgKP: choose arguments of a debate that cover its key points (Bar-Haim et al. 2020; the 2021 shared task).

`read_arguments` reads either the published CSV files or JSON lines; both end in `_Debate` records.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, Floats32, Ints, starts_of
from listwright._internal.tokens import FUNCTION_WORDS, tokens
from listwright.datasets._fetch import read_csv, read_records, require, require_path
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards import Coverage
from listwright.text.readers import distinct, note_skipped
from listwright.text.vectors import Rows, lexrank, term_counts, unit_vectors

VECTOR_COLUMNS = 1 << 18  # words are hashed into as many columns, so that vectors of two files fit together


@dataclass(frozen=True, eq=False)
class Terms:
    """Counts of the words of each candidate and of each problem's query."""

    counts: Rows  # (candidates, terms)
    queries: Rows  # (problems, terms)
    owners: Ints  # by candidate: its problem
    term_owners: Ints  # by term, its problem
    hashes: Ints  # by term: its column in vectors
    is_content: Bools  # by term: whether it is more than a function word

    @cached_property
    def frequency(self) -> Ints:
        return np.bincount(self.counts.indices, minlength=self.counts.shape[1])

    @cached_property
    def n_candidates(self) -> Ints:
        return np.bincount(self.owners)[self.term_owners]

    @cached_property
    def idf(self) -> Floats:
        """By term: log((N + 1) / (df + 1/2)), as in `listwright.text.vectors.tf_idf`."""
        return np.log((self.n_candidates + 1) / (self.frequency + 0.5))

    @cached_property
    def unit(self) -> Rows:
        """tf-idf rows of the candidates, scaled to length 1."""
        return unit_vectors(_scale(self.counts, self.idf))

    @cached_property
    def query_cosine(self) -> Floats:
        return row_sums(self.unit @ unit_vectors(_scale(self.queries, self.idf)).T)

    def cosines(self) -> Rows:
        """Return the tf-idf cosines of pairs of candidates as a sparse link table, without the diagonal."""
        return off_diagonal(self.unit @ self.unit.T)

    def vectors(self) -> Rows:
        """Return the tf-idf rows over hashed columns, for similarity within a problem (`Problems.vectors`)."""
        # Hashing makes the columns of two files agree, so that their problems can be joined.
        indices = self.hashes[self.unit.indices]
        rows = sparse.csr_array((self.unit.data, indices, self.unit.indptr), (len(self.owners), VECTOR_COLUMNS))
        rows.sum_duplicates()
        return rows


def count_terms(texts: Sequence[Sequence[str]], owners: Ints, queries: Sequence[Sequence[str]]) -> Terms:
    counts, columns = term_counts([*texts, *queries])
    problem = np.concatenate([owners, np.arange(len(queries))])
    entry_owner = np.repeat(problem, np.diff(counts.indptr))
    keys, local = np.unique(entry_owner * len(columns) + counts.indices, return_inverse=True)
    table = sparse.csr_array((counts.data, local, counts.indptr), (len(problem), len(keys)))
    hashes = np.array([zlib.crc32(word.encode()) % VECTOR_COLUMNS for word in columns], dtype=np.int64)
    content = np.array([word not in FUNCTION_WORDS for word in columns], dtype=bool)
    word_of = keys % len(columns)
    return Terms(
        counts=table[: len(texts)],
        queries=table[len(texts) :],
        owners=owners,
        term_owners=keys // len(columns),
        hashes=hashes[word_of],
        is_content=content[word_of],
    )


def row_sums(table: Any) -> Floats:
    return np.asarray(table.sum(axis=1), dtype=np.float64).ravel()


def off_diagonal(table: Rows) -> Rows:
    """Return the table in float32, with sorted indices, without its diagonal and without stored zeros."""
    entries = sparse.coo_array(table)
    keep = (entries.row != entries.col) & (entries.data != 0)
    where = (entries.row[keep], entries.col[keep])
    kept = sparse.csr_array((entries.data[keep].astype(np.float32), where), shape=table.shape)
    kept.sort_indices()
    return kept


def best_link(table: Rows, worth: Floats) -> Floats:
    """Return, for each row, the largest product of a link and the worth of the candidate linked to; 0 without links."""
    values = table.data * worth[table.indices]
    best = np.zeros(table.shape[0])
    np.maximum.at(best, np.repeat(np.arange(table.shape[0]), np.diff(table.indptr)), values)
    return best


def highest(values: Floats, owners: Ints) -> Floats:
    """By row: the highest value in its problem."""
    best = np.full(int(owners.max()) + 1, -np.inf)
    np.maximum.at(best, owners, values)
    return best[owners]


def _with_data(table: Rows, data: Any) -> Rows:
    return sparse.csr_array((data, table.indices, table.indptr), shape=table.shape)


def _scale(table: Rows, by_column: Any) -> Rows:
    return _with_data(table, table.data * by_column[table.indices])


THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5)
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
    """One topic and stance."""

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
    read = _from_folder(path) if path.is_dir() else [_from_record(record, path) for record in read_records(path)]
    debates = [debate for debate in read if debate.matches]
    if not debates:
        raise InputError(f"No argument in {path} matches a key point. It has {len(read)} debates.")
    note_skipped(path, len(read), {"without an argument that matches a key point": len(read) - len(debates)})
    counts = np.array([len(debate.arguments) for debate in debates])
    texts = [tokens(text) for debate in debates for text in debate.arguments.values()]
    terms = count_terms(texts, np.repeat(np.arange(len(debates)), counts), [tokens(debate.topic) for debate in debates])
    features, names = _features(terms, starts_of(counts))
    problems = Problems.from_arrays(
        features,
        offsets=starts_of(counts),
        sizes=[max(len(words), 1) for words in texts],
        problem_ids=distinct(f"{debate.topic} ({'pro' if debate.stance > 0 else 'con'})" for debate in debates),
        item_ids=[name for debate in debates for name in debate.arguments],
        feature_names=names,
        vectors=terms.vectors(),
        reward=_coverage(debates),
    )
    return Arguments(problems, np.array([debate.split for debate in debates]))


def _coverage(debates: list[_Debate]) -> Coverage:
    """Return the reward: which key points, numbered within their debate, each argument matches."""
    cells: list[tuple[int, int]] = []
    start = 0
    for debate in debates:
        row_of = {name: start + row for row, name in enumerate(debate.arguments)}
        cells += {(row_of[argument], debate.key_points[point]) for argument, point in debate.matches}
        start += len(row_of)
    rows, points = np.array(sorted(cells), dtype=np.int64).reshape(-1, 2).T
    shape = (start, max(len(debate.key_points) for debate in debates))
    return Coverage(sparse.csr_array((np.ones(len(rows)), (rows, points)), shape=shape))


def _features(terms: Terms, starts: Ints) -> tuple[Floats32, tuple[str, ...]]:
    """Return one feature row per argument, and the column names; `starts` are the offsets of the debates."""
    cosine, words = terms.cosines(), row_sums(terms.counts)
    total = row_sums(cosine)
    others = np.maximum(np.bincount(terms.owners)[terms.owners] - 1, 1)
    columns = {
        "log_words": np.log1p(words),
        "short": (words < 8).astype(np.float64),
        "content_share": row_sums(terms.counts.multiply(terms.is_content)) / np.maximum(words, 1.0),
        "topic_cosine": terms.query_cosine,
        "mean_cosine": total / others,
        "degree": total / np.maximum(highest(total, terms.owners), 1e-9),
        "best_cosine": best_link(cosine, np.ones(cosine.shape[0])),
        "lexrank": _lexrank(cosine, starts),
    }
    for threshold in THRESHOLDS:
        columns[f"like_{threshold:g}"] = np.log1p(row_sums(cosine > threshold))
    return np.stack(list(columns.values()), axis=1).astype(np.float32), tuple(columns)


def _lexrank(cosine: Any, starts: Ints) -> Floats:
    """Return each argument's centrality in the random walk over similar arguments, relative to the highest."""
    blocks = (cosine[start:end, start:end].toarray() for start, end in pairwise(starts.tolist()))
    shares = [lexrank(block) for block in blocks]
    return np.concatenate([share / share.max() for share in shares])


def _from_record(record: dict[str, Any], path: Path) -> _Debate:
    require(record, ("split", "topic", "stance", "arguments", "key_points", "matches"), f"A line of {path}")
    return _validate(
        record["split"],
        record["topic"],
        int(record["stance"]),
        {argument["id"]: argument["text"] for argument in record["arguments"]},
        [point["id"] for point in record["key_points"]],
        [(argument, point) for argument, point in record["matches"]],
    )


def _from_folder(folder: Path) -> list[_Debate]:
    """Return the debates of all published CSV files below a folder, split by split."""
    splits = [split for split in SPLITS if any(folder.rglob(f"arguments_{split}.csv"))]
    if not splits:
        raise InputError(f"{folder} holds none of {', '.join(f'arguments_{split}.csv' for split in SPLITS)}.")
    return [debate for split in splits for debate in _from_files(folder, split)]


def _from_files(folder: Path, split: str) -> list[_Debate]:
    """Return the debates of one split, by joining its arguments, key points and labels."""
    tables = {kind: _table(folder, f"{kind}_{split}.csv", columns) for kind, columns in _FILES.items()}
    arguments: dict[tuple[str, int], dict[str, str]] = {}
    for row in tables["arguments"]:
        arguments.setdefault(_side(row, split), {})[row["arg_id"]] = row["argument"]
    points: dict[tuple[str, int], list[str]] = {}
    for row in tables["key_points"]:
        points.setdefault(_side(row, split), []).append(row["key_point_id"])
    labels = [(row["arg_id"], row["key_point_id"]) for row in tables["labels"] if row["label"] in ("1", "1.0")]
    return [
        _validate(split, *side, texts, points.get(side, []), [pair for pair in labels if pair[0] in texts])
        for side, texts in arguments.items()
    ]


def _table(folder: Path, name: str, columns: tuple[str, ...]) -> list[dict[str, str]]:
    """Return the rows of the one file of that name below the folder, with empty strings for missing cells."""
    files = sorted(folder.rglob(name))
    if len(files) != 1:
        there = " and ".join(map(str, files)) or "none"
        raise InputError(f"{folder} must hold one {name}. It has {there}.")
    return [{column: (row[column] or "").strip() for column in columns} for row in read_csv(files[0], columns)]


def _side(row: dict[str, str], split: str) -> tuple[str, int]:
    if row["stance"] not in ("1", "-1"):
        raise InputError(
            f"The stance of {next(iter(row.values()))!r} ({split}) must be 1 or -1. Got {row['stance']!r}."
        )
    return row["topic"], int(row["stance"])


def _validate(
    split: str, topic: str, stance: int, arguments: dict[str, str], points: list[str], matches: list[tuple[str, str]]
) -> _Debate:
    numbers = {point: number for number, point in enumerate(points)}
    for argument, point in matches:
        if argument not in arguments or point not in numbers:
            raise InputError(f"{topic!r} matches {argument} with {point}, but has no such argument or key point.")
    return _Debate(split, topic, stance, arguments, numbers, matches)
