"""Columns of passages that do not depend on other passages, except for how rare words are."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels.words import NUMBER, PERSON, PLACE, YEAR, match_runs
from listwright.query_terms import MOST, QueryTerms
from listwright.text.passages.bags import Bags, bm25, few_of, sum_by, total_of, worths
from listwright.text.passages.question import ParsedQuestion, bits
from listwright.text.passages.reading import Reading, words_in

Columns = dict[str, Floats]


def passage_columns(
    reading: Reading, asked: ParsedQuestion, bags: Bags, rarity: Floats, query_terms: QueryTerms, cosine: Floats
) -> Columns:
    n = len(reading.bodies)
    scores = bm25(bags, asked.is_term)
    columns = {
        "bm25": scores,
        "relative_bm25": relative(scores),
        "bm25_rank": ranks(scores),
        "cosine": cosine,
        "relative_cosine": relative(cosine),
    }
    columns |= _shares(asked, bags, query_terms)
    columns |= _spans(reading, asked, rarity)
    runs = _match_runs(reading, rarity, reading.places)
    columns |= dict(zip(("word_pairs", "longest_run", "longest_run_rarity"), runs.T, strict=True))
    columns |= _titles(reading, rarity)
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


def _shares(asked: ParsedQuestion, bags: Bags, terms: QueryTerms) -> Columns:
    """Return shares of the question's words that passages and sentences hold, weighted by rarity."""
    weights, wholes, named = asked.weights, terms.wholes, asked.named
    total, starts = total_of(weights), terms.starts
    in_names, in_others = np.maximum(worths(np.array([named, ~named]), weights), 1e-9)
    frequency = np.zeros(MOST, dtype=np.int64)
    frequency[: len(asked.terms)] = bags.frequency[asked.terms]
    few, once = bits(few_of(frequency, len(wholes)) & (frequency > 0)), bits(frequency == 1)
    by_sentence = worths(terms.parts, weights)
    first, filled = np.zeros(len(wholes)), np.flatnonzero(np.diff(starts))
    first[filled] = by_sentence[starts[filled]]
    return {
        "question_words": worths(wholes, weights) / total,
        "other_words": worths(wholes & ~named, weights) / in_others,
        "name_words": worths(wholes & named, weights) / in_names,
        "best_sentence": highest(by_sentence, starts) / total,
        "first_sentence": first / total,
        "rare_words": np.log1p(np.bitwise_count(wholes & few).astype(np.float64)),
        "words_only_here": worths(wholes & once, weights) / total,
    }


def highest(values: Floats, starts: Ints) -> Floats:
    """Return the highest value, or row of values, of each piece; 0 for empty ones."""
    best, filled = np.zeros((len(starts) - 1, *values.shape[1:])), np.flatnonzero(np.diff(starts))
    if len(filled):
        best[filled] = np.maximum.reduceat(values, starts[filled], axis=0)
    return best


def _spans(reading: Reading, asked: ParsedQuestion, rarity: Floats) -> Columns:
    scores = np.zeros((2, len(reading.bodies), len(asked.spans)))
    for number, (first, end) in enumerate(asked.spans.tolist()):
        (titles, texts), (titled, held) = _span_shares(reading, rarity, first, end)
        scores[0, :, number] = np.where(titled & (titles > 0.0), 1.0, 0.9 * titles)
        exact = (titled & (titles > 0.0)) | (held & (texts > 0.0))
        scores[1, :, number] = np.where(exact, 1.0, 0.7 * texts)
    columns = {}
    for where, table in zip(("title", "text"), scores, strict=True):
        selective = table / np.maximum(table.sum(axis=0), 1e-9)
        columns[f"spans_in_{where}"] = table.sum(axis=1) / max(table.shape[1], 1)
        columns[f"best_span_in_{where}"] = table.max(axis=1, initial=0.0)
        columns[f"whole_spans_in_{where}"] = (table >= 1.0).sum(axis=1).astype(np.float64)
        columns[f"selective_span_in_{where}"] = selective.max(axis=1, initial=0.0)
    return columns


