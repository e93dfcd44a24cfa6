"""Passages as bags of word stems, and what their words are worth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Bools, Floats, Hashes, Ints
from listwright._kernels.words import count_stems, pair_entries
from listwright.text.passages.reading import Reading

_COMMON = 0.02  # the least rarity
FEW = 4  # a word is rare where at most one passage in so many holds it, or two passages do


class Bags(NamedTuple):
    """Which stems each passage contains, and how often. Function words are left out."""

    starts: Ints  # where the entries of each passage start
    stems: NDArray[np.int32]  # the stem of each entry
    counts: Floats  # how often the passage contains it
    lengths: Floats  # words counted
    frequency: Ints  # number of passages that contain the stem
    owners: Ints  # the passage of each entry
    latest: Ints  # the last entry of each stem, -1 for none
    previous: Ints  # the entry of the same stem before each entry, -1 for none


def bags_of(reading: Reading) -> Bags:
    n, n_words = len(reading.places), len(reading.stems)
    starts, latest = np.zeros(n + 1, dtype=np.int64), np.full(reading.n_stems, -1)
    stems, counts, previous = np.empty(n_words, np.int32), np.zeros(n_words), np.empty(n_words, np.int64)
    count_stems(reading.stems, reading.flags, reading.places, latest, starts, stems, counts, previous)
    stems, counts, previous = stems[: starts[-1]], counts[: starts[-1]], previous[: starts[-1]]
    owners = np.repeat(np.arange(n), np.diff(starts))
    frequency = np.bincount(stems, minlength=reading.n_stems)
    return Bags(starts, stems, counts, sum_by(owners, counts, n), frequency, owners, latest, previous)


def rarity_of(frequency: Ints, n: int) -> Floats:
    """Return how rare a word is that `frequency` of n passages hold: 1 where one does or none, near 0 where all do."""
    # It is log((n + 1) / (df + 1/2)) as a share of its value for one passage, so that it does not grow with n.
    return np.clip(np.log((n + 1) / (frequency + 0.5)) / np.log((n + 1) / 1.5), _COMMON, 1.0)


def few_of(frequency: Ints, n: int) -> Bools:
    return frequency <= max(2, n // FEW)


def bm25(bags: Bags, is_term: Bools) -> Floats:
    """Return the Okapi BM25 score of each passage for the stems that are terms of the question (k1 = 1.2, b = 0.75)."""
    n, entries = len(bags.lengths), np.flatnonzero(is_term[bags.stems])
    owners, counts, held = bags.owners[entries], bags.counts[entries], bags.frequency[bags.stems[entries]]
    saturation = 1.2 * (0.25 + 0.75 * bags.lengths / max(bags.lengths.mean(), 1.0))
    rarity = np.log1p((n - held + 0.5) / (held + 0.5))
    return sum_by(owners, rarity * 2.2 * counts / (counts + saturation[owners]), n)


def likenesses(bags: Bags, rarity: Floats, is_term: Bools, rare: Bools) -> tuple[Floats, Floats, Floats]:
    """Return tf-idf cosines with the terms, times the question's length; those of passages; and shared rare words."""
    n, owners, of_stem = len(bags.lengths), bags.owners, rarity[bags.stems]
    weights = bags.counts * of_stem
    lengths = np.maximum(np.sqrt(sum_by(owners, weights * weights, n)), 1e-9)
    asked = sum_by(owners, weights * of_stem * is_term[bags.stems], n) / lengths
    products, shared = np.zeros((n, n)), np.zeros((n, n))
    telling = np.where(rare & ~is_term, rarity, 0.0)
    pair_entries(bags.latest, bags.previous, owners, weights, telling, products, shared)
    return asked, products / lengths / lengths[:, None], shared


def sum_by(keys: Ints, values: Floats, n: int) -> Floats:
    """Return the sum of the values of each key from 0 to n - 1, added up in their order."""
    return np.bincount(keys, weights=values, minlength=n).astype(np.float64, copy=False)


def worths(masks: Hashes, weights: Floats) -> Floats:
    """Return the summed weights of the terms in each mask, from the first term to the last."""
    terms = np.flatnonzero(weights).tolist()
    width = terms[-1] + 1 if terms else 0
    if masks.size > 1 << width:  # fewer sums are possible than asked for
        all_sums = worths(np.arange(1 << width, dtype=np.uint64), weights)
        return all_sums[(masks & np.uint64((1 << width) - 1)).astype(np.intp)]
    total = np.zeros(masks.shape)
    for term in terms:
        total += np.where(masks & np.uint64(1 << term), weights[term], 0.0)
    return total


def total_of(weights: Floats) -> float:
    return max(float(np.cumsum(weights)[-1]), 1e-9)
