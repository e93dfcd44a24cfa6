"""The coverage of reference words that a candidate is expected to add, where references are known in training only."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from listwright._internal.arrays import FOLDS, Floats, Floats32, Ints, folds_of, solve, starts_of
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features.base import CrossFitted
from listwright.features.scale import Scale, dense
from listwright.problems import Problems
from listwright.rewards import Rouge

TIMES = 3  # a word is worth something the first, second and third time that it comes
PSEUDO = 2.0  # in so many problems a word is taken to have been worth what the mean word is
PENALTY = 30.0  # of the ridge regression


class TermCounts(NamedTuple):
    columns: Ints  # by slot: the column of the vectors
    starts: Ints  # where the slots of each problem start, and the end of the last
    holds: Any  # CSR (rows, slots): 1 where the row holds the word

    @property
    def owners(self) -> Ints:
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


@saved_as("features.Known")
class Known(NamedTuple):
    columns: Ints  # in order
    counts: Floats  # by word: problems that hold it
    sums: Floats  # (words, TIMES)
    mean: Floats  # (TIMES,): of all words of all problems


class CoverageSeen(NamedTuple):
    problems: Problems
    words: TermCounts  # the words of the problems
    worth: Floats  # (slots, TIMES + 1): what a word adds when it comes again; nothing past TIMES
    levels: Ints  # by slot


@saved_as("features.ExpectedCoverage")
class ExpectedCoverage(CrossFitted):
    """How much of the references' words a candidate is expected to add to those of the list: in all, and per unit of
    size.

    Use it for extractive summaries learned with the reward `Rouge` (n=1). For other coverage rewards use
    `ExpectedGain`. Vectors must be sparse, with the same word in the same column everywhere
    (`listwright.text.hashed_tf_idf`).
    """

    group = "expected coverage"
    predicted_: dict[Any, Floats]  # of a twin for training: by problem, the worth of its words

    def fit(self, problems: Problems) -> Self:
        if not sparse.issparse(problems.vectors):
            raise InputError("ExpectedCoverage needs sparse vectors with one column per word. See text.hashed_tf_idf.")
        words, worth = words_of(problems), word_worth(problems)
        self.known_ = _frequent_words(words, worth)
        table = _seen_in(problems, words, _rates(self.known_, words, without=worth))
        self.scale_ = Scale.of(table)
        scaled = self.scale_.apply(table).astype(np.float64)
        self.weights_ = _ridge(scaled, worth)
        self.fold_weights_ = np.repeat(self.weights_[None], FOLDS, axis=0)
        for fold in self.folds(problems):
            rest = fold.rest[words.owners]
            self.fold_weights_[fold.number] = _ridge(scaled[rest], worth[rest])
        self.size_ = None if problems.sizes is None else float(problems.sizes.mean())
        self.spread_ = np.ones(1 if self.size_ is None else 2, np.float32)
        twin = self.for_training(problems)
        self.spread_ = np.maximum(twin.columns(twin.start(problems)).std(axis=0), 1e-12)
        return self

    def for_training(self, problems: Problems) -> Self:
        words, worth = words_of(problems), word_worth(problems)
        rates = _rates(self.known_, words, without=worth)
        table = self.scale_.apply(_seen_in(problems, words, rates))
        predicted, folds = np.zeros_like(worth), folds_of(problems.problem_ids)[words.owners]
        for fold in np.unique(folds):
            predicted[folds == fold] = _predict(table[folds == fold], self.fold_weights_[fold])
        twin = super().for_training(problems)
        twin.predicted_ = {
            problem: predicted[start:end]
            for problem, start, end in zip(problems.problem_ids.tolist(), words.starts, words.starts[1:], strict=False)
        }
        return twin

    def start(self, problems: Problems) -> CoverageSeen:
        words = words_of(problems)
        if self.out_of_fold:
            worth = np.concatenate([self.predicted_[problem] for problem in problems.problem_ids.tolist()])
        else:
            table = self.scale_.apply(_seen_in(problems, words, _rates(self.known_, words)))
            worth = _predict(table, self.weights_)
        total = np.bincount(words.owners, worth.sum(axis=1), minlength=len(problems))
        worth = worth / np.maximum(total, 1e-12)[words.owners][:, None]
        worth = np.concatenate([worth, np.zeros((len(worth), 1))], axis=1)
        return CoverageSeen(problems, words, worth, np.zeros(len(worth), dtype=np.int64))

    def columns(self, seen: CoverageSeen) -> Floats32:
        left = np.take_along_axis(seen.worth, np.minimum(seen.levels, TIMES)[:, None], axis=1).ravel()
        gain = seen.words.holds @ left
        sizes = self.size_ if seen.problems.sizes is None else seen.problems.sizes
        parts = [gain] if self.size_ is None else [gain, gain / sizes]
        return (np.stack(parts, axis=1) / self.spread_).astype(np.float32)

    def add(self, seen: CoverageSeen, picks: Ints) -> CoverageSeen:
        levels = seen.levels.copy()
        levels[seen.words.holds[picks[picks >= 0]].indices] += 1
        return seen._replace(levels=levels)

    def names(self) -> list[str]:
        return ["expected new words", "expected new words by size"][: len(self.spread_)]


def words_of(problems: Problems) -> TermCounts:
    if problems.vectors is None:
        raise InputError("ExpectedCoverage needs vectors with one column per word. See text.hashed_tf_idf.")
    vectors = sparse.csr_array(problems.vectors)
    owners = np.repeat(problems.owners, np.diff(vectors.indptr))
    keys, slots = np.unique(owners * vectors.shape[1] + vectors.indices, return_inverse=True)
    shape = (problems.n_rows, len(keys))
    holds = sparse.csr_array((np.ones(len(slots)), slots, vectors.indptr), shape=shape)
    counts = np.bincount(keys // vectors.shape[1], minlength=len(problems))
    return TermCounts(keys % vectors.shape[1], starts_of(counts), holds)


def word_worth(problems: Problems) -> Floats:
    """(slots, TIMES): how much a word adds to the reward at its first, second and third occurrence."""
    reward = problems.reward
    if not isinstance(reward, Rouge) or reward.n != 1:
        raise InputError(f"ExpectedCoverage learns from the reward Rouge with n=1. Got {reward!r}.")
    words, tables, width = words_of(problems), reward.bind(problems.offsets).tables, problems.vectors.shape[1]
    owners = np.repeat(np.arange(len(problems)), np.diff(tables["weights"].offsets))
    slots_of = words.owners * width + words.columns
    wanted = owners * width + tables["words"].values % width
    place = np.minimum(np.searchsorted(slots_of, wanted), len(slots_of) - 1)
    match = slots_of[place] == wanted
    worth = np.zeros((len(slots_of), TIMES))
    for time in range(TIMES):
        again = match & (tables["caps"].values > time)
        worth[:, time] = np.bincount(place[again], tables["weights"].values[again], minlength=len(slots_of))
    return worth


def _frequent_words(words: TermCounts, worth: Floats) -> Known:
    """Worth of the words that at least two problems hold; a single problem says little of a word."""
    columns, place, counts = np.unique(words.columns, return_inverse=True, return_counts=True)
    sums = np.zeros((len(columns), TIMES))
    np.add.at(sums, place, worth)
    several = counts >= min(2, counts.max())
    return Known(columns[several], counts[several].astype(np.float64), sums[several], worth.mean(axis=0))


def _rates(known: Known, words: TermCounts, *, without: Floats | None = None) -> Floats:
    """Smoothed mean worth of each slot's word in training problems, and the log of their number: (slots, TIMES + 1)."""
    place = np.minimum(np.searchsorted(known.columns, words.columns), len(known.columns) - 1)
    met = (known.columns[place] == words.columns).astype(np.float64)
    counts, sums = known.counts[place] * met, known.sums[place] * met[:, None]
    if without is not None:
        counts, sums = counts - met, sums - without * met[:, None]
    rates = (sums + PSEUDO * known.mean) / (counts + PSEUDO)[:, None]
    return np.concatenate([rates, np.log1p(counts)[:, None]], axis=1)


