"""Columns that say what each passage holds of the question: word overlap, names, runs of words, titles, kinds of
answers.
"""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels import likeness as kernel
from listwright._kernels.bags import Bags, bm25
from listwright._kernels.needs import MOST_NEEDS
from listwright.needs import QueryTerms
from listwright.text.passages.question import Question, bits
from listwright.text.passages.reading import Reading

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


def few_of(frequency: Ints, n: int) -> Bools:
    """Return whether a word is rare: at most a quarter of n passages hold it, or at most two do."""
    return frequency <= max(2, n // FEW)


def likeness(
    reading: Reading, asked: Question, bags: Bags, rarity: Floats, needs: QueryTerms, cosine: Floats
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
    columns |= zip(_WORDS, _words(reading, asked, bags, needs).T, strict=True)
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


def _words(reading: Reading, asked: Question, bags: Bags, needs: QueryTerms) -> Floats:
    """Return the columns of `_WORDS`: shares of the question's words that passage and sentences hold, weighed by
    rarity.
    """
    frequency = np.zeros(MOST_NEEDS, dtype=np.int64)
    frequency[: len(asked.terms)] = bags.frequency[asked.terms]
    few, once = bits(few_of(frequency, len(reading.bodies)) & (frequency > 0)), bits(frequency == 1)
    return kernel.question_words(needs.wholes, needs.parts, needs.starts, needs.weights[0], asked.named, few, once)


def _spans(reading: Reading, asked: Question, rarity: Floats) -> dict[str, Floats]:
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


def _kinds(reading: Reading, asked: Question, bags: Bags) -> dict[str, Floats]:
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
