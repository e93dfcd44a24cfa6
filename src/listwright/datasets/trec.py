"""TREC diversity judgements: which documents cover the subtopics of a query? (Web Track 2009-2014.)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, Floats32, Ints, as_numbers, starts_of
from listwright.datasets._fetch import locate
from listwright.datasets._reading import first_of, read_arrays, read_records, require, require_path
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.rewards import AlphaCoverage
from listwright.tables import qrels_reward, read_qrels, read_run

_RANK_SCALE = 60.0  # as in reciprocal rank fusion


def read_trec_diversity(
    qrels: str | Path,
    *,
    candidates: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    runs: Sequence[str | Path] = (),
    depth: int = 100,
    alpha: float | None = None,
) -> Problems:
    """Read judgements, lines of "query subtopic document judgement", as problems over the candidates given.

    The reward is the share of subtopics that the list covers, out of those that the candidates cover (a judgement above
    0 means that a document covers the subtopic). Unjudged documents cover nothing. Queries whose candidates cover
    nothing are left out.

    Parameters
    ----------
    qrels : str or Path
        The file of judgements.
    candidates : dict, optional
        By query, the features of each candidate document.
    runs : sequence of str or Path
        Instead of candidates, files of ranked results, lines of "query Q0 document rank score tag". The candidates
        are the first `depth` documents of each run by score; features are, by run, 60 / (60 + rank) and the score
        between 0 and 1 within the query, and 0 where the run lacks the document.
    depth : int
        Documents to take from each run.
    alpha : float, optional
        Rewards further documents on a subtopic by 1 - alpha times as much, with the ideal of all judged documents: see
        `tables.qrels_reward`.

    Returns
    -------
    Problems
        One problem per query.

    Raises
    ------
    InputError
        If both or neither of `candidates` and `runs` are given, or no candidate is judged above 0.

    See Also
    --------
    read_trec_web : The Web Track 2009-2012 with suggestions and published runs.
    """
    if (candidates is None) == (not runs):
        raise InputError("Give either candidates with features, or runs.")
    judged = read_qrels(require_path(qrels, "A file of judgements"))
    rows_of = _from_runs(runs, depth) if candidates is None else candidates
    queries = [query for query, rows in rows_of.items() if any((query, name) in judged.answers for name in rows)]
    if not queries:
        raise InputError(f"{qrels} judges no candidate of any query above 0. Check the names of queries and documents.")
    problems = Problems.from_arrays(
        _table([vector for query in queries for vector in rows_of[query].values()]),
        offsets=starts_of([len(rows_of[query]) for query in queries]),
        problem_ids=queries,
        item_ids=[document for query in queries for document in rows_of[query]],
        feature_names=[f"{Path(run).name} {kind}" for run in runs for kind in ("rank", "score")] or None,
    )
    return problems.with_reward(qrels_reward(judged, problems, alpha=alpha))


def _table(vectors: list[ArrayLike]) -> Floats32:
    rows = [as_numbers(vector, "Features of a candidate", np.float32) for vector in vectors]
    if rows[0].ndim != 1 or len({row.shape for row in rows}) != 1:
        raise InputError(
            f"Every candidate needs as many features as the others. Got {sorted({r.shape for r in rows})}."
        )
    return np.stack(rows)


def _from_runs(runs: Sequence[str | Path], depth: int) -> dict[str, dict[str, Any]]:
    """Return, by query and document, two features per run: 60 / (60 + rank), and the score."""
    rows_of: dict[str, dict[str, Any]] = {}
    for number, path in enumerate(runs):
        for query, scored in read_run(require_path(path, "A run")).items():
            ranked = scored[:depth]
            low, high = ranked[-1][1], ranked[0][1]
            for rank, (document, score) in enumerate(ranked, start=1):
                row = rows_of.setdefault(query, {}).setdefault(document, np.zeros(2 * len(runs), np.float32))
                row[2 * number] = _RANK_SCALE / (_RANK_SCALE + rank)
                row[2 * number + 1] = (score - low) / (high - low) if high > low else 0.0
    return rows_of


RECORD = ("query", "text", "fold", "suggestions", "documents", "indri", "bm25", "bm25_suggestions",
          "subtopics", "covers", "ideal_dcg", "published")  # fmt: skip
OWN_COLUMNS = ("indri", "bm25", "suggestions", "rank", "wikipedia", "category b")
MORE = "trec_web.npz"
NOTHING = 1e-5  # contributions of a word below this are rounding


@dataclass(frozen=True, eq=False)
class TrecWeb:
    """The queries as problems, and what was published on them.

    Attributes
    ----------
    problems : Problems
        One problem per query; candidates are Indri's documents in Indri's order, the reward is `AlphaCoverage` with
        the ideal of all judged documents, and `aspects` are the query suggestions.
    folds : array of int
        The published fold of each query, 0 to 4.
    published : dict of Lists
        The rankings of published systems by name, on the same candidates.
    texts : tuple of str
        The queries in words.
    suggestions : tuple of tuple of str
        The suggestions of each query.
    """

    problems: Problems
    folds: Ints
    published: dict[str, Lists]
    texts: tuple[str, ...]
    suggestions: tuple[tuple[str, ...], ...]


def read_trec_web(folder: str | Path) -> TrecWeb:
    """Read `queries.jsonl.gz` (or `queries.jsonl`) and, where it is there, `trec_web.npz` with more columns.

    Each record has query, text, fold, suggestions, documents, indri, bm25, bm25_suggestions (one row per suggestion),
    subtopics (how many), covers (per document, the subtopics that it is judged relevant to), ideal_dcg (cumulative
    alpha-DCG of the ideal list of all judged documents, ranks 1 to 20) and published (rankings as positions among the
    documents, -1 for one outside). Labels are covers and ideal_dcg; a policy sees the rest.

    Features are Indri's score, BM25 of the query, the mean answer to the suggestions, the reciprocal rank, and whether
    the document's id is one of Wikipedia or of category B; or the columns of the `.npz` file, of which those that are
    the same for all documents of a query become the context. Aspects are of two kinds: "suggestions", the BM25 of each
    suggestion scaled from 0 to 1 within the query, and "own words", the part of it that is due to words which are not
    in the query itself.

    Returns
    -------
    TrecWeb
        With `problems`, `folds`, `published`, `texts` and `suggestions`.

    See Also
    --------
    read_trec_diversity : the same task from judgements and run files of one's own.
    listwright.evaluation.alpha_ndcg : with `ideal="judged"`, the published metric.
    listwright.tables.write_run : lists as a run file.
    """
    folder = locate(folder)
    file = first_of(folder, ("queries.jsonl.gz", "queries.jsonl"), "TREC Web data")
    records = read_records(file)
    for record in records:
        _check_record(record, f"Query {record.get('query', '?')} of {file}")
    offsets = starts_of([len(record["documents"]) for record in records])
    if (folder / MORE).is_file():
        table, names, context = _more_columns(folder / MORE, offsets)
    else:
        table, names, context = np.concatenate([_columns_of(record) for record in records]), OWN_COLUMNS, None
    problems = Problems.from_arrays(
        table.astype(np.float32),
        offsets=offsets,
        context=context,
        problem_ids=[str(record["query"]) for record in records],
        item_ids=[document for record in records for document in record["documents"]],
        feature_names=names,
        aspects={"suggestions": _stack(records, _scaled_answers), "own words": _stack(records, _own_word_answers)},
        reward=_reward(records),
    )
    return TrecWeb(
        problems,
        np.array([int(record["fold"]) for record in records]),
        _read_published(records, problems, file),
        tuple(str(record["text"]) for record in records),
        tuple(tuple(map(str, record["suggestions"])) for record in records),
    )


def _check_record(record: dict[str, Any], name: str) -> None:
    require(record, RECORD, name)
    rows = {column: record[column] for column in ("indri", "bm25", "covers")}
    rows |= {f"bm25_suggestions[{i}]": row for i, row in enumerate(record["bm25_suggestions"])}
    for column, values in rows.items():
        if len(values) != len(record["documents"]):
            raise InputError(f"{name} has {len(record['documents'])} documents, but {len(values)} of {column}.")
    for document in record["documents"]:
        if "-" not in str(document):
            raise InputError(
                f"{name}: document {document!r} has no id of ClueWeb09, such as clueweb09-en0000-00-00000."
            )


def _reward(records: list[dict[str, Any]]) -> AlphaCoverage:
    """Return alpha-coverage of the subtopics, normalised by the ideal list of all judged documents."""
    covers = [topics for record in records for topics in record["covers"]]
    rows = np.repeat(np.arange(len(covers)), [len(topics) for topics in covers])
    columns = np.array([int(topic) for topics in covers for topic in topics], dtype=np.int64)
    shape = (len(covers), int(columns.max(initial=0)) + 1)
    table = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    ideal, n_topics = [record["ideal_dcg"] for record in records], [record["subtopics"] for record in records]
    return AlphaCoverage(table, ideal=ideal, n_topics=n_topics)


def _read_published(records: list[dict[str, Any]], problems: Problems, file: Path) -> dict[str, Lists]:
    """Return the rankings of published systems as lists over the candidates; -1 marks documents outside them."""
    depth = max((len(ranks) for record in records for ranks in record["published"].values()), default=1)
    tables: dict[str, Ints] = {}
    for i, record in enumerate(records):
        for name, given in record["published"].items():
            ranks = np.array(given, dtype=np.int64)
            if ranks.max(initial=-1) >= problems.counts[i]:
                raise InputError(f"Query {record['query']} of {file}: {name} ranks document {ranks.max()} of too few.")
            rows = tables.setdefault(name, np.full((len(records), depth), -1))
            rows[i, : len(ranks)] = np.where(ranks >= 0, ranks + problems.offsets[i], -1)
    return {name: Lists(problems, rows) for name, rows in tables.items()}


def _columns_of(record: dict[str, Any]) -> Floats:
    indri, ids = np.array(record["indri"], dtype=np.float64), [str(name) for name in record["documents"]]
    wikipedia = np.array(["-enwp" in name for name in ids])
    category_b = np.array([name.split("-")[1] <= "en0011" for name in ids]) | wikipedia
    return np.stack(
        [
            (indri - indri.mean()) / (indri.std() + 1e-9),
            _scaled_answers(record | {"bm25_suggestions": []})[:, 0],
            _scaled_answers(record).mean(axis=1),
            1.0 / (1.0 + np.arange(len(ids))),
            wikipedia,
            category_b,
        ],
        axis=1,
    )


def _more_columns(path: Path, offsets: Ints) -> tuple[NDArray[Any], tuple[str, ...], Floats32 | None]:
    """Return features, names and context from the `.npz` file; columns constant within every query are context."""
    arrays = read_arrays(path, ("offsets", "features", "feature_names"))
    if not np.array_equal(arrays["offsets"], offsets):
        raise InputError(f"{path} is for other queries than the file of queries next to it.")
    table = arrays["features"].astype(np.float32)
    first = table[offsets[:-1]]
    same: Bools = np.asarray(np.isclose(table, np.repeat(first, np.diff(offsets), axis=0), atol=1e-6).all(axis=0))
    names = [str(name) for name in arrays["feature_names"]]
    return table[:, ~same], tuple(name for name, flat in zip(names, same, strict=True) if not flat), first[:, same]


def _stack(records: list[dict[str, Any]], answers: Any) -> Floats32:
    tables = [answers(record) for record in records]
    width = max(table.shape[1] for table in tables)
    return np.concatenate([np.pad(table, ((0, 0), (0, width - table.shape[1]))) for table in tables]).astype(np.float32)


def _scaled_answers(record: dict[str, Any]) -> Floats:
    """(documents, suggestions): BM25 of each suggestion, from 0 to 1 within the query."""
    scores = _numbers(record["bm25_suggestions"] or [record["bm25"]])
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    return ((scores - low) / np.where(high - low > 1e-12, high - low, 1.0)).T


def _own_word_answers(record: dict[str, Any]) -> Floats:
    """(documents, suggestions): the part of BM25 that comes from words which are not in the query, from 0 to 1."""
    texts = [str(record["text"]), *map(str, record["suggestions"])]
    scores = _numbers([record["bm25"], *record["bm25_suggestions"]])[: len(texts)]
    words = list(dict.fromkeys(word for text in texts for word in text.split()))
    counts = np.array([[text.split().count(word) for word in words] for text in texts[: len(scores)]], dtype=np.float64)
    contributions = np.linalg.pinv(counts) @ scores
    contributions[np.abs(contributions) < NOTHING] = 0.0
    own = np.array([word not in texts[0].split() for word in words])
    answers = np.clip((counts[1:] * own) @ contributions if len(scores) > 1 else 0.0 * scores, 0.0, None)
    return (answers / (answers.max(axis=1, keepdims=True) + 1e-9)).T


def _numbers(rows: Any) -> Floats:
    return np.array([[0.0 if value is None else float(value) for value in row] for row in rows])
