"""Turns questions with their passages into `Problems`, to train and evaluate policies on."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from listwright._internal.arrays import Ints, starts_of
from listwright.errors import InputError
from listwright.needs import QueryTerms
from listwright.problems import BoundReward, Problems
from listwright.text.passages.features import PassageFeatures, passage_features


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

    Features, links and needs are those of `passage_features`; they are worked out for each question by itself. Use
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
        One problem per question, in their order, with features, links and needs.

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
    Problems: 1 problem, 2 candidates (2 each), 65 features, 22 kinds of links, needs, no reward
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
    found = [
        passage_features(question, texts, None if titles is None else titles[i])
        for i, (question, texts) in enumerate(zip(questions, passages, strict=True))
    ]
    table = np.concatenate([features.table for features in found])
    for values in (columns or {}).values():
        table = np.column_stack([table, np.concatenate([np.asarray(value, np.float32) for value in values])])
    offsets = starts_of(counts)
    return Problems.from_arrays(
        table,
        offsets=offsets,
        feature_names=(*found[0].names, *(columns or {})),
        sizes=None if sizes is None else np.concatenate([np.asarray(size, np.float64) for size in sizes]),
        links={kind: _stacked([features.links[kind] for features in found], offsets) for kind in found[0].links},
        needs=joined_needs(found),
        vectors=vectors,
        reward=reward,
        problem_ids=problem_ids,
        item_ids=item_ids,
    )


def joined_needs(found: Sequence[PassageFeatures]) -> QueryTerms:
    """Join the needs of all questions into one `QueryTerms`."""
    return found[0].needs.join([features.needs for features in found[1:]])


def _stacked(tables: Sequence[Any], offsets: Ints) -> Any:
    """Stack tables of shape (passages, passages) below each other into one sparse table, as `Problems.links` takes
    them.
    """
    where = [np.nonzero(table) for table in tables]
    values = np.concatenate([table[place] for table, place in zip(tables, where, strict=True)])
    rows = np.concatenate([place[0] + start for place, start in zip(where, offsets[:-1], strict=True)])
    others = np.concatenate([place[1] for place in where])
    shape = (int(offsets[-1]), int(np.diff(offsets).max()))
    return sparse.csr_array((values.astype(np.float32), (rows, others)), shape=shape)
