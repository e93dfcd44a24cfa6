"""Features of passages: what can be known of them, given the question, without labels.

`passage_features` runs the steps of this package in order. All of it is counted within one question, so that no
collection statistics need to be stored with a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._kernels.bags import Bags, bags_of, likenesses
from listwright._kernels.needs import masks_of
from listwright.errors import InputError
from listwright.needs import QueryTerms
from listwright.text.passages.likeness import few_of, likeness
from listwright.text.passages.links import name_links, need_links, sentence_worths, title_links
from listwright.text.passages.question import Question, understand
from listwright.text.passages.reading import Reading, Source, read

_COMMON = 0.02  # the least rarity
BEST = "best_"  # column for the strongest link, weighed by the other's BM25


@dataclass(frozen=True, eq=False)
class PassageFeatures:
    """What is known of the passages of a question without labels: see `passage_features`.

    Parameters
    ----------
    table : array of shape (passages, columns), float32
        One row per passage.
    names : tuple of str
        One name per column.
    links : dict of str to array of shape (passages, passages)
        By kind: how strongly the passage of the row is linked to that of the column.
    needs : QueryTerms
        The words of the question, and which of them each passage and each of its sentences holds.
    question, reading, source, bags, rarity
        What these were made from: the terms and spans of the question, the numbered words, where they stand in the
        text, the passages as bags of word stems, and how rare each stem is among them.

    See Also
    --------
    passage_features : Computes these.
    question_problems : The same for many questions, as problems.
    """

    table: Floats32
    names: tuple[str, ...]
    links: dict[str, Floats]
    needs: QueryTerms
    question: Question
    reading: Reading
    source: Source
    bags: Bags
    rarity: Floats


def passage_features(question: str, texts: Sequence[str], titles: Sequence[str] | None = None) -> PassageFeatures:
    """Features of passages, given the question that they are to answer.

    Everything comes from the texts of this one question, and how rare a word is, is counted among its passages. Rarity
    does not grow with their number, so that what was learned from ten passages holds for a hundred. Words are compared
    by their first five letters, without case and accents.

    Parameters
    ----------
    question : str
        The question.
    texts : sequence of str
        The passages.
    titles : sequence of str, optional
        Their titles, "" where there is none. A passage without a title is named by the first capitalised words of its
        opening. A note in brackets behind a title, "Alien (film)", is looked at by itself.

    Returns
    -------
    PassageFeatures
        Columns, links and needs.

    Notes
    -----
    Columns are of six groups.

    - Words: `bm25` (with its rank, and as a share of the best), `cosine` of tf-idf, and shares of the question's words
      by rarity: all (`question_words`), in names or not (`name_words`, `other_words`), in the best and in the first
      sentence, those that few passages or no other hold (`rare_words`, `words_only_here`).
    - Spans: how far the names and quotations of the question stand in the title and in the text.
    - Runs: `word_pairs` and the `longest_run` of the question's words in a row.
    - Titles: whether the question holds the title, and which words of it.
    - Answers: years, numbers, words about people and places, alone and where the question asks for such.
    - Links: for each kind of link the strongest one to another passage, times that passage's share of the best BM25.

    Links are by titles (`mentioned_in`, `mentions`; `newly_` where the title is not in the question; `title_words_in`,
    `title_words_of`; `mention_matches`: how much of the question the sentence holds that mentions the title), by names
    that the question does not hold (`shared_name_words`; `bridge`, weighed by how well the sentences that hold the name
    match the question), by other words (`alike`, `shared_words`, `same_title`), and by what two passages hold of the
    question together (`adds`: what the best sentence of one adds to the other; `together`; each also times the links
    by title or by name; `bridged_addition` for the sentence that holds the name).

    See Also
    --------
    question_problems : the same for many questions, as problems to learn from.
    listwright.features.UncoveredTerms : what the words of the question are worth that the list leaves uncovered.

    Examples
    --------
    >>> found = passage_features(
    ...     "Where was the director of Alien born?",
    ...     ["Alien is a film by Ridley Scott.", "Ridley Scott was born in South Shields.", "Rain fell."],
    ...     titles=["Alien (film)", "Ridley Scott", "Weather"],
    ... )
    >>> found.table[:, found.names.index("question_words")].round(2)
    array([0.5, 0.5, 0. ], dtype=float32)
    >>> found.links["mentioned_in"]
    array([[0., 0., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    if not texts:
        raise InputError("passage_features needs at least one passage. Got none.")
    n = len(texts)
    reading, source = read(question, texts, [""] * n if titles is None else titles)
    bags = bags_of(reading.stems, reading.flags, reading.places, reading.n_stems)
    rarity = rarity_of(bags.frequency, n)
    asked = understand(question, reading, source, rarity, bags.frequency)
    needs = _needs(reading, asked)
    few = few_of(bags.frequency, n)
    cosine, cosines, words = likenesses(bags, rarity, asked.is_term, few)
    cosine /= max(float(np.sqrt((rarity[asked.is_term] ** 2).sum())), 1e-9)
    columns = likeness(reading, asked, bags, rarity, needs, cosine)
    worths = sentence_worths(needs)
    links = title_links(reading, asked, rarity, worths, 1.0 - columns["title_in_question"])
    links |= name_links(reading, asked, rarity, needs, worths, columns["best_sentence"])
    links |= need_links(needs, links)
    links |= {"alike": cosines, "shared_words": np.log1p(words)}
    columns["same_titles"] = links["same_title"].sum(axis=1)
    columns |= {BEST + kind: (table * columns["relative_bm25"]).max(axis=1) for kind, table in links.items()}
    table = np.stack(list(columns.values()), axis=1).astype(np.float32)
    return PassageFeatures(table, tuple(columns), links, needs, asked, reading, source, bags, rarity)


def rarity_of(frequency: Ints, n: int) -> Floats:
    """Return how rare a word is that `frequency` of n passages hold: 1 where one does or none, near 0 where all do."""
    # It is log((n + 1) / (df + 1/2)) as a share of its value for one passage, so that it does not grow with n.
    return np.clip(np.log((n + 1) / (frequency + 0.5)) / np.log((n + 1) / 1.5), _COMMON, 1.0)


def _needs(reading: Reading, asked: Question) -> QueryTerms:
    """Return the terms of the question as needs, with bit masks of those that each passage and each sentence holds."""
    wholes, parts = masks_of(
        reading.stems, reading.flags, reading.sentences, reading.places, asked.term_of, len(reading.part_words)
    )
    return QueryTerms(asked.weights[None, :], wholes, parts, reading.part_starts)
