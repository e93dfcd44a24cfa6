"""What can be known of a question's paragraphs without labels: likeness to the question, and links among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, Floats32, Ints, starts_of
from listwright.lab.datasets._terms import Terms, best_link, count_terms, highest, off_diagonal, row_sums
from listwright.text.vectors import Rows
from listwright.text.words import FUNCTION_WORDS

_SHORTEST_TITLE = 3  # letters; shorter ones stand in any text


@dataclass(frozen=True, eq=False)
class Texts:
    """Tokens of the paragraphs and questions of a file."""

    titles: list[list[str]]
    bodies: list[list[str]]
    questions: list[list[str]]
    owners: Ints  # by paragraph: its question

    def named(self) -> Iterator[tuple[list[str], list[str]]]:
        """Title and body of each paragraph."""
        return zip(self.titles, self.bodies, strict=True)

    @cached_property
    def starts(self) -> Ints:
        """Where each question's paragraphs start, and the end of the last."""
        return starts_of(np.bincount(self.owners))

    @cached_property
    def title_strings(self) -> list[str]:
        """Titles between blanks; "" where a title says too little to be looked for."""
        return [_between_blanks(title) if _telling(title) else "" for title in self.titles]


def question_links(texts: Texts, terms: Terms) -> dict[str, Rows]:
    """Link tables between the paragraphs of each question."""
    mentioned, title_words = _mentions(texts), _title_words_in(texts)
    return {
        "mentioned_in": mentioned,
        "mentions": sparse.csr_array(mentioned.T),
        "title_words_in": title_words,
        "title_words_of": sparse.csr_array(title_words.T),
        "shared_words": terms.shared_rare_words(),
    }


def question_features(texts: Texts, terms: Terms, links: dict[str, Rows]) -> tuple[Floats32, tuple[str, ...]]:
    """One row a paragraph, and the name of each column.

    For each kind of link: its sum over the other paragraphs, the sum weighed by their BM25 (as a share of the best of
    the question), and the best one so weighed.
    """
    columns = _likeness(texts, terms)
    worth = columns["relative_bm25"]
    for name, table in links.items():
        columns[f"{name}_sum"] = row_sums(table)
        columns[f"{name}_relevant"] = table @ worth
        columns[f"{name}_best"] = best_link(table, worth)
    return np.stack(list(columns.values()), axis=1).astype(np.float32), tuple(columns)


def _likeness(texts: Texts, terms: Terms) -> dict[str, Floats]:
    owners, bm25 = terms.owners, terms.bm25
    wanted = row_sums(terms.queries.sign().multiply(terms.is_content * terms.idf))
    place = np.arange(len(owners)) - texts.starts[owners]
    counts = np.diff(texts.starts)[owners]
    return {
        "cosine": terms.query_cosine,
        "bm25": bm25,
        "relative_bm25": bm25 / np.maximum(highest(bm25, owners), 1e-9),
        "bm25_rank": _ranks(bm25, owners) / counts,
        "question_covered": terms.shared_with_query(terms.is_content * terms.idf) / np.maximum(wanted[owners], 1e-9),
        "rare_words": np.log1p(terms.shared_with_query(terms.rare)),
        "word_pairs": np.log1p(_shared_pairs(texts)),
        "title_in_question": _titles_in_question(texts).astype(np.float64),
        "title_words_in_question": _title_words(texts),
        "log_words": np.log1p(row_sums(terms.counts)),
        "position": place / counts,
    }


def _ranks(values: Floats, owners: Ints) -> Floats:
    """Place of each row by value within its problem, from 0; ties go to the lowest row."""
    order = np.lexsort((-values, owners))
    ranks = np.empty(len(values))
    ranks[order] = np.arange(len(values)) - np.searchsorted(owners, owners)
    return ranks


def _shared_pairs(texts: Texts) -> Floats:
    """How many pairs of neighbouring words a paragraph shares with its question."""
    wanted = [set(pairwise(words)) for words in texts.questions]
    paragraphs = [title + body for title, body in texts.named()]
    pairs = zip(paragraphs, texts.owners, strict=True)
    return np.array([len(wanted[owner].intersection(pairwise(words))) for words, owner in pairs])


def _titles_in_question(texts: Texts) -> Bools:
    questions = [_between_blanks(words) for words in texts.questions]
    titles = zip(texts.title_strings, texts.owners, strict=True)
    return np.array([title != "" and title in questions[owner] for title, owner in titles])


def _title_words(texts: Texts) -> Floats:
    """Share of the title's content words that the question holds."""
    held = [set(words) for words in texts.questions]
    titles = [set(title) - FUNCTION_WORDS for title in texts.titles]
    return np.array([len(words & held[o]) / max(len(words), 1) for words, o in zip(titles, texts.owners, strict=True)])


def _mentions(texts: Texts) -> Rows:
    """Link table: 1 where the row's title stands in the column's text."""
    bodies = [_between_blanks(body) for body in texts.bodies]
    where: list[tuple[int, int]] = []
    for start, end in pairwise(texts.starts.tolist()):
        for row in range(start, end):
            title = texts.title_strings[row]
            if title:
                where += [(row, other) for other in range(start, end) if other != row and title in bodies[other]]
    rows, columns = np.array(where, dtype=np.int64).reshape(-1, 2).T
    return sparse.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(len(bodies), len(bodies)))


def _title_words_in(texts: Texts) -> Rows:
    """Link table: share of the content words of the row's title, by rarity, that stand in the column's text."""
    n, titles = len(texts.bodies), [[word for word in title if word not in FUNCTION_WORDS] for title in texts.titles]
    held = count_terms([*titles, *texts.bodies], np.tile(texts.owners, 2), [[] for _ in texts.questions]).counts.sign()
    bodies = held[n:]
    named = held[:n]
    n_texts = np.repeat(np.bincount(texts.owners)[texts.owners], np.diff(named.indptr))
    in_texts = np.bincount(bodies.indices, minlength=held.shape[1])[named.indices]
    rarity = np.log((n_texts + 1) / (in_texts + 0.5))
    total = np.bincount(np.repeat(np.arange(n), np.diff(named.indptr)), rarity, minlength=n)
    shares = sparse.csr_array((rarity, named.indices, named.indptr), shape=named.shape) @ bodies.T
    return off_diagonal(sparse.diags_array(1.0 / np.where(total > 0, total, 1.0)) @ shares)


def _between_blanks(words: list[str]) -> str:
    return f" {' '.join(words)} "


def _telling(title: list[str]) -> bool:
    return sum(map(len, title)) >= _SHORTEST_TITLE and any(word not in FUNCTION_WORDS for word in title)
