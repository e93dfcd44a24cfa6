"""TREC diversity judgements: which documents cover the subtopics of a query? (Web Track 2009-2014.)

For candidates and runs of your own; `trec_web` reads a prepared collection with published rankings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats32, as_numbers, starts_of
from listwright.datasets._files import found
from listwright.errors import InputError
from listwright.problems import Problems
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
    judged = read_qrels(found(qrels, "A file of judgements"))
    rows_of = _from_runs(runs, depth) if candidates is None else candidates
    queries = [query for query, rows in rows_of.items() if any((query, name) in judged.answers for name in rows)]
    if not queries:
        raise InputError(f"{qrels} judges no candidate of any query above 0. Check the names of queries and documents.")
    problems = Problems.from_arrays(
        _table([vector for query in queries for vector in rows_of[query].values()]),
        offsets=starts_of([len(rows_of[query]) for query in queries]),
        problem_ids=queries,
        item_ids=[document for query in queries for document in rows_of[query]],
        feature_names=_names(runs) if candidates is None else None,
    )
    return problems.with_reward(qrels_reward(judged, problems, alpha=alpha))


def _table(vectors: list[ArrayLike]) -> Floats32:
    """Stack the feature vectors of candidates; raise unless all have the same length."""
    rows = [as_numbers(vector, "Features of a candidate", np.float32) for vector in vectors]
    if rows[0].ndim != 1 or len({row.shape for row in rows}) != 1:
        raise InputError(
            f"Every candidate needs as many features as the others. Got {sorted({r.shape for r in rows})}."
        )
    return np.stack(rows)


def _from_runs(runs: Sequence[str | Path], depth: int) -> dict[str, dict[str, Any]]:
    """Return, by query and document, two features per run: 60 / (60 + rank), as in reciprocal rank fusion, and the
    score.
    """
    rows_of: dict[str, dict[str, Any]] = {}
    for number, path in enumerate(runs):
        for query, scored in read_run(found(path, "A run")).items():
            ranked = scored[:depth]
            low, high = ranked[-1][1], ranked[0][1]
            for rank, (document, score) in enumerate(ranked, start=1):
                row = rows_of.setdefault(query, {}).setdefault(document, np.zeros(2 * len(runs), np.float32))
                row[2 * number] = _RANK_SCALE / (_RANK_SCALE + rank)
                row[2 * number + 1] = (score - low) / (high - low) if high > low else 0.0
    return rows_of


def _names(runs: Sequence[str | Path]) -> list[str]:
    """Return the names of the columns that `_from_runs` makes."""
    return [f"{Path(run).name} {kind}" for run in runs for kind in ("rank", "score")]