def _span_shares(
    reading: Reading, rarity: Floats, first: int, end: int
) -> tuple[tuple[Floats, Floats], tuple[Bools, Bools]]:
    """Return what share of a span's words, by rarity, each title and passage holds, and whether it holds all."""
    n, behind, owners, in_title = len(reading.bodies), reading.n_question, reading.owners, reading.in_title
    total, shares, exact = 0.0, (np.zeros(n), np.zeros(n)), (np.zeros(n, bool), np.zeros(n, bool))
    firsts = np.flatnonzero(reading.words[behind:] == reading.words[first]) + behind
    for ahead in range(1, end - first):
        firsts = firsts[firsts + ahead < len(owners)]
        firsts = firsts[reading.words[firsts + ahead] == reading.words[first + ahead]]
    lasts = firsts + (end - first - 1)
    inside = owners[firsts] == owners[lasts]
    exact[0][owners[firsts[inside & in_title[firsts] & in_title[lasts]]]] = True
    exact[1][owners[firsts[inside]]] = True
    for stem in reading.stems[telling_words(reading, np.array([[first, end]]))[1]]:
        total += float(rarity[stem])
        places = np.flatnonzero(reading.stems[behind:] == stem) + behind
        for share, where in zip(shares, (places[in_title[places]], places), strict=True):
            held = np.zeros(n)
            held[owners[where]] = rarity[stem]
            share += held
    return (shares[0] / max(total, 1e-9), shares[1] / max(total, 1e-9)), exact


def telling_words(reading: Reading, ranges: Ints) -> tuple[Ints, Ints]:
    """Return the content words of ranges, or all words of a range without any: the range of each, and the word."""
    owners, words = words_in(ranges)
    content = reading.content[words]
    telling = np.zeros(len(ranges), dtype=bool)
    telling[owners[content]] = True
    kept = content | ~telling[owners]
    return owners[kept], words[kept]


def _match_runs(reading: Reading, rarity: Floats, ranges: Ints) -> Floats:
    """Return by range what `match_runs` fills in: runs of the question's words, the longest one, and its worth."""
    question, table = slice(0, reading.n_question), np.zeros((len(ranges), 3))
    held = np.zeros(int(reading.words.max(initial=0)) + 1, dtype=bool)
    held[reading.words[question]] = True
    worth = np.where(reading.content[question], rarity[reading.stems[question]], 0.0)
    seen = np.full(reading.n_question, -1)
    match_runs(reading.words, reading.n_question, ranges, held, worth, seen, table)
    return table


def _titles(reading: Reading, rarity: Floats) -> Columns:
    lengths = reading.titles[:, 1] - reading.titles[:, 0]
    share, total = _share_asked(reading, rarity, reading.titles)
    noted, _ = _share_asked(reading, rarity, reading.notes)
    owners, words = words_in(reading.titles)
    run, telling = _match_runs(reading, rarity, reading.titles)[:, 1], np.zeros(len(lengths), bool)
    telling[owners[reading.content[words]]] = True
    return {
        "title_in_question": np.where(telling & (run == lengths), 1.0, 0.0),
        "title_words_in_question": share,
        "title_words_not_asked": (1.0 - share) * total,
        "title_run_in_question": run / np.maximum(lengths, 1),
        "note_in_question": np.where(lengths > 0, noted, 0.0),
        "title_length": lengths.astype(np.float64),
    }


def _share_asked(reading: Reading, rarity: Floats, ranges: Ints) -> tuple[Floats, Floats]:
    asked = np.zeros(len(rarity), dtype=bool)
    asked[reading.stems[: reading.n_question]] = True
    owners, words = telling_words(reading, ranges)
    stems = reading.stems[words]
    total = sum_by(owners, rarity[stems], len(ranges))
    return sum_by(owners, np.where(asked[stems], rarity[stems], 0.0), len(ranges)) / np.maximum(total, 1e-9), total


def _kinds(reading: Reading, asked: ParsedQuestion, bags: Bags) -> Columns:
    n, inside = len(reading.bodies), np.flatnonzero(reading.sentences >= 0)
    owners, flags, words = reading.owners[inside], reading.flags[inside], reading.words[inside]
    kinds = (flags & YEAR > 0, flags & (NUMBER | YEAR) == NUMBER, flags & PERSON > 0, flags & PLACE > 0)
    years, numbers, people, places = (np.bincount(owners[kind], minlength=n).astype(np.float64) for kind in kinds)
    shared = np.zeros(n)
    for word in np.flatnonzero(reading.flags[: reading.n_question] & NUMBER).tolist():
        held = np.zeros(n)
        held[owners[words == reading.words[word]]] = 1.0
        shared += held
    length = bags.lengths + 1.0
    return {
        "numbers_shared": shared,
        "log_years": np.log1p(years),
        "log_numbers": np.log1p(numbers),
        "log_words": np.log1p(length),
        "log_sentences": np.log1p(np.diff(reading.part_starts)),
        "dates_asked": asked.cues["date"] * np.log1p(years),
        "people_asked": asked.cues["person"] * np.minimum(people / length * 20.0, 3.0),
        "places_asked": asked.cues["place"] * np.minimum(places / length * 20.0, 3.0),
        "amounts_asked": asked.cues["amount"] * np.log1p(years + numbers),
    }
