"""Turns questions with their passages into `Problems`, to train and evaluate policies on."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, Ints, starts_of
from listwright._kernels.words import CAPITAL
from listwright.errors import InputError
from listwright.problems import BoundReward, Problems
from listwright.text.passages.bags import Bags, bags_of, bm25
from listwright.text.passages.columns import ranks
from listwright.text.passages.features import PassageFeatures, passage_features
from listwright.text.passages.reading import Reading, read

LEADERS = 10  # best passages whose names may lead on to others
RARE = 50  # a name leads on where at most one passage in so many holds it


def question_problems(
    questions: Sequence[str],
    passages: Sequence[Sequence[str]],
    *,
    titles: Sequence[Sequence[str]] | None = None,
    columns: Mapping[str, Sequence[ArrayLike]] | None = None,
    sizes: Sequence[ArrayLike] | None = None,
    vectors: Any = None,
    reward: BoundReward | None = None,
    problem_ids: Sequence[Hashable] | None = None,
    item_ids: Sequence[Any] | None = None,
) -> Problems:
    """One problem per question, with its passages as candidates.

    Features, links and query terms are those of `passage_features`; worked out for each question by itself. Use
    them with `features.UncoveredTerms` and `features.Links`, as `features="auto"` does.

    Parameters
    ----------
    questions : sequence of str
        The questions.
    passages : sequence of sequences of str
        The passages of each question.
    titles : sequence of sequences of str, optional
        Their titles; "" for a passage without one.
    columns : dict, optional
        More features by name: for each question one number per passage, such as a retriever's scores.
    sizes : sequence of array-like, optional
        For each question what each passage takes of a budget.
    vectors : array or sparse matrix, optional
        One row per passage of all questions: what similarity is measured on, such as embeddings.
    reward : Reward, optional
        What a list of passages is worth; for training and evaluation.
    problem_ids, item_ids : sequence, optional
        Names of the questions, and of all passages one after the other.

    Returns
    -------
    Problems
        One problem per question, in their order, with features, links and query terms.

    Raises
    ------
    InputError
        If there is not one list of passages per question, one of them is empty, or a passage is not text.

    See Also
    --------
    passage_features : What the columns and links mean.
    listwright.context.ContextPacker : A trained policy over these features.

    Examples
    --------
    >>> question_problems(["Who wrote Emma?"], [["Emma is by Jane Austen.", "Persuasion appeared in 1817."]])
    Problems: 1 problem, 2 candidates (2 each), 65 features, 22 kinds of links, query terms, no reward
    """
    counts = [len(texts) for texts in passages]
    if len(counts) != len(questions) or not counts or min(counts) < 1:
        raise InputError(
            f"Give one list of passages per question, with at least one passage each. Got {len(questions)} questions "
            f"and lists of {counts[:5]} passages."
        )
    for question, texts in zip(questions, passages, strict=True):
        wrong = next((i for i, text in enumerate(texts) if not isinstance(text, str)), None)
        if wrong is not None:
            got = type(texts[wrong]).__name__
            raise InputError(f"Passage {wrong} (from 0) of the question {question!r:.60} must be text. Got {got}.")
    described = [
        passage_features(question, texts, None if titles is None else titles[i])
        for i, (question, texts) in enumerate(zip(questions, passages, strict=True))
    ]
    return join_features(
        described,
        columns=columns,
        sizes=None if sizes is None else np.concatenate([np.asarray(size, np.float64) for size in sizes]),
        vectors=vectors,
        reward=reward,
        problem_ids=problem_ids,
        item_ids=item_ids,
    )


def join_features(
    described: Sequence[PassageFeatures], *, columns: Mapping[str, Sequence[ArrayLike]] | None = None, **more: Any
) -> Problems:
    table = np.concatenate([features.table for features in described])
    for values in (columns or {}).values():
        table = np.column_stack([table, np.concatenate([np.asarray(value, np.float32) for value in values])])
    offsets = starts_of([len(features.table) for features in described])
    return Problems.from_arrays(
        table,
        offsets=offsets,
        feature_names=(*described[0].names, *(columns or {})),
        links={kind: _stack([features.links[kind] for features in described], offsets) for kind in described[0].links},
        query_terms=described[0].query_terms.join([features.query_terms for features in described[1:]]),
        **more,
    )


def _stack(tables: Sequence[Any], offsets: Ints) -> Any:
    """Stack tables of shape (passages, passages) into one sparse table, as `Problems.links` takes them."""
    where = [np.nonzero(table) for table in tables]
    values = np.concatenate([table[place] for table, place in zip(tables, where, strict=True)])
    rows = np.concatenate([place[0] + start for place, start in zip(where, offsets[:-1], strict=True)])
    others = np.concatenate([place[1] for place in where])
    shape = (int(offsets[-1]), int(np.diff(offsets).max()))
    return sparse.csr_array((values.astype(np.float32), (rows, others)), shape=shape)


def shortlist(
    question: str,
    texts: Sequence[str],
    titles: Sequence[str] | None = None,
    *,
    most: int,
    signals: Sequence[Floats] = (),
) -> Ints:
    """Choose the most promising of very many passages, before features that compare all pairs are computed."""
    n = len(texts)
    if n <= most:
        return np.arange(n)
    reading, _ = read(question, texts, [""] * n if titles is None else titles)
    bags = bags_of(reading)
    asked = np.zeros(reading.n_stems, dtype=bool)
    words = slice(0, reading.n_question)
    asked[reading.stems[words][reading.content[words]]] = True
    own = bm25(bags, asked)
    rankings = [own, bm25(bags, _leads(reading, bags, own, asked)), *signals]
    best = np.min([ranks(np.asarray(values, dtype=np.float64)) for values in rankings], axis=0)
    return np.sort(np.argsort(best, kind="stable")[:most])


def _leads(reading: Reading, bags: Bags, scores: Floats, asked: Bools) -> Bools:
    """Flags the stems of rare names in the best passages that the question does not hold."""
    leads = np.zeros(reading.n_stems, dtype=bool)
    for row in np.argsort(-scores, kind="stable")[:LEADERS]:
        words = slice(*reading.places[row])
        leads[reading.stems[words][reading.flags[words] & CAPITAL > 0]] = True
    rare: Bools = bags.frequency <= max(2, len(scores) // RARE)
    return leads & rare & ~asked