def _seen_in(problems: Problems, words: TermCounts, rates: Floats) -> Floats:
    """(slots, d): number and share of rows that hold a word, first place, their features, and rates."""
    by_word = sparse.csc_array(words.holds)
    counts, first = np.diff(by_word.indptr), by_word.indptr[:-1]
    rows = by_word.indices
    features = dense(problems.features).astype(np.float64)
    place = (np.arange(problems.n_rows) - problems.offsets[problems.owners]) / problems.counts[problems.owners]
    parts = [
        np.log(counts)[:, None],
        np.log(counts / problems.counts[words.owners])[:, None],
        np.minimum.reduceat(place[rows], first)[:, None],
        (by_word.T @ features) / counts[:, None],
        np.maximum.reduceat(features[rows], first),
        rates,
    ]
    return np.concatenate(parts, axis=1)


def _ridge(table: Floats, worth: Floats) -> Floats:
    """(TIMES, d + 1): weights of the scaled columns and, last, the constant."""
    square = table.T @ table + PENALTY * np.eye(table.shape[1])
    mean = worth.mean(axis=0)
    weights = solve(square, table.T @ (worth - mean))
    return np.concatenate([weights, mean[None]]).T


def _predict(table: Floats32, weights: Floats) -> Floats:
    """(slots, TIMES): predicted worth, at least 0 and never above that of the occurrence before."""
    return np.minimum.accumulate(np.maximum(table @ weights[:, :-1].T + weights[:, -1], 0.0), axis=1)
