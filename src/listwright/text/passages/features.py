"""Features of passages: what can be known of them, given the question, without labels.

`passage_features` runs the steps of this package in order. All of it is counted within one question, so that no
collection statistics need to be stored with a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Bools, Floats, Floats32, Ints
from listwright._kernels import likeness as kernel
from listwright._kernels.bags import Bags, bags_of, bm25, likenesses
from listwright._kernels.likeness import same_titles, title_mentions, title_shares
from listwright._kernels.needs import MOST_NEEDS, additions, masks_of, part_worths
from listwright.errors import InputError
from listwright.query_terms import QueryTerms
from listwright.text.passages.question import ParsedQuestion, bits, understand
from listwright.text.passages.reading import Reading, SourceText, read

_COMMON = 0.02  # the least rarity
BEST = "best_"  # column for the strongest link, weighed by the other's BM25
Columns = dict[str, Floats]
FEW = 4  # a word is rare where at most one passage in so many holds it, or two passages do
_WORDS = (
    "question_words",
    "other_words",
    "name_words",
    "best_sentence",
    "first_sentence",
    "rare_words",
    "words_only_here",
)
_TITLE = (
    "title_in_question",
    "title_words_in_question",
    "title_words_not_asked",
    "title_run_in_question",
    "note_in_question",
    "title_length",
)
_LOOSE = 0.7  # what words of a title count beside the title as it is


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
    query_terms = _query_terms(reading, asked)
    few = few_of(bags.frequency, n)
    cosine, cosines, words = likenesses(bags, rarity, asked.is_term, few)
    cosine /= max(float(np.sqrt((rarity[asked.is_term] ** 2).sum())), 1e-9)
    columns = likeness(reading, asked, bags, rarity, query_terms, cosine)
    worths = sentence_worths(query_terms)
    links = title_links(reading, asked, rarity, worths, 1.0 - columns["title_in_question"])
    links |= name_links(reading, asked, rarity, query_terms, worths, columns["best_sentence"])
    links |= term_links(query_terms, links)
    links |= {"alike": cosines, "shared_words": np.log1p(words)}
    columns["same_titles"] = links["same_title"].sum(axis=1)
    columns |= {BEST + kind: (table * columns["relative_bm25"]).max(axis=1) for kind, table in links.items()}
    table = np.stack(list(columns.values()), axis=1).astype(np.float32)
    return PassageFeatures(table, tuple(columns), links, query_terms, asked, reading, source, bags, rarity)


def rarity_of(frequency: Ints, n: int) -> Floats:
    """Return how rare a word is that `frequency` of n passages hold: 1 where one does or none, near 0 where all do."""
    # It is log((n + 1) / (df + 1/2)) as a share of its value for one passage, so that it does not grow with n.
    return np.clip(np.log((n + 1) / (frequency + 0.5)) / np.log((n + 1) / 1.5), _COMMON, 1.0)


def _query_terms(reading: Reading, asked: ParsedQuestion) -> QueryTerms:
    """Return the terms of the question, with bit masks of those that each passage and each sentence holds."""
    wholes, parts = masks_of(
        reading.stems, reading.flags, reading.sentences, reading.places, asked.term_of, len(reading.part_words)
    )
    return QueryTerms(asked.weights[None, :], wholes, parts, reading.part_starts)


def few_of(frequency: Ints, n: int) -> Bools:
    """Return whether a word is rare: at most a quarter of n passages hold it, or at most two do."""
    return frequency <= max(2, n // FEW)


def likeness(
    reading: Reading, asked: ParsedQuestion, bags: Bags, rarity: Floats, query_terms: QueryTerms, cosine: Floats
) -> Columns:
    """Compute the columns that do not depend on other passages, except for how rare words are."""
    n = len(reading.bodies)
    scores = bm25(bags, asked.is_term)
    columns = {
        "bm25": scores,
        "relative_bm25": relative(scores),
        "bm25_rank": ranks(scores),
        "cosine": cosine,
        "relative_cosine": relative(cosine),
    }
    columns |= zip(_WORDS, _words(reading, asked, bags, query_terms).T, strict=True)
    columns["rare_words"] = np.log1p(columns["rare_words"])
    columns |= _spans(reading, asked, rarity)
    runs = kernel.question_runs(reading.words, reading.stems, reading.flags, rarity, reading.n_question, reading.places)
    columns |= zip(("word_pairs", "longest_run", "longest_run_rarity"), runs.T, strict=True)
    titles = kernel.title_words(
        reading.words, reading.stems, reading.flags, rarity, reading.n_question, reading.titles, reading.notes
    )
    columns |= zip(_TITLE, titles.T, strict=True)
    columns |= _kinds(reading, asked, bags)
    constant = {
        "asks_comparison": asked.cues["comparison"],
        "asks_yes_no": asked.cues["yes_no"],
        "terms_asked": len(asked.terms) / 10.0,
        "spans_asked": float(len(asked.spans)),
    }
    return columns | {name: np.full(n, value) for name, value in constant.items()}


def relative(values: Floats) -> Floats:
    """Divide values by the highest of them; all zeros stay zeros."""
    return values / max(float(values.max(initial=0.0)), 1e-9)


def ranks(values: Floats) -> Floats:
    """Return the rank of each value, the highest 0; ties go to the lowest row."""
    places = np.empty(len(values))
    places[np.argsort(-values, kind="stable")] = np.arange(len(values))
    return places


def _words(reading: Reading, asked: ParsedQuestion, bags: Bags, terms: QueryTerms) -> Floats:
    """Return the columns of `_WORDS`: shares of the question's words that passage and sentences hold, weighed by
    rarity.
    """
    frequency = np.zeros(MOST_NEEDS, dtype=np.int64)
    frequency[: len(asked.terms)] = bags.frequency[asked.terms]
    few, once = bits(few_of(frequency, len(reading.bodies)) & (frequency > 0)), bits(frequency == 1)
    return kernel.question_words(terms.wholes, terms.parts, terms.starts, terms.weights[0], asked.named, few, once)


def _spans(reading: Reading, asked: ParsedQuestion, rarity: Floats) -> dict[str, Floats]:
    """Return how well the names and quotations of the question are matched in titles and in texts."""
    scores = kernel.span_scores(
        reading.words, reading.stems, reading.flags, rarity, asked.spans, reading.titles, reading.places
    )
    columns = {}
    for where, table in zip(("title", "text"), scores, strict=True):
        selective = table / np.maximum(table.sum(axis=0), 1e-9)
        columns[f"spans_in_{where}"] = table.sum(axis=1) / max(table.shape[1], 1)
        columns[f"best_span_in_{where}"] = table.max(axis=1, initial=0.0)
        columns[f"whole_spans_in_{where}"] = (table >= 1.0).sum(axis=1).astype(np.float64)
        columns[f"selective_span_in_{where}"] = selective.max(axis=1, initial=0.0)
    return columns


def _kinds(reading: Reading, asked: ParsedQuestion, bags: Bags) -> dict[str, Floats]:
    """Counts years, numbers and words about people and places, alone and where the question asks for that kind."""
    counts = kernel.kinds_of_words(reading.words, reading.flags, reading.n_question, reading.bodies)
    shared, years, numbers, people, places = counts.T
    words = bags.lengths + 1.0
    return {
        "numbers_shared": shared,
        "log_years": np.log1p(years),
        "log_numbers": np.log1p(numbers),
        "log_words": np.log1p(words),
        "log_sentences": np.log1p(np.diff(reading.part_starts)),
        "dates_asked": asked.cues["date"] * np.log1p(years),
        "people_asked": asked.cues["person"] * np.minimum(people / words * 20.0, 3.0),
        "places_asked": asked.cues["place"] * np.minimum(places / words * 20.0, 3.0),
        "amounts_asked": asked.cues["amount"] * np.log1p(years + numbers),
    }


def title_links(
    reading: Reading, asked: ParsedQuestion, rarity: Floats, worths: Floats, new: Floats
) -> dict[str, Floats]:
    """Compute links by titles: whether and how one passage mentions the title of another."""
    mentions = title_mentions(reading, worths)
    shares, unasked = title_shares(reading, rarity, asked.is_term)
    there, unasked = (mentions > 0).astype(np.float64), np.log1p(unasked)
    sentence = np.maximum(mentions - 1.0, 0.0)
    return {
        "mentioned_in": there,
        "mentions": there.T,
        "newly_mentioned_in": there * new[:, None],
        "newly_mentions": (there * new[:, None]).T,
        "title_words_in": shares,
        "title_words_of": shares.T,
        "new_title_words_in": unasked,
        "new_title_words_of": unasked.T,
        "mention_matches": sentence,
        "mention_matched": sentence.T,
        "same_title": same_titles(reading),
    }


def name_links(
    reading: Reading, asked: ParsedQuestion, rarity: Floats, query_terms: QueryTerms, worths: Floats, best: Floats
) -> dict[str, Floats]:
    """Compute links by names that two passages share and the question does not hold."""
    owners, stems, heights = kernel.name_words(reading, asked.is_term, worths, best)
    shared, bridge = kernel.bridges(owners, stems, heights, rarity, len(reading.bodies))
    terms = (query_terms.wholes, query_terms.parts, query_terms.weights[0])
    return {
        "shared_name_words": np.log1p(shared),
        "bridge": bridge,
        "bridged_addition": kernel.bridged_additions(reading, terms, owners, stems, rarity),
    }


def term_links(query_terms: QueryTerms, links: dict[str, Floats]) -> dict[str, Floats]:
    """Compute what two passages hold of the question together, alone and where titles or names link them."""
    # `links` must hold those of `title_links` and `name_links` already.
    added, together = additions(query_terms.wholes, query_terms.parts, query_terms.starts, query_terms.weights[0])
    titles = np.maximum(links["mentioned_in"], _LOOSE * links["title_words_in"])
    titles, names = np.maximum(titles, titles.T), np.minimum(links["shared_name_words"], kernel.MOST)
    return {
        "adds": added,
        "together": together,
        "adds_by_title": added * titles,
        "together_by_title": together * titles,
        "adds_by_name": added * names,
        "together_by_name": together * names,
    }


def sentence_worths(query_terms: QueryTerms) -> Floats:
    """Return the share of the question, weighed by rarity, that each sentence holds."""
    return part_worths(query_terms.parts, query_terms.weights[0])
