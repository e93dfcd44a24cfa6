"""Features of passages, counted within one question, so that no statistics need to be stored with a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Floats, Floats32
from listwright.errors import InputError
from listwright.query_terms import QueryTerms
from listwright.text.passages.bags import Bags, bags_of, few_of, likenesses, rarity_of, total_of, worths
from listwright.text.passages.columns import passage_columns
from listwright.text.passages.links import additions, name_links, term_links, title_links
from listwright.text.passages.question import ParsedQuestion, understand
from listwright.text.passages.reading import Reading, SourceText, read

BEST = "best_"  # column for the strongest link, weighted by the other's BM25


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
    query_terms : QueryTerms
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
    query_terms: QueryTerms
    question: ParsedQuestion
    reading: Reading
    source: SourceText
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
        Columns, links and query terms.

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
    that the question does not hold (`shared_name_words`; `bridge`, times how well the sentences that hold the name
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
    bags = bags_of(reading)
    rarity = rarity_of(bags.frequency, n)
    asked = understand(question, reading, source, rarity, bags.frequency)
    query_terms = _query_terms(reading, asked)
    few = few_of(bags.frequency, n)
    cosine, cosines, words = likenesses(bags, rarity, asked.is_term, few)
    cosine /= max(float(np.sqrt((rarity[asked.is_term] ** 2).sum())), 1e-9)
    columns = passage_columns(reading, asked, bags, rarity, query_terms, cosine)
    shares = worths(query_terms.parts, asked.weights) / total_of(asked.weights)
    links = title_links(reading, asked, rarity, shares, 1.0 - columns["title_in_question"])
    added = additions(query_terms)
    links |= name_links(reading, asked, rarity, added, shares, columns["best_sentence"])
    links |= term_links(query_terms, added, links)
    links |= {"alike": cosines, "shared_words": np.log1p(words)}
    columns["same_titles"] = links["same_title"].sum(axis=1)
    columns |= {BEST + kind: (table * columns["relative_bm25"]).max(axis=1) for kind, table in links.items()}
    table = np.stack(list(columns.values()), axis=1).astype(np.float32)
    return PassageFeatures(table, tuple(columns), links, query_terms, asked, reading, source, bags, rarity)


def _query_terms(reading: Reading, asked: ParsedQuestion) -> QueryTerms:
    """Return the terms of the question, with bit masks of those that each passage and each sentence holds."""
    terms = asked.term_of[reading.stems]
    words = np.flatnonzero((terms >= 0) & reading.content & (reading.owners >= 0))
    bit, sentences = np.uint64(1) << terms[words].astype(np.uint64), reading.sentences[words]
    wholes, parts = np.zeros(len(reading.bodies), np.uint64), np.zeros(len(reading.part_words), np.uint64)
    np.bitwise_or.at(wholes, reading.owners[words], bit)
    np.bitwise_or.at(parts, sentences[sentences >= 0], bit[sentences >= 0])
    return QueryTerms(asked.weights[None, :], wholes, parts, reading.part_starts)
