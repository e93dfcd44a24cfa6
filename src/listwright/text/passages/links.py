"""Links between passages: by titles, by names that the question does not hold, and by what they hold of it together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Ints
from listwright._kernels.words import FUNCTION, NUMBER, add_bridged, pair_names, pair_titles
from listwright.query_terms import QueryTerms
from listwright.text.passages.bags import sum_by, total_of, worths
from listwright.text.passages.columns import highest, telling_words
from listwright.text.passages.question import ParsedQuestion
from listwright.text.passages.reading import Reading, name_words

_LOOSE = 0.7  # what words of a title count beside the title as it is
_SHORTEST = 3  # letters of a name
_MOST = 2.0  # what shared names may count
Links = dict[str, Floats]


def title_links(reading: Reading, asked: ParsedQuestion, rarity: Floats, shares: Floats, new: Floats) -> Links:
    mentions, held, unasked = _pair_titles(reading, asked, rarity, shares)
    there, unasked = (mentions > 0).astype(np.float64), np.log1p(unasked)
    sentence = np.maximum(mentions - 1.0, 0.0)
    return {
        "mentioned_in": there,
        "mentions": there.T,
        "newly_mentioned_in": there * new[:, None],
        "newly_mentions": (there * new[:, None]).T,
        "title_words_in": held,
        "title_words_of": held.T,
        "new_title_words_in": unasked,
        "new_title_words_of": unasked.T,
        "mention_matches": sentence,
        "mention_matched": sentence.T,
        "same_title": _same_titles(reading),
    }


def _pair_titles(
    reading: Reading, asked: ParsedQuestion, rarity: Floats, shares: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return for two passages where the title of the first occurs in the body of the second, and how much of it."""
    n, n_words = len(reading.titles), len(reading.words)
    owners, words = telling_words(reading, reading.titles)
    telling, counts, parts, new = np.zeros(n, bool), np.zeros(n_words, bool), np.zeros(n_words), np.zeros(n_words)
    of_word = rarity[reading.stems[words]]
    telling[owners[reading.content[words]]], counts[words] = True, True
    parts[words] = of_word / np.maximum(sum_by(owners, of_word, n), 1e-9)[owners]
    new[words] = np.where(asked.is_term[reading.stems[words]], 0.0, of_word)
    space = np.full(int(reading.words.max(initial=0)) + 1, -1), np.empty(n_words, np.int64), reading.owners
    held, links = np.full(len(rarity), -1), np.zeros((3, n, n))
    texts = reading.words, reading.stems, reading.sentences, reading.titles, reading.bodies
    pair_titles(*texts, telling, counts, shares, parts, new, *space, held, *links)
    return links[0], links[1], links[2]


def _same_titles(reading: Reading) -> Floats:
    known: dict[tuple[int, ...], int] = {}
    titles = [tuple(reading.words[slice(*title)].tolist()) for title in reading.titles.tolist()]
    numbers = np.array([known.setdefault(title, len(known)) if title else -1 - i for i, title in enumerate(titles)])
    table = (numbers[:, None] == numbers).astype(np.float64)
    np.fill_diagonal(table, 0.0)
    return table


def name_links(
    reading: Reading, asked: ParsedQuestion, rarity: Floats, added: Floats, shares: Floats, best: Floats
) -> Links:
    n, owners, stems = len(reading.bodies), *_name_words(reading, asked)
    entry = np.full((n, len(rarity)), -1, dtype=np.int32)  # of each passage and stem
    entry[owners, stems] = np.arange(len(owners))
    heights = _heights(reading, entry, shares, best, len(owners))
    latest, previous = _chains(stems, len(rarity))
    shared, bridge, bridged, seen = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.full(len(rarity), -1)
    pair_names(latest, previous, owners, heights, rarity, shared, bridge)
    of_sentence = np.repeat(np.arange(n), np.diff(reading.part_starts))
    ranges, chains = np.hstack([reading.part_words, reading.titles[of_sentence]]), (latest, previous, owners)
    add_bridged(ranges, of_sentence, reading.stems, entry, *chains, rarity, _MOST, seen, np.zeros(n), added, bridged)
    return {"shared_name_words": np.log1p(shared), "bridge": bridge, "bridged_addition": bridged}


def _chains(stems: Ints, n_stems: int) -> tuple[Ints, Ints]:
    """Return the last entry of each stem and the entry of the same stem before each entry; -1 for none."""
    latest, previous = np.full(n_stems, -1), np.full(len(stems), -1)
    order = np.argsort(stems, kind="stable")
    latest[stems] = np.arange(len(stems))
    same = np.flatnonzero(np.diff(stems[order]) == 0)
    previous[order[same + 1]] = order[same]
    return latest, previous


def _name_words(reading: Reading, asked: ParsedQuestion) -> tuple[Ints, Ints]:
    """Return the words of titles and names that are not in the question: passage and stem, each pair once."""
    flags, owners = reading.flags, reading.owners
    behind_title = np.arange(len(flags)) >= reading.titles[owners, 1]
    named = reading.in_title | ((reading.sentences >= 0) & behind_title & name_words(reading))
    named &= (reading.lengths >= _SHORTEST) & (flags & (FUNCTION | NUMBER) == 0) & ~asked.is_term[reading.stems]
    places = np.flatnonzero(named)
    owners, stems = owners[places], reading.stems[places].astype(np.int64)
    kept = np.sort(np.unique(owners * reading.n_stems + stems, return_index=True)[1])
    return owners[kept], stems[kept]


def _heights(reading: Reading, entry: NDArray[np.int32], shares: Floats, best: Floats, count: int) -> Floats:
    """Return by name word the highest share of a sentence of its passage with it; in a title, that of the best one."""
    words = np.flatnonzero((reading.owners >= 0) & reading.content)
    owners = reading.owners[words]
    entries, sentences = entry[owners, reading.stems[words]], reading.sentences[words]
    outside = (sentences < 0) | reading.in_title[words]
    heights, named = np.zeros(count), entries >= 0
    values = np.where(outside, best[owners], shares[sentences] if len(shares) else 0.0)
    np.maximum.at(heights, entries[named], values[named])
    return heights


def term_links(query_terms: QueryTerms, added: Floats, links: Links) -> Links:
    """Compute what two passages hold of the question together, alone and where titles or names link them."""
    # `links` must hold those of `title_links` and `name_links` already.
    wholes, weights = query_terms.wholes, query_terms.weights[0]
    adds, together = highest(added, query_terms.starts), worths(wholes[:, None] | wholes, weights) / total_of(weights)
    np.fill_diagonal(adds, 0.0)
    np.fill_diagonal(together, 0.0)
    titles = np.maximum(links["mentioned_in"], _LOOSE * links["title_words_in"])
    titles, names = np.maximum(titles, titles.T), np.minimum(links["shared_name_words"], _MOST)
    return {
        "adds": adds,
        "together": together,
        "adds_by_title": adds * titles,
        "together_by_title": together * titles,
        "adds_by_name": adds * names,
        "together_by_name": together * names,
    }


def additions(query_terms: QueryTerms) -> Floats:
    """Return a table (sentence, passage): what the sentence holds of the question and the passage does not."""
    parts, part = np.unique(query_terms.parts, return_inverse=True)
    wholes, whole = np.unique(query_terms.wholes, return_inverse=True)
    weights = query_terms.weights[0]
    return (worths(parts[:, None] & ~wholes, weights) / total_of(weights))[part[:, None], whole]
